//! `ingest --sink otlp=http://..`: the collector gets everything that is added, once.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Output,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    collector::{Collector, Request, signals, status, taken, without_usage},
    example, foldline, stderr,
};

/// A log that grows, and its database.
struct Growing {
    folder: TempDir,
    log: String,
}

impl Growing {
    fn new() -> Self {
        let log = fs::read_to_string(example()).unwrap();
        Self { folder: tempfile::tempdir().unwrap(), log }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The log has this many of its lines.
    fn grow(&self, lines: usize) {
        let end = self.log.match_indices('\n').nth(lines - 1).unwrap().0 + 1;
        fs::write(self.path("log.jsonl"), &self.log[..end]).unwrap();
    }

    fn lines(&self) -> usize {
        self.log.lines().count()
    }

    fn arguments(&self, db: &str, more: &[&str]) -> Vec<String> {
        let (log, db) = (self.path("log.jsonl"), self.path(db));
        let mut arguments = ["ingest", log.to_str().unwrap(), "--db", db.to_str().unwrap()]
            .map(str::to_owned)
            .to_vec();
        arguments.extend(more.iter().map(|&more| more.to_owned()));
        arguments
    }

    fn ingest(&self, db: &str, more: &[&str]) -> Output {
        let arguments = self.arguments(db, more);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let output = foldline(&arguments).output().unwrap();
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
        output
    }

    /// The signals of the whole log, as the file of an ingest has them.
    fn expected(&self) -> [Vec<String>; 3] {
        self.grow(self.lines());
        let file = self.path("expected");
        self.ingest("expected.db", &["--final", "--sink", &format!("otlp={}", file.display())]);
        without_usage(signals(super::lines(&file).iter()))
    }
}

fn received(requests: &[Request]) -> [Vec<String>; 3] {
    without_usage(signals(requests.iter().map(|request| &request.body)))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).replace('\n', " ")
}

#[test]
fn everything_is_sent_once() {
    let log = Growing::new();
    let expected = log.expected();
    let collector = Collector::start(|_, _| taken());
    let sink = format!("otlp={}", collector.address);
    log.grow(12);
    log.ingest("db", &["--sink", &sink]);
    let first = received(&collector.requests());
    assert!(!first[0].is_empty() && first[0].len() < expected[0].len());
    // Nothing is new.
    log.ingest("db", &["--sink", &sink]);
    assert!(received(&collector.requests()) == first);
    log.grow(log.lines());
    log.ingest("db", &["--final", "--sink", &sink]);
    assert!(received(&collector.requests()) == expected);
    log.ingest("db", &["--final", "--sink", &sink]);
    assert!(received(&collector.requests()) == expected);
    // What was sent is not forgotten.
    let db = log.path("db");
    let forget = ["forget", "3f0c2a51", "--dry-run", "--db", db.to_str().unwrap()];
    let output = foldline(&forget).output().unwrap();
    let not_changed = format!("not changed: the output {}", collector.address);
    assert!(said(&output).contains(&not_changed), "{} {}", said(&output), stderr(&output));
}

/// What a collector has not taken waits in the database, and what it has taken of it is not sent again.
#[test]
fn nothing_is_lost_while_the_collector_is_away() {
    let log = Growing::new();
    let expected = log.expected();
    let is_away = Arc::new(AtomicBool::new(true));
    let away = Arc::clone(&is_away);
    let collector = Collector::start(move |_, request| {
        match away.load(Ordering::Relaxed) && request.path != "/v1/traces" {
            true => status(503),
            false => taken(),
        }
    });
    let sink = format!("otlp={}", collector.address);
    log.grow(12);
    log.ingest("db", &["--sink", &sink]);
    log.grow(log.lines());
    // The spans are taken, and nothing else.
    for _ in 0..2 {
        let output = log.ingest("db", &["--final", "--sink", &sink]);
        let said = said(&output);
        assert!(said.contains("the collector is away (HTTP status 503"), "{said}");
        assert!(received(&collector.requests())[0] == expected[0]);
    }
    is_away.store(false, Ordering::Relaxed);
    let output = log.ingest("db", &["--final", "--sink", &sink]);
    assert!(!said(&output).contains("away"), "{}", said(&output));
    let taken: Vec<_> = collector.requests();
    let mut spans = received(&taken)[0].clone();
    spans.dedup();
    assert!(spans.len() == received(&taken)[0].len() && spans == expected[0]);
    // What was refused is repeated.
    for (mut found, expected) in received(&taken).into_iter().zip(expected).skip(1) {
        found.dedup();
        assert!(found == expected);
    }
}

