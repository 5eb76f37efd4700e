//! Every session of the newest captures has the same tokens, cost and failures, whichever part of the program is asked.
#![cfg(all(feature = "mcp", feature = "otlp"))]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use foldline_render::human;
use serde_json::{Value, json};

use crate::{
    captures,
    logs::{run, stdout},
    mcp::client::Client,
};

/// What a session used: tokens of input and of output, US dollars, and failed calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Used {
    input: f64,
    output: f64,
    cost: f64,
    failures: f64,
}

impl Used {
    fn of(row: &Value) -> Self {
        let number = |name: &str| row[name].as_f64().unwrap_or_default();
        let [input, output] = ["input_tokens", "output_tokens"].map(number);
        Self { input, output, cost: number("cost_usd"), failures: number("failures") }
    }

    fn add(&mut self, more: Self) {
        self.input += more.input;
        self.output += more.output;
        self.cost += more.cost;
        self.failures += more.failures;
    }

    fn is(self, other: Self) -> bool {
        (self.cost - other.cost).abs() < 1e-9
            && Self { cost: 0.0, ..self } == Self { cost: 0.0, ..other }
    }
}

/// The same of each session, by its id. Rows of one id are one session in several logs.
type BySession = BTreeMap<String, Used>;

fn by_session(rows: &[Value], column: &str) -> BySession {
    let mut sums = BySession::new();
    for row in rows {
        let id = row[column].as_str().unwrap_or_default();
        sums.entry(id.to_owned()).or_default().add(Used::of(row));
    }
    sums
}

fn are_equal(what: &str, found: &BySession, expected: &BySession) {
    for (id, expected) in expected {
        let found = found.get(id).copied().unwrap_or_default();
        assert!(found.is(*expected), "{what} of {id}: {found:?} instead of {expected:?}");
    }
}

/// The newest captures.
fn newest() -> Option<PathBuf> {
    captures::folders().into_iter().rfind(|folder| folder.ends_with("captures-q4"))
}

