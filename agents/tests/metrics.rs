//! The values of the metrics, and a check by Prometheus's own tool.

use foldline::{processor::Processor, transduce::Transducer};
use foldline_agents::{ExecutorReducer, Records, droid::Droid};
use foldline_domain::{
    ActionType, CorrId, DomainEvent, Located, NormalizedEntry, NormalizedEntryType, Outcome,
    Position, Session, SessionKey, Text, TokenUsage, ToolStatus, ToolUse, locating,
    metrics::{MAX_MODELS, MAX_TOOLS, Metrics},
};

const LOG: &str = r#"{"type":"system","subtype":"init","cwd":"/p","session_id":"s1","tools":["Read"],"model":"m-1"}
{"type":"message","role":"user","id":"u1","text":"Do it.","timestamp":1000,"session_id":"s1"}
{"type":"tool_call","id":"c1","messageId":"a1","toolName":"Read","parameters":{"file_path":"/p/a"},"timestamp":2000,"session_id":"s1"}
{"type":"tool_call","id":"c2","messageId":"a1","toolName":"Execute","parameters":{"command":"make"},"timestamp":2000,"session_id":"s1"}
{"type":"tool_call","id":"c3","messageId":"a1","toolName":"Say \"hi\"\\\n","parameters":{},"timestamp":2000,"session_id":"s1"}