/// A turn of which nothing was written for a while ends, also if its log does not grow.
#[test]
fn a_quiet_turn_is_closed_once() {
    let log = Growing::new();
    let collector = Collector::start(|_, _| taken());
    let sink = format!("otlp={}", collector.address);
    let roots = || {
        let spans = received(&collector.requests())[0].clone();
        let spans = spans.iter().map(|span| serde_json::from_str::<Value>(span).unwrap());
        spans.filter(|span| span["name"] == "invoke_agent droid").collect::<Vec<_>>()
    };
    let age = |minutes: u64| {
        let file = File::options().append(true).open(log.path("log.jsonl")).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60 * minutes)).unwrap();
    };
    log.grow(12);
    log.ingest("db", &["--sink", &sink]);
    assert!(roots().is_empty());
    age(6);
    log.ingest("db", &["--sink", &sink]);
    log.ingest("db", &["--sink", &sink]);
    assert_eq!(roots().len(), 1);
    log.grow(log.lines());
    age(7);
    log.ingest("db", &["--sink", &sink]);
    let [root, further] = &roots()[..] else { panic!("{:?}", roots()) };
    let (root, further) =
        if root.get("parentSpanId").is_none() { (root, further) } else { (further, root) };
    assert_eq!(
        (&further["traceId"], &further["parentSpanId"]),
        (&root["traceId"], &root["spanId"])
    );
}

/// An update without the sink is a gap, which is said. What follows belongs to the same trace nevertheless.
#[test]
fn a_gap_is_said() {
    let log = Growing::new();
    let expected = log.expected();
    let collector = Collector::start(|_, _| taken());
    let sink = format!("otlp={}", collector.address);
    log.grow(8);
    log.ingest("db", &["--sink", &sink]);
    log.grow(12);
    log.ingest("db", &[]);
    log.grow(log.lines());
    let output = log.ingest("db", &["--final", "--sink", &sink]);
    assert!(said(&output).contains("does not get what was read without"), "{}", said(&output));
    let spans = &received(&collector.requests())[0];
    assert!(spans.len() < expected[0].len());
    assert!(spans.iter().all(|span| expected[0].contains(span)), "{spans:?}");
}

