//! `--sink otlp`: OpenTelemetry in files and to a collector, also one that fails or is away.
#![cfg(feature = "otlp")]

pub(crate) mod collector;
pub(crate) mod ingest;

use std::{
    fs,
    io::Write,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use self::collector::{Collector, signals, status, taken, without_usage};
use crate::logs;

/// A log with times, failures and tokens.
fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/session.jsonl")
}

/// The program, without the variables of OpenTelemetry and its own for it. Requests are JSON, which is easy to read.
fn foldline(arguments: &[&str]) -> Command {
    let mut command = logs::foldline();
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| is_of_telemetry(&name.to_string_lossy()))
    {
        command.env_remove(name);
    }
    command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json").args(arguments);
    command
}

fn is_of_telemetry(name: &str) -> bool {
    ["OTEL_", "FOLDLINE_OTLP_", "TRACEPARENT"].iter().any(|prefix| name.starts_with(prefix))
}

fn replay(to: &str) -> Command {
    let sink = format!("otlp={to}");
    foldline(&["replay", example().to_str().unwrap(), "--format", "metrics", "--sink", &sink])
}

fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The signals of the example, as the file has them.
fn expected() -> [Vec<String>; 3] {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("otlp.jsonl");
    assert!(replay(file.to_str().unwrap()).output().unwrap().status.success());
    let expected = signals(lines(&file).iter());
    assert!(expected.iter().all(|signals| !signals.is_empty()));
    expected
}

/// What standard error says of signals that were not delivered.
fn counted([spans, records, points]: [usize; 3]) -> String {
    let one = |count: usize, thing: &str| match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    };
    let counts = [one(spans, "span"), one(records, "log record"), one(points, "data point")];
    counts.join(", ") + " not delivered to "
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_collector_gets_what_a_file_gets() {
    let collector = Collector::start(|_, _| taken());
    let output = replay(&collector.address)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20key")
        .output()
        .unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let requests = collector.requests();
    assert_eq!(signals(requests.iter().map(|request| &request.body)), expected());
    for request in requests {
        let field = request.body.as_object().unwrap().keys().next().unwrap().as_str();
        let path = match field {
            "resourceSpans" => "/v1/traces",
            "resourceLogs" => "/v1/logs",
            _ => "/v1/metrics",
        };
        assert_eq!(request.path, path);
        for (name, value) in [
            ("Content-Type", "application/json"),
            ("Content-Encoding", "gzip"),
            ("api-key", "a key"),
        ] {
            assert_eq!(request.headers.get(name).unwrap(), value);
        }
    }
}

#[test]
fn requests_are_protobuf_by_default() {
    let collector = Collector::start(|_, _| taken());
    let output =
        replay(&collector.address).env_remove("OTEL_EXPORTER_OTLP_PROTOCOL").output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let requests = collector.requests();
    for (path, name) in [
        ("/v1/traces", "execute_tool"),
        ("/v1/logs", "gen_ai.client.inference.operation.details"),
        ("/v1/metrics", "gen_ai.execute_tool.duration"),
    ] {
        let request = requests.iter().find(|request| request.path == path).unwrap();
        assert!(request.body.as_str().unwrap().contains(name), "{request:?}");
    }
}