{"type":"tool_result","id":"c1","messageId":"r1","isError":false,"value":"text","timestamp":2010,"session_id":"s1"}
{"type":"tool_result","id":"c2","messageId":"r2","isError":true,"value":"no\n\n\n[Process exited with code 2]","timestamp":92000,"session_id":"s1"}
{"type":"later","session_id":"s1"}
{"type":"message","role":"assis
{"type":"completion","finalText":"Done.","numTurns":1,"durationMs":90000,"usage":{"input_tokens":100,"output_tokens":20,"cache_read_input_tokens":300,"cache_creation_input_tokens":50,"thinking_tokens":5},"timestamp":93000,"session_id":"s1"}
"#;

fn metrics_of(log: &str) -> Metrics {
    let mut metrics = Metrics::default();
    read(log, &mut metrics);
    metrics
}

fn read(log: &str, metrics: &mut Metrics) {
    let executor = ExecutorReducer::new(Droid);
    let mut processor = Processor::new(Records, Transducer::new(locating(executor), metrics));
    processor.push(log.as_bytes(), |never| match never {});
    let foldline::processor::Finished { counts, emitter: metrics, .. } =
        processor.finish(|never| match never {});
    metrics.add_read(counts.into());
}

/// The value of a series, which is named as rendered.
fn value(text: &str, series: &str) -> Option<f64> {
    let line =
        text.lines().find(|line| line.strip_prefix(series).is_some_and(|v| v.starts_with(' ')));
    line?[series.len() + 1..].parse().ok()
}

#[test]
fn a_log_is_counted() {
    let text = metrics_of(LOG).render();
    let chat =
        r#"gen_ai_operation_name="chat",gen_ai_agent_name="droid",gen_ai_request_model="m-1""#;
    let tool = |tool: &str| {
        format!(
            r#"gen_ai_operation_name="execute_tool",gen_ai_agent_name="droid",gen_ai_tool_name="{tool}""#
        )
    };
    let read = tool("Read");
    let execute = format!(r#"{},error_type="failed""#, tool("Execute"));
    let duration = "gen_ai_execute_tool_duration_seconds";
    let expected = [
        (format!(r#"gen_ai_client_token_usage_total{{{chat},gen_ai_token_type="input"}}"#), 450.0),
        (format!(r#"gen_ai_client_token_usage_total{{{chat},gen_ai_token_type="output"}}"#), 20.0),
        (format!("gen_ai_usage_cache_read_input_tokens_total{{{chat}}}"), 300.0),
        (format!("gen_ai_usage_cache_creation_input_tokens_total{{{chat}}}"), 50.0),
        (format!("gen_ai_usage_reasoning_output_tokens_total{{{chat}}}"), 5.0),
        (format!("{duration}_count{{{read}}}"), 1.0),
        (format!("{duration}_sum{{{read}}}"), 0.01),
        (format!(r#"{duration}_bucket{{le="0.01",{read}}}"#), 1.0),
        (format!(r#"{duration}_bucket{{le="+Inf",{read}}}"#), 1.0),
        (format!("{duration}_sum{{{execute}}}"), 90.0),
        (format!(r#"{duration}_bucket{{le="81.92",{execute}}}"#), 0.0),
        (format!(r#"{duration}_bucket{{le="+Inf",{execute}}}"#), 1.0),
        (r#"foldline_tool_calls_total{gen_ai_agent_name="droid",gen_ai_tool_name="Execute",status="failed"}"#.into(), 1.0),
        (r#"foldline_tool_calls_total{gen_ai_agent_name="droid",gen_ai_tool_name="Say \"hi\"\\\n",status="unfinished"}"#.into(), 1.0),
        ("foldline_tool_calls_open".into(), 0.0),
        (r#"foldline_entries_total{type="tool_use"}"#.into(), 3.0),
        (r#"foldline_entries_total{type="user_message"}"#.into(), 1.0),
        (r#"foldline_sessions_total{gen_ai_agent_name="droid",outcome="success"}"#.into(), 1.0),
        (r#"foldline_warnings_total{kind="malformed"}"#.into(), 1.0),
        (r#"foldline_warnings_total{kind="unknown_event"}"#.into(), 1.0),
        (r#"foldline_warnings_total{kind="unfinished_call"}"#.into(), 1.0),
        ("foldline_lines_total".into(), 11.0),
        ("foldline_lines_blank_total".into(), 1.0),
        ("foldline_records_total".into(), 10.0),
    ];
    for (series, expected) in expected {
        assert_eq!(value(&text, &series), Some(expected), "{series} in\n{text}");
    }
}

#[test]
fn several_logs_add_up() {
    let mut twice = metrics_of(LOG);
    read(LOG, &mut twice);
    let once = metrics_of(LOG).render();
    for (once, twice) in once.lines().zip(twice.render().lines()) {
        let number = |line: &str| line.rsplit(' ').next().unwrap().parse::<f64>().ok();
        if once.starts_with('#') {
            assert_eq!(once, twice);
        } else {
            assert_eq!(number(once).map(|n| n * 2.0), number(twice), "{once}");
        }
    }
}

fn in_session(key: u32, event: DomainEvent) -> Located<DomainEvent> {
    Located::new(Position::default(), event).in_session(SessionKey(key))
}

fn state_in(metrics: &mut Metrics, key: u32, outcome: Option<Outcome>) {
    let session = Session { outcome, ..Session::default() };
    metrics.count(&in_session(key, DomainEvent::Session(Box::new(session))));
}

#[test]
fn sessions_are_counted_when_they_end() {
    let mut metrics = Metrics::default();
    state_in(&mut metrics, 0, None);
    state_in(&mut metrics, 0, Some(Outcome::Failed));
    state_in(&mut metrics, 0, Some(Outcome::Success));
    state_in(&mut metrics, 1, Some(Outcome::Cancelled));
    let sessions = |metrics: &Metrics| {
        metrics.agents.get("").map(|agent| agent.sessions.clone()).unwrap_or_default()
    };
    // The log may return to the first session: none has ended until this is stated or the log ends.
    assert_eq!(sessions(&metrics), [].into());
    metrics.count(&in_session(1, DomainEvent::SessionEnded));
    assert_eq!(sessions(&metrics), [("cancelled".into(), 1)].into());
    state_in(&mut metrics, 0, None);
    metrics.end_log();
    assert_eq!(sessions(&metrics), [("cancelled".into(), 1), ("success".into(), 1)].into());
    metrics.end_log();
    assert_eq!(sessions(&metrics).len(), 2, "an ended session does not end again");
}

#[test]
fn labels_stay_bounded_whatever_the_log_says() {
    let mut metrics = Metrics::default();
    for number in 0..1000 {
        let corr_id = CorrId::from(format!("c{number}"));
        let session = Session {
            session_id: Some(format!("s{number}").as_str().into()),
            ..Session::default()
        };
        metrics.count(&in_session(number, DomainEvent::Session(Box::new(session))));
        let usage =
            TokenUsage { input_tokens: Some(1), cost_usd: Some(0.5), ..TokenUsage::default() };
        let model = Some(Text::from(format!("model-{number}")));
        let usage =
            DomainEvent::Usage { usage: Box::new(usage), model, message_id: None, timestamp: None };
        metrics.count(&in_session(number, usage));
        let action = ActionType::FileRead { path: "a".into(), result: None };
        let mut tool = ToolUse::new(format!("tool-{number}"), action);
        tool.status = ToolStatus::Success;
        let entry = NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "a");
        let call = DomainEvent::NewToolCall { corr_id, entry: entry.into() };
        metrics.count(&in_session(number, call));
    }
    let text = metrics.render();
    let count = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!(count("gen_ai_client_token_usage_total{"), MAX_MODELS + 1);
    assert_eq!(count("foldline_tool_calls_total{"), MAX_TOOLS + 1);
    let rest = (1000 - MAX_MODELS) as f64;
    let other = r#"foldline_cost_usd_total{gen_ai_request_model="other",basis="logged"}"#;
    assert_eq!(value(&text, other), Some(rest / 2.0));
    assert!(!text.contains("c999") && !text.contains("s999"), "no label names a call or a session");
}

#[test]
fn logged_and_estimated_costs_have_a_series_each() {
    let mut metrics = Metrics::default();
    let usage = TokenUsage { cost_usd: Some(0.5), ..TokenUsage::default() };
    metrics.add_usage("a", "m", &usage);
    for usd in [0.25, f64::NAN, -1.0, f64::INFINITY, 0.5] {
        metrics.add_estimated_cost("a", "m", usd);
    }
    let mut sum = metrics.clone();
    sum.add(&metrics);
    let text = sum.render();
    for (basis, usd) in [("logged", 1.0), ("estimated", 1.5)] {
        let series = format!(
            r#"foldline_cost_usd_total{{gen_ai_agent_name="a",gen_ai_request_model="m",basis="{basis}"}}"#
        );
        assert_eq!(value(&text, &series), Some(usd), "{text}");
    }
}

#[test]
fn metrics_are_a_value_that_can_be_stored() {
    let mut metrics = metrics_of(LOG);
    metrics.add_estimated_cost("droid", "m-1", 0.25);
    let stored = serde_json::to_string(&metrics).unwrap();
    assert_eq!(serde_json::from_str::<Metrics>(&stored).unwrap(), metrics);
}