#[test]
fn every_session_of_the_newest_captures_is_one_story() {
    let Some(logs) = newest() else {
        eprintln!("skipped: there are no captures next to the repository");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (db, metrics, otlp) = (path("db"), path("metrics"), path("otlp.jsonl"));
    let sink = format!("otlp={otlp}");
    // Some files are no logs of a known agent.
    run(&[
        "ingest",
        logs.to_str().unwrap(),
        "--final",
        "--db",
        &db,
        "--metrics",
        &metrics,
        "--sink",
        &sink,
    ]);
    let ask = |question: &[&str]| -> Vec<Value> {
        let answer = run(&[question, &["--db", &db, "-f", "json"]].concat());
        serde_json::from_slice(&answer.stdout).unwrap()
    };
    let sessions = ask(&["sessions", "--agents", "-n", "0"]);
    assert!(sessions.len() > 40, "{}", sessions.len());
    let told = by_session(&sessions, "session");

    let without_failures =
        told.iter().map(|(id, used)| (id.clone(), Used { failures: 0.0, ..*used })).collect();
    let usage = by_session(&ask(&["usage", "--by", "session", "-n", "0"]), "session");
    are_equal("usage", &usage, &without_failures);
    // The sums are those of the metrics.
    let mut total = Used::default();
    told.values().for_each(|used| total.add(*used));
    let metrics = fs::read_to_string(metrics).unwrap();
    for (kind, tokens) in [("input", total.input), ("output", total.output)] {
        let label = format!("gen_ai_token_type=\"{kind}\"");
        let is_it = |line: &&str| {
            line.starts_with("gen_ai_client_token_usage_total{") && line.contains(&label)
        };
        let values = metrics.lines().filter(is_it).filter_map(|line| line.rsplit_once(' '));
        assert_eq!(values.map(|(_, value)| value.parse::<f64>().unwrap()).sum::<f64>(), tokens);
    }
    documents_agree(&sessions, &db);
    answers_for_agents_agree(&sessions, &db);
    traces_agree(&told, &ask, Path::new(&otlp));
}

/// A document has the tokens and the failures of its session.
fn documents_agree(sessions: &[Value], db: &str) {
    for session in sessions {
        let number = session["number"].to_string();
        let document = stdout(&["export", &number, "-f", "json", "--db", db]);
        let document: Value = serde_json::from_str(&document).unwrap();
        let status = |entry: &Value| entry["content"]["entry_type"]["status"]["status"].clone();
        let failed = ["failed", "denied", "cancelled", "unfinished"];
        let entries = document["entries"].as_array().unwrap().iter().map(status);
        let failures = entries.filter(|status| failed.iter().any(|name| status == name)).count();
        let mut found = Used::of(&document["usage"]);
        let mut expected = Used::of(session);
        found.failures = failures as f64;
        // A document states only a cost that the log states.
        if session["cost_basis"] != "logged" {
            (found.cost, expected.cost) = (0.0, 0.0);
        }
        assert!(found.is(expected), "{found:?}: {session}");
    }
}

fn answers_for_agents_agree(sessions: &[Value], db: &str) {
    let mut client = Client::of(Path::new(db));
    let mut listed = String::new();
    let mut arguments = json!({"max_tokens": 20_000});
    loop {
        let answer = client.call("recent_sessions", &arguments);
        listed.push_str(&answer.text);
        match crate::mcp::client::next(&answer.text) {
            Some((_, next)) => arguments = next,
            None => break,
        }
    }
    for session in sessions {
        let arguments = json!({"session": session["number"].to_string(), "max_tokens": 300});
        let answer = client.call("get_session", &arguments);
        let head = answer.text.lines().nth(1).unwrap_or_default();
        let count = |name: &str| session[name].as_u64().unwrap();
        let mut facts = vec![human::number_of(count("calls") as i64, "call")];
        facts.extend((count("failures") > 0).then(|| format!("{} failed", count("failures"))));
        facts.extend(session["cost_usd"].as_f64().map(human::dollars));
        for fact in &facts {
            assert!(head.contains(fact.as_str()), "{fact}: {head}: {session}");
        }
        // The list does not have sessions without entries.
        let figures = head.split_once(", ").map_or("", |(_, figures)| figures);
        assert!(listed.contains(figures) || count("entries") == 0, "{figures}: {listed}");
    }
}

/// A trace has what its log states: requests that several logs repeat too, as each trace is of one log alone.
fn traces_agree(told: &BySession, ask: &dyn Fn(&[&str]) -> Vec<Value>, otlp: &Path) {
    let stated =
        "SELECT session_id, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens
                  FROM message_usage JOIN sessions ON sessions.id = session GROUP BY session_id";
    let stated = by_session(&ask(&["query", "sql", stated]), "session_id");
    let mut found = BySession::new();
    let lines = fs::read_to_string(otlp).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let parts = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    let spans = lines.flat_map(|line| {
        let scopes =
            parts(&line, "resourceSpans").into_iter().flat_map(|it| parts(&it, "scopeSpans"));
        scopes.flat_map(|scope| parts(&scope, "spans")).collect::<Vec<_>>()
    });
    for span in spans {
        let attribute = |key: &str| {
            let found = parts(&span, "attributes").into_iter().find(|it| it["key"] == key)?;
            found["value"].as_object()?.values().next().cloned()
        };
        let number = |key: &str| {
            let value = attribute(key);
            let text = value.as_ref().and_then(Value::as_str).and_then(|it| it.parse().ok());
            text.or(value.as_ref().and_then(Value::as_f64)).unwrap_or(0.0)
        };
        let session = attribute("gen_ai.conversation.id").unwrap_or_default();
        let used = found.entry(session.as_str().unwrap_or_default().to_owned()).or_default();
        let name = span["name"].as_str().unwrap_or_default();
        if name.starts_with("invoke_agent") {
            let cost = number("foldline.cost.estimated_usd") + number("foldline.cost.usd");
            let [input, output] =
                ["input", "output"].map(|it| number(&format!("gen_ai.usage.{it}_tokens")));
            used.add(Used { input, output, cost, failures: 0.0 });
        }
        // A call without a result counts as failed, and its span has no status.
        let is_unfinished = attribute("foldline.unfinished").is_some_and(|it| it == true);
        if name.starts_with("execute_tool") && (span["status"]["code"] == 2 || is_unfinished) {
            used.failures += 1.0;
        }
    }
    for (id, told) in told {
        let used = found.get(id).copied().unwrap_or_default();
        let stated = stated.get(id).copied().unwrap_or_default();
        assert_eq!((used.input, used.output), (stated.input, stated.output), "{id}");
        assert_eq!(used.failures, told.failures, "{id}");
        if (stated.input, stated.output) == (told.input, told.output) {
            assert!(used.is(*told), "{id}: {used:?}, {told:?}");
        }
    }
}