#[test]
fn the_environment_names_the_collector() {
    let collector = Collector::start(|_, _| taken());
    let mut command = foldline(&["replay", example().to_str().unwrap(), "--sink", "otlp"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address);
    command.env("OTEL_EXPORTER_OTLP_COMPRESSION", "none").env("OTEL_SERVICE_NAME", "mine");
    assert!(command.output().unwrap().status.success());
    let requests = collector.requests();
    assert_eq!(signals(requests.iter().map(|request| &request.body)), expected());
    assert!(requests.iter().all(|request| request.body.to_string().contains("mine")));
}

#[test]
fn requests_are_repeated_when_the_server_says() {
    let collector = Collector::start(|number, _| match number {
        0 => {
            let mut later = status(503);
            later.headers_mut().insert("Retry-After", "1".parse().unwrap());
            later
        }
        1 => status(429),
        _ => taken(),
    });
    let output = replay(&collector.address).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let requests = collector.requests();
    assert!(requests[1].at - requests[0].at >= Duration::from_secs(1));
    assert_eq!(requests[0].body, requests[1].body);
    assert_eq!(signals(requests[2..].iter().map(|request| &request.body)), expected());
}

#[test]
fn what_is_refused_is_counted() {
    let [spans, ..] = expected().map(|signals| signals.len());
    let collector = Collector::start(|_, request| match request.path.as_str() {
        "/v1/traces" => status(401),
        _ => taken(),
    });
    let output = replay(&collector.address).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = format!("{spans} spans not delivered to {}: HTTP status 401", collector.address);
    assert!(stderr(&output).contains(&said), "{}", stderr(&output));

    let collector = Collector::start(|_, request| match request.path.as_str() {
        "/v1/logs" => axum::response::IntoResponse::into_response(
            r#"{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}"#,
        ),
        "/v1/metrics" => status(400),
        _ => taken(),
    });
    let output = replay(&collector.address).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    // A machine under load sends more than one request for each signal.
    let requests = collector.requests();
    let to = |path| requests.iter().filter(move |request| request.path == path);
    let records = to("/v1/logs").count();
    let [.., points] = signals(to("/v1/metrics").map(|request| &request.body));
    let said = counted([0, records, points.len()]);
    let said = said.strip_prefix("0 spans, ").unwrap();
    assert!(records > 0 && stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
fn a_collector_that_is_away_is_said() {
    let counts = expected().map(|signals| signals.len());
    // A port without a listener.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let output = replay(&format!("http://{address}"))
        .env("OTEL_EXPORTER_OTLP_TIMEOUT", "300")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&counted(counts)), "{}", stderr(&output));
    // The other output is whole.
    assert!(String::from_utf8_lossy(&output.stdout).contains("foldline_records_total 21"));
}

#[test]
fn a_collector_that_never_answers_does_not_stop_the_run() {
    let [spans, records, points] = expected().map(|signals| signals.len());
    // The run has a span, too.
    let counts = [spans + 1, records, points];
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("otlp=http://{}", silent.local_addr().unwrap());
    let example = example();
    let run =
        ["run", "--format", "metrics", "--sink", &address, "--", "cat", example.to_str().unwrap()];
    let begun = Instant::now();
    let output = foldline(&run).env("OTEL_EXPORTER_OTLP_TIMEOUT", "700").output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&counted(counts)), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("foldline_records_total 21"));
}

