//! The spans of fixtures.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
};

use foldline::position::{Located, Position, by_item};
use foldline_agents::Registry;
use foldline_domain::{
    DomainEvent, NormalizedEntry, NormalizedEntryType, Session, Timestamp, TokenUsage, Warning,
    WarningKind, per_session, pricing::Prices,
};
use foldline_otlp::{Otlp, Temporality};
use serde_json::Value;

use super::signals::{
    attribute, attributes, events, every_fixture, fixtures, metrics, point, records, requests,
    requests_of, requests_with_content, spans,
};

fn of_fixture(format: &str, name: &str) -> Vec<Value> {
    let executor = Registry::builtin().named(format).unwrap().clone();
    requests(&events(&executor, &fs::read(fixtures(format).join(name)).unwrap()))
}

fn nanos(of: &Value) -> i128 {
    of.as_str().map_or(0, |text| text.parse().unwrap())
}

/// The spans and records of a trace as an indented tree, with the time since the beginning and the duration in
/// milliseconds.
fn tree(requests: &[Value]) -> String {
    let (spans, records) = (spans(requests), records(requests));
    let first = spans.iter().map(|span| nanos(&span["startTimeUnixNano"])).min().unwrap_or(0);
    let mut below: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for span in &spans {
        below.entry(span["parentSpanId"].as_str().unwrap_or_default()).or_default().push(span);
    }
    let mut text = String::new();
    fn write(
        at: &str,
        depth: usize,
        below: &BTreeMap<&str, Vec<&Value>>,
        first: i128,
        text: &mut String,
    ) {
        for span in below.get(at).into_iter().flatten() {
            let (start, end) = (nanos(&span["startTimeUnixNano"]), nanos(&span["endTimeUnixNano"]));
            let (since, lasted) = ((start - first) / 1_000_000, (end - start) / 1_000_000);
            let name = span["name"].as_str().unwrap();
            writeln!(text, "{:depth$}{name}  at {since} for {lasted}", "").unwrap();
            facts(span, depth, text);
            write(span["spanId"].as_str().unwrap(), depth + 2, below, first, text);
        }
    }
    write("", 0, &below, first, &mut text);
    for record in records {
        let time = record.get("timeUnixNano").map(|time| (nanos(time) - first) / 1_000_000);
        writeln!(text, "{}  at {time:?}", record["eventName"].as_str().unwrap()).unwrap();
        facts(record, 1, &mut text);
    }
    for metric in metrics(requests) {
        let (name, point) = (metric["name"].as_str().unwrap(), point(metric));
        match point.get("asDouble") {
            Some(sum) => writeln!(text, "{name}  {sum}").unwrap(),
            None => {
                writeln!(text, "{name}  {} with the sum {}", point["count"], point["sum"]).unwrap();
            }
        }
        facts(point, 0, &mut text);
    }
    text
}

/// The attributes, except for those of the session, which all of its spans and records have.
fn facts(of: &Value, depth: usize, text: &mut String) {
    let of_session = ["gen_ai.agent.version", "gen_ai.conversation.id", "gen_ai.request.model"];
    for (name, _, value) in attributes(of) {
        if depth != 0 && of_session.contains(&name) {
            continue;
        }
        writeln!(text, "{:depth$}    {name} = {value}", "").unwrap();
    }
    if of["status"]["code"] == 2 {
        writeln!(text, "{:depth$}    failed", "").unwrap();
    }
}

#[test]
fn a_sub_agents_session_is_a_trace() {
    insta::assert_snapshot!("otlp__session", tree(&of_fixture("droid-session", "session.jsonl")));
}

#[test]
fn a_sub_agent_is_below_its_call() {
    let requests = of_fixture("claude-session", "progress.jsonl");
    insta::assert_snapshot!("otlp__sub_agent", tree(&requests));
}

#[test]
fn a_log_without_times_has_records_instead_of_spans() {
    let requests = of_fixture("codex-exec", "commands.jsonl");
    assert!(spans(&requests).is_empty() && metrics(&requests).is_empty());
    insta::assert_snapshot!("otlp__without_times", tree(&requests));
}

#[test]
fn each_kind_is_written_as_otlp_json() {
    let requests = of_fixture("droid", "usage.jsonl");
    let mut kinds = BTreeMap::new();
    for request in &requests {
        let kind = request.as_object().unwrap().keys().next().unwrap().clone();
        kinds.entry(kind).or_insert(request);
    }
    assert_eq!(kinds.len(), 3);
    insta::assert_snapshot!("otlp__json", serde_json::to_string_pretty(&kinds).unwrap());
}