#[test]
#[cfg(unix)]
fn logs_are_followed() {
    let log = Growing::new();
    let expected = log.expected();
    let collector = Collector::start(|_, _| taken());
    let sink = format!("otlp={}", collector.address);
    log.grow(12);
    let arguments = log.arguments("db", &["--sink", &sink, "--follow"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut child = foldline(&arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    collector.wait_for(|requests| !requests.is_empty());
    log.grow(log.lines());
    // Everything but the root.
    collector.wait_for(|requests| received(requests)[0].len() == expected[0].len() - 1);
    let stop = std::process::Command::new("kill").arg(child.id().to_string()).status();
    assert!(stop.unwrap().success() && child.wait().unwrap().success());
}

/// A document that its agent rewrites is read again as a whole, and its signals are sent once.
#[test]
fn a_rewritten_document_is_sent_once() {
    let collector = Collector::start(|_, _| taken());
    let sink = format!("otlp={}", collector.address);
    let folder = tempfile::tempdir().unwrap();
    let (log, db) = (folder.path().join("chats/session-1.json"), folder.path().join("db"));
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    let message = |number: usize| {
        let at = format!("2026-01-10T20:0{number}:00.000Z");
        let tokens =
            json!({"input": 1000, "output": number, "cached": 0, "thoughts": 0, "tool": 0});
        let call = json!({"id": format!("c{number}"), "name": "run_shell_command", "result": [],
            "args": {"command": "false"}, "status": "error", "timestamp": at});
        json!({"id": format!("g{number}"), "timestamp": at, "type": "gemini", "content": "text",
            "thoughts": [], "model": "gemini-2.5-pro", "tokens": tokens, "toolCalls": [call]})
    };
    let write = |messages: &[Value]| {
        let document = json!({"sessionId": "s", "projectHash": "p", "messages": messages,
            "startTime": "2026-01-10T20:00:00.000Z", "lastUpdated": messages.last().unwrap()["timestamp"]});
        fs::write(&log, document.to_string()).unwrap();
        let arguments =
            ["ingest", log.to_str().unwrap(), "--db", db.to_str().unwrap(), "--sink", &sink];
        let output = foldline(&arguments).output().unwrap();
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
        received(&collector.requests())[0].len()
    };
    let mut other = message(1);
    other["content"] = "another text".into();
    assert!(write(&[message(1)]) > 0);
    let second = write(&[other, message(2)]);
    assert!(second > 0);
    let [mut spans, ..] = received(&collector.requests());
    spans.dedup_by_key(|span| serde_json::from_str::<Value>(span).unwrap()["spanId"].to_string());
    assert_eq!(spans.len(), second);
}

/// The totals of points: tokens of input and output, and costs by basis. Cumulative points replace earlier ones.
fn totals(bodies: &[Value]) -> BTreeMap<String, f64> {
    let (mut last, mut sums) = (BTreeMap::new(), BTreeMap::new());
    for body in bodies {
        let resource = &body["resourceMetrics"][0];
        let metric = &resource["scopeMetrics"][0]["metrics"][0];
        let (data, value) = match metric["name"].as_str() {
            Some("gen_ai.client.token.usage") => (&metric["histogram"], "sum"),
            Some("foldline.cost") => (&metric["sum"], "asDouble"),
            _ => continue,
        };
        let point = &data["dataPoints"][0];
        let attributes = point["attributes"].as_array().unwrap();
        let kind = attributes.last().unwrap()["value"]["stringValue"].as_str().unwrap().to_owned();
        let value = point[value].as_f64().unwrap();
        if data["aggregationTemporality"] == 1 {
            *sums.entry(kind).or_default() += value;
        } else {
            last.insert(format!("{} {}", resource["resource"], point["attributes"]), (kind, value));
        }
    }
    last.into_values().for_each(|(kind, value)| *sums.entry(kind).or_default() += value);
    sums
}

/// The totals that a collector has.
pub(crate) fn shown(collector: &Collector) -> BTreeMap<String, f64> {
    let requests = collector.requests();
    totals(&requests.iter().flat_map(|request| apart(&request.body)).collect::<Vec<_>>())
}

/// The same of `usage`.
fn used(db: &str) -> BTreeMap<String, f64> {
    let usage = foldline(&["usage", "--db", db, "--by", "session", "--format", "json"]);
    let rows: Value = serde_json::from_slice(&{ usage }.output().unwrap().stdout).unwrap();
    let mut sums = BTreeMap::new();
    for row in rows.as_array().unwrap() {
        for (key, kind) in [("input_tokens", "input"), ("output_tokens", "output")] {
            *sums.entry(kind.to_owned()).or_default() += row[key].as_f64().unwrap_or_default();
        }
        if let Some(cost) = row["cost_usd"].as_f64().filter(|cost| *cost > 0.0) {
            *sums.entry(row["cost_basis"].as_str().unwrap().to_owned()).or_default() += cost;
        }
    }
    sums
}

fn assert_same(points: &BTreeMap<String, f64>, used: &BTreeMap<String, f64>) {
    assert!(points.keys().eq(used.keys()), "{points:?} {used:?}");
    for (points, used) in points.values().zip(used.values()) {
        assert!((points - used).abs() < 1e-9, "{points} {used}");
    }
}

/// Two logs of Claude Code contain the same message, as those of a fork do: it counts once, as in `usage`.
#[test]
fn tokens_and_costs_are_those_of_the_database() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/claude-session");
    for preference in ["cumulative", "delta"] {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::create_dir(at("logs")).unwrap();
        let collector = Collector::start(|_, _| taken());
        let ingest = |copy: bool| {
            for log in fs::read_dir(&fixtures).unwrap().map(|log| log.unwrap().path()) {
                let name = log.file_name().unwrap().to_str().unwrap();
                let text = fs::read_to_string(&log).unwrap();
                fs::write(at(&format!("logs/{name}")), &text).unwrap();
                if copy {
                    let fork = text.replace("\"sessionId\":\"", "\"sessionId\":\"fork-");
                    fs::write(at(&format!("logs/fork-{name}")), fork).unwrap();
                }
            }
            let sink = format!("otlp={}", collector.address);
            let mut ingest = foldline(&["ingest", &at("logs"), "--db", &at("db"), "--sink", &sink]);
            ingest.env("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", preference);
            ingest.env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
            let output = ingest.output().unwrap();
            assert!(output.status.success(), "{}", stderr(&output));
            shown(&collector)
        };
        let first = ingest(false);
        assert_same(&first, &used(&at("db")));
        let again = ingest(false);
        assert_eq!(again, first);
        assert_same(&ingest(true), &used(&at("db")));
        assert!(again["input"] > 0.0);
    }
}

/// Requests with one metric each.
fn apart(body: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    for resource in body["resourceMetrics"].as_array().into_iter().flatten() {
        for scope in resource["scopeMetrics"].as_array().unwrap() {
            for metric in scope["metrics"].as_array().unwrap() {
                found.push(json!({"resourceMetrics": [{
                    "resource": resource["resource"],
                    "scopeMetrics": [{"metrics": [metric]}],
                }]}));
            }
        }
    }
    found
}