/// The main output ends the run.
#[test]
#[cfg(target_os = "linux")]
fn a_run_that_fails_sends_what_there_is() {
    let collector = Collector::start(|_, _| taken());
    let (example, sink) = (example(), format!("otlp={}", collector.address));
    let full = ["--format", "events", "--out", "/dev/full", "--sink", &sink];
    let output = foldline(&["replay", example.to_str().unwrap()]).args(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let sent = collector.requests();
    assert!(sent.iter().any(|request| request.body.to_string().contains("execute_tool")));
}

#[test]
fn spans_arrive_while_the_log_grows() {
    let collector = Collector::start(|_, _| taken());
    let sink = format!("otlp={}", collector.address);
    let mut child = foldline(&["run", "--format", "metrics", "--sink", &sink, "--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let log = fs::read_to_string(example()).unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in log.lines() {
        writeln!(input, "{line}").unwrap();
        if line.contains("tool_result") {
            break;
        }
    }
    collector.wait_for(|requests| {
        requests.iter().any(|request| request.body.to_string().contains("execute_tool"))
    });
    let result = log.find("tool_result").unwrap();
    let rest = result + log[result..].find('\n').unwrap() + 1;
    input.write_all(&log.as_bytes()[rest..]).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    let requests = collector.requests();
    let [spans, records, points] = signals(requests.iter().map(|request| &request.body));
    // Without the span of the run, and the links to it.
    let of_agent = spans.iter().filter(|span| !span.contains("process.executable.name"));
    let unlinked = of_agent.map(|span| {
        let mut span: Value = serde_json::from_str(span).unwrap();
        span.as_object_mut().unwrap().remove("links");
        span.to_string()
    });
    let mut unlinked: Vec<_> = unlinked.collect();
    unlinked.sort();
    assert!([unlinked, records, points] == expected());
}

/// A turn ends after a time without events, and an answer after that continues it.
#[test]
fn a_quiet_turn_is_closed_and_continued() {
    let collector = Collector::start(|_, _| taken());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let log = fs::read_to_string(example()).unwrap();
    let half = log
        .rfind("{\"type\":\"completion")
        .unwrap_or_else(|| log.trim_end().rfind('\n').unwrap() + 1);
    fs::write(&path, &log[..half]).unwrap();
    let sink = format!("otlp={}", collector.address);
    let follow =
        ["replay", path.to_str().unwrap(), "--format", "metrics", "--sink", &sink, "--follow"];
    let mut child = foldline(&follow)
        .env("FOLDLINE_OTLP_IDLE", "1")
        .args(["--idle-exit", "4"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let roots = |requests: &[collector::Request]| {
        let all = signals(requests.iter().map(|request| &request.body));
        all[0]
            .iter()
            .filter(|span| span.contains("invoke_agent droid"))
            .cloned()
            .collect::<Vec<_>>()
    };
    collector.wait_for(|requests| roots(requests).len() == 1);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&log.as_bytes()[half..]).unwrap();
    assert!(child.wait().unwrap().success());
    let roots = roots(&collector.requests());
    let spans: Vec<Value> = roots.iter().map(|span| serde_json::from_str(span).unwrap()).collect();
    assert_eq!(spans.len(), 2, "{roots:?}");
    let (root, further) = match spans[0].get("parentSpanId") {
        None => (&spans[0], &spans[1]),
        Some(_) => (&spans[1], &spans[0]),
    };
    assert_eq!((root.get("parentSpanId"), &root["traceId"]), (None, &further["traceId"]));
    assert_eq!(further["parentSpanId"], root["spanId"]);
}

#[test]
fn an_ingest_and_a_resumed_replay_write_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let log = fs::read_to_string(example()).unwrap();
    let half = log.match_indices('\n').nth(10).unwrap().0 + 1;
    for part in [&log[..half], &log] {
        fs::write(at("log.jsonl"), part).unwrap();
        let (out, checkpoint) = (at("out"), at("checkpoint"));
        let sink = format!("otlp={}", at("replayed"));
        let arguments =
            ["replay", &at("log.jsonl"), "--format", "events", "--out", &out, "--sink", &sink];
        let output = foldline(&arguments).args(["--checkpoint", &checkpoint]).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let sink = format!("otlp={}", at("ingested"));
        let arguments = ["ingest", &at("log.jsonl"), "--db", &at("db"), "--sink", &sink];
        let last: &[&str] = if part.len() == log.len() { &["--final"] } else { &[] };
        let output = foldline(&arguments).args(last).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let [replayed, ingested] =
        ["replayed", "ingested"].map(|name| signals(lines(at(name).as_ref()).iter()));
    assert_eq!(replayed, expected());
    assert_eq!(without_usage(ingested), without_usage(expected()));
}

#[test]
fn content_is_requested_and_redacted() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let log = "\
{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/p\",\"session_id\":\"s1\",\"tools\":[],\"model\":\"m-1\"}
{\"type\":\"message\",\"role\":\"user\",\"id\":\"u1\",\"text\":\"Write to ada@example.org\",\"timestamp\":1000,\"session_id\":\"s1\"}
";
    fs::write(at("log.jsonl"), log).unwrap();
    let written = |more: &[&str]| {
        let sink = format!("otlp={}", at("out"));
        let output =
            foldline(&["replay", &at("log.jsonl"), "--sink", &sink]).args(more).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        fs::read_to_string(at("out")).unwrap()
    };
    assert!(!written(&[]).contains("Write to"));
    assert!(written(&["--content"]).contains("Write to ada@example.org"));
    let redacted = written(&["--content", "--redact"]);
    assert!(redacted.contains("Write to [email 1]") && !redacted.contains("ada@"), "{redacted}");
}

/// The names of the spans of a file, those of records that arrived when it is not known.
fn observed_spans(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for request in lines(path) {
        for span in request
            .pointer("/resourceSpans/0/scopeSpans/0/spans")
            .into_iter()
            .filter_map(Value::as_array)
            .flatten()
        {
            // That of the run.
            if span["name"] == "cat" {
                continue;
            }
            let observed = |one: &Value| one["key"] == "foldline.observed";
            assert!(span["attributes"].as_array().unwrap().iter().any(observed), "{span}");
            names.push(span["name"].as_str().unwrap().to_owned());
        }
    }
    names
}

/// The agent is started in a span of the run, which is in the trace that the run was started in.
#[test]
#[cfg(unix)]
fn a_run_passes_its_span_on() {
    let folder = tempfile::tempdir().unwrap();
    let (out, given) = (folder.path().join("out"), folder.path().join("given"));
    let sink = format!("otlp={}", out.display());
    let shell =
        format!("printf %s $TRACEPARENT > {}; cat {}", given.display(), example().display());
    let run = ["run", "--format", "metrics", "--sink", &sink, "--", "sh", "-c", &shell];
    let trace = "0af7651916cd43dd8448eb211c80319c";
    for scope in ["turn", "session"] {
        let mut command = foldline(&run);
        command.env("TRACEPARENT", format!("00-{trace}-b7ad6b7169203331-01"));
        assert!(command.env("FOLDLINE_OTLP_TRACE", scope).output().unwrap().status.success());
        let lines = lines(&out);
        let spans: Vec<_> = lines
            .iter()
            .filter_map(|line| line.pointer("/resourceSpans/0/scopeSpans/0/spans/0"))
            .collect();
        let run = spans.iter().find(|span| span["name"] == "sh").unwrap();
        assert_eq!(run["parentSpanId"], "b7ad6b7169203331");
        let span = run["spanId"].as_str().unwrap();
        assert_eq!(fs::read_to_string(&given).unwrap(), format!("00-{trace}-{span}-01"));
        let root = spans.iter().find(|span| match scope {
            "turn" => span["name"] == "invoke_agent droid",
            _ => span["name"] == "session",
        });
        match scope {
            "turn" => assert_eq!(root.unwrap()["links"][0]["spanId"], span),
            _ => assert_eq!(root.unwrap()["parentSpanId"], span),
        }
        // This machine is that of the agent.
        let resource = lines[0].pointer("/resourceSpans/0/resource").unwrap_or(&Value::Null);
        let resource = resource.to_string();
        for name in ["host.name", "process.pid", "service.instance.id"] {
            assert!(resource.contains(name), "{resource}");
        }
    }
    let sink = format!("otlp={}", out.display());
    let replayed = foldline(&["replay", example().to_str().unwrap(), "--sink", &sink]).output();
    assert!(replayed.unwrap().status.success());
    assert!(!fs::read_to_string(&out).unwrap().contains("host.name"));
}

/// A log that states no times has spans: its records arrived, or its file was written.
#[test]
fn records_without_a_time_have_that_of_their_arrival() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let log =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/codex-exec/commands.jsonl");
    let (log, sink) = (log.to_str().unwrap(), format!("otlp={}", out.display()));
    let run = ["run", "--format", "metrics", "--sink", &sink, "--", "cat", log];
    let db = folder.path().join("db").to_str().unwrap().to_owned();
    let replay = ["replay", log, "--format", "metrics", "--sink", &sink];
    let ingest = ["ingest", log, "--db", &db, "--final", "--sink", &sink];
    for arguments in [&ingest[..], &replay, &run] {
        assert!(foldline(arguments).output().unwrap().status.success());
        let names = observed_spans(&out);
        let count = |name: &str| names.iter().filter(|it| it.starts_with(name)).count();
        assert_eq!((count("session"), count("invoke_agent codex")), (0, 1), "{names:?}");
        assert!(count("execute_tool command_execution") > 3, "{names:?}");
    }
}

#[test]
fn wrong_uses_are_refused() {
    let example = example();
    let log = example.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = format!("otlp={}", at("file"));
    for (arguments, says) in [
        (&["replay", log, "--sink", "events=http://localhost"][..], "cannot be sent"),
        (&["replay", log, "--sink", "otlp=http://"], "not an address"),
        (&["replay", log, "--sink", &file, "--redact"], "--content"),
        (&["replay", log, "--content"], "--content needs --sink otlp"),
        (&["ingest", log, "--db", &at("db"), "--sink", "events"], "a file"),
        (&["ingest", log, "--db", &at("db"), "--sink", &file, "--content", "--redact"], "resumed"),
    ] {
        let output = foldline(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(says), "{arguments:?}: {}", stderr(&output));
    }
    let mut grpc = replay("http://localhost:4317");
    let output = grpc.env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("http/protobuf or http/json"), "{}", stderr(&output));
}

/// The traces of a file, and the number of spans called `session`.
fn traces(scope: &str) -> (usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("otlp.jsonl");
    let mut command = replay(file.to_str().unwrap());
    assert!(command.env("FOLDLINE_OTLP_TRACE", scope).output().unwrap().status.success());
    let lines = lines(&file);
    let spans =
        lines.iter().filter_map(|line| line.pointer("/resourceSpans/0/scopeSpans/0/spans/0"));
    let (mut traces, mut sessions) = (std::collections::BTreeSet::new(), 0);
    for span in spans {
        traces.insert(span["traceId"].to_string());
        sessions += usize::from(span["name"] == "session");
    }
    (traces.len(), sessions)
}

#[test]
fn a_trace_is_a_turn_or_a_session() {
    assert_eq!(traces("session"), (1, 1));
    assert_eq!(traces("turn"), (1, 0));
    let wrong = replay("/dev/null").env("FOLDLINE_OTLP_TRACE", "day").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        stderr(&wrong).contains("FOLDLINE_OTLP_TRACE is turn or session"),
        "{}",
        stderr(&wrong)
    );
}