/// Every parent is the id of a span or, if the log does not state its times, of a record.
#[test]
fn every_parent_exists() {
    for (executor, log) in every_fixture() {
        let requests = requests(&events(&executor, &fs::read(&log).unwrap()));
        let (spans, records) = (spans(&requests), records(&requests));
        let ids: BTreeSet<_> =
            spans.iter().chain(&records).filter_map(|one| one["spanId"].as_str()).collect();
        for span in &spans {
            assert!(nanos(&span["startTimeUnixNano"]) <= nanos(&span["endTimeUnixNano"]));
            let parent = span.get("parentSpanId").map(|parent| parent.as_str().unwrap());
            assert!(parent.is_none_or(|parent| ids.contains(parent)), "{}: {span}", log.display());
        }
    }
}

/// A span that has ended does not change when the log grows: a replay of the whole log sends it again, unchanged.
#[test]
fn a_growing_log_sends_the_same_spans() {
    let mut compared = 0;
    for (executor, path) in every_fixture() {
        let log = fs::read(&path).unwrap();
        let whole = requests(&events(&executor, &log));
        let whole: BTreeMap<_, _> = spans(&whole)
            .into_iter()
            .map(|span| (span["spanId"].to_string(), span.clone()))
            .collect();
        let ends: Vec<_> = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').collect();
        for (end, _) in ends.iter().step_by(1 + ends.len() / 8) {
            let part = requests(&events(&executor, &log[..=*end]));
            for span in spans(&part) {
                // These have ended only because the log ends here.
                let is_open = ["session", "invoke_agent"]
                    .iter()
                    .any(|kind| span["name"].as_str().unwrap().starts_with(kind))
                    || attribute(span, "foldline.unfinished").is_some();
                if is_open {
                    continue;
                }
                let Some(later) = whole.get(&span["spanId"].to_string()) else {
                    panic!("{}: {span} is not sent again", path.display());
                };
                for field in
                    ["name", "startTimeUnixNano", "endTimeUnixNano", "parentSpanId", "traceId"]
                {
                    assert_eq!(span[field], later[field], "{}: {span}", path.display());
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

fn at(line: u64, event: DomainEvent) -> Located<DomainEvent> {
    Located::new(Position { line, offset: line }, event)
}

fn named(id: &str) -> DomainEvent {
    let session = Session {
        session_id: Some(id.into()),
        agent: Some("droid".into()),
        title: Some("The secret title".into()),
        ..Session::default()
    };
    DomainEvent::Session(Box::new(session))
}

fn prompt() -> DomainEvent {
    let prompt = NormalizedEntry::new(NormalizedEntryType::UserMessage, "hi");
    DomainEvent::entry(prompt.at(Some(Timestamp::from_millis(5))))
}

/// The spans are in the log with the conversation. The trace is the same.
#[test]
fn a_log_of_tokens_has_no_spans() {
    let requests = of_fixture("droid-settings", "session.jsonl");
    assert!(spans(&requests).is_empty());
    let [usage] = records(&requests)[..] else { panic!("{requests:?}") };
    assert_eq!(usage["eventName"], "gen_ai.client.inference.operation.details");
}

#[test]
fn content_is_off_by_default() {
    let say = |kind, text: &str| {
        DomainEvent::entry(NormalizedEntry::new(kind, text).at(Some(Timestamp::from_millis(5))))
    };
    let said = [
        at(1, named("s")),
        at(2, say(NormalizedEntryType::UserMessage, "the secret prompt")),
        at(3, say(NormalizedEntryType::AssistantMessage, "the secret answer")),
        at(4, say(NormalizedEntryType::ErrorMessage, "the secret error")),
        at(5, Warning::new(WarningKind::UnknownTool, "the secret warning").into()),
        at(6, DomainEvent::SessionEnded),
    ];
    let without = serde_json::to_string(&requests(&said)).unwrap();
    assert!(!without.contains("secret"), "{without}");
    let with = serde_json::to_string(&requests_with_content(&said)).unwrap();
    for what in ["prompt", "answer", "error", "warning"] {
        assert!(with.contains(&format!("the secret {what}")), "{with}");
    }
    assert!(with.contains("The secret title"));
}

/// The first line of a log may be an invalid one, before its session is named.
#[test]
fn a_warning_before_the_session_does_not_change_its_trace() {
    let warning = at(1, Warning::new(WarningKind::Malformed, "no").into());
    let rest = [at(2, named("s")), at(3, prompt()), at(4, DomainEvent::SessionEnded)];
    let without = requests(&rest);
    let with = requests(&[&[warning][..], &rest[..]].concat());
    assert_eq!(records(&with)[0].get("traceId"), None);
    assert_eq!(spans(&with), spans(&without));
}

#[test]
fn a_cost_that_the_log_does_not_state_is_estimated() {
    let prices = r#"{"m": {"input_cost_per_token": 1e-03, "output_cost_per_token": 1e-02}}"#;
    let prices = Prices::read(prices).unwrap();
    let used = |cost_usd| {
        let usage = TokenUsage { input_tokens: Some(1_000), cost_usd, ..TokenUsage::default() };
        let at = Some(Timestamp::from_millis(5));
        DomainEvent::Usage {
            usage: Box::new(usage),
            model: Some("m".into()),
            message_id: None,
            timestamp: at,
        }
    };
    let events = [at(1, named("s")), at(2, prompt()), at(3, used(None)), at(4, used(Some(7.0)))];
    let emitter = per_session(|_| by_item(Otlp::default().with_prices(Cow::Owned(prices.clone()))));
    let requests = requests_of(emitter, &events);
    let of_turn = |span: &&&Value| span["name"] == "invoke_agent droid";
    let all = spans(&requests);
    let turn = all.iter().find(of_turn).unwrap();
    let cost = |name| attribute(turn, name).and_then(Value::as_f64);
    assert_eq!(cost("foldline.cost.usd"), Some(7.0));
    assert_eq!(cost("foldline.cost.estimated_usd"), Some(1.0));
    let of_basis = |basis: &str| {
        let metrics = metrics(&requests);
        let mut costs = metrics.into_iter().filter(|metric| metric["name"] == "foldline.cost");
        let is_of =
            |metric: &&Value| attribute(point(metric), "foldline.cost.basis").unwrap() == basis;
        point(costs.find(is_of).unwrap())["asDouble"].as_f64()
    };
    assert_eq!((of_basis("logged"), of_basis("estimated")), (Some(7.0), Some(1.0)));
    // Without prices, nothing is estimated.
    let requests = super::signals::requests(&events);
    let all = spans(&requests);
    let turn = all.iter().find(of_turn).unwrap();
    assert_eq!(attribute(turn, "foldline.cost.estimated_usd"), None);
}

/// The points of a session, each with its time in milliseconds since the beginning, its duration and its value.
fn points_of(temporality: Temporality) -> Vec<(i128, i128, f64)> {
    let used = |millis: i64, tokens: u64| DomainEvent::Usage {
        usage: Box::new(TokenUsage { input_tokens: Some(tokens), ..TokenUsage::default() }),
        model: Some("gpt-5".into()),
        message_id: None,
        timestamp: Some(Timestamp::from_millis(millis)),
    };
    let asked = |millis| {
        let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "hi");
        DomainEvent::entry(entry.at(Some(Timestamp::from_millis(millis))))
    };
    let events = [
        at(1, named("s")),
        at(2, asked(1_000)),
        at(3, used(2_000, 10)),
        at(4, asked(5_000)),
        at(5, used(7_000, 5)),
    ];
    let emitter = per_session(|_| by_item(Otlp::default().with_temporality(temporality)));
    let requests = requests_of(emitter, &events);
    let point = |metric: &&Value| {
        let point = point(metric);
        assert_eq!(attribute(point, "gen_ai.provider.name").unwrap(), "openai");
        assert_eq!(attribute(point, "gen_ai.conversation.id").unwrap(), "s");
        let (start, end) = (nanos(&point["startTimeUnixNano"]), nanos(&point["timeUnixNano"]));
        (end / 1_000_000, (end - start) / 1_000_000, point["sum"].as_f64().unwrap())
    };
    metrics(&requests).iter().map(point).collect()
}

/// A backend that takes the last point of a series has the whole, and one that adds increments finds no gap.
#[test]
fn points_count_all_since_the_beginning_or_join_without_a_gap() {
    let cumulative = points_of(Temporality::Cumulative);
    assert_eq!(cumulative, [(5_000, 4_000, 10.0), (7_000, 6_000, 15.0)]);
    let deltas = points_of(Temporality::Delta);
    assert_eq!(deltas, [(5_000, 4_000, 10.0), (7_000, 2_000, 5.0)]);
}