/// Tokens of input and output: the last points of each series of a file.
fn tokens_of_points(path: &Path) -> f64 {
    let mut last = std::collections::BTreeMap::new();
    for request in lines(path) {
        let Some(metric) = request.pointer("/resourceMetrics/0/scopeMetrics/0/metrics/0") else {
            continue;
        };
        if metric["name"] == "gen_ai.client.token.usage" {
            let point = &metric["histogram"]["dataPoints"][0];
            last.insert(point["attributes"].to_string(), point["sum"].as_f64().unwrap());
        }
    }
    last.into_values().sum()
}

/// A backend that keeps the last point of a series shows the tokens that `usage` shows.
#[test]
fn points_count_the_tokens_of_usage() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    for format in ["droid", "claude-session", "codex-exec", "qwen"] {
        let mut sums = (0.0, 0.0);
        for log in fs::read_dir(fixtures.join(format)).unwrap() {
            let log = log.unwrap().path();
            let (log, sink) = (log.to_str().unwrap(), format!("otlp={}", out.display()));
            let replayed =
                foldline(&["replay", log, "--format", "metrics", "--sink", &sink]).output();
            assert!(replayed.unwrap().status.success());
            sums.0 += tokens_of_points(&out);
            let usage = foldline(&["usage", log, "--format", "json"]).output().unwrap();
            let rows: Value = serde_json::from_slice(&usage.stdout).unwrap();
            let of = |row: &Value| {
                [&row["input_tokens"], &row["output_tokens"]]
                    .map(|it| it.as_f64().unwrap_or_default())
                    .iter()
                    .sum::<f64>()
            };
            sums.1 += rows.as_array().unwrap().iter().map(of).sum::<f64>();
        }
        assert!(sums.0 == sums.1 && sums.0 > 0.0, "{format}: {sums:?}");
    }
}
