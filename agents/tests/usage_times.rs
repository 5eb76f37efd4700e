//! Token usage has its time, if the log states it.

use std::collections::BTreeSet;

use foldline_agents::{
    Executor, ExecutorReducer, Registry, claude::ClaudeStream, codex::CodexRollout,
};
use foldline_domain::{DomainEvent, Timestamp};
use foldline_testkit::run;

fn times<E: Executor>(executor: E, log: &str) -> Vec<Option<i64>> {
    let events = run::sourced_events(&ExecutorReducer::new(executor), [log.as_bytes()]);
    let used = events.iter().filter(|event| event.item.name() == "usage");
    used.map(|event| event.item.timestamp().map(Timestamp::as_millis)).collect()
}

#[test]
fn each_turn_of_a_thread_has_its_own_time() {
    let count = |at: &str, total: u64| {
        format!(
            r#"{{"timestamp":"{at}","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total}}}}}}}}}"#
        )
    };
    let log = [count("1970-01-01T23:59:59.999Z", 10), count("1970-01-02T00:00:00.000Z", 30)];
    let day = 24 * 60 * 60 * 1000;
    assert_eq!(times(CodexRollout, &log.join("\n")), [Some(day - 1), Some(day)]);
}

#[test]
fn a_run_that_was_cut_used_its_tokens_until_its_last_message() {
    let log = r#"{"type":"assistant","timestamp":"1970-01-01T00:00:05Z","session_id":"s","parent_tool_use_id":null,"message":{"id":"m","model":"large","role":"assistant","content":[],"usage":{"input_tokens":7}}}
{"type":"system","subtype":"status","timestamp":"1970-01-01T00:01:00Z","session_id":"s"}"#;
    assert_eq!(times(ClaudeStream, log), [Some(5_000)]);
}

/// Lines with a time, in any format.
#[test]
fn no_log_with_times_has_usage_without() {
    let mut timed = BTreeSet::new();
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        for log in crate::replay::all_logs(format) {
            let text = std::fs::read_to_string(&log).unwrap();
            let events = crate::replay::replay(format, text.as_bytes());
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let is_timed = |line: &str| {
                line.contains(r#""timestamp":"2"#)
                    || line.contains(r#""timestamp":1"#)
                    || line.contains(r#""timestamp_ms":1"#)
            };
            if !lines.clone().all(is_timed) {
                continue;
            }
            for event in &events {
                if let DomainEvent::Usage { timestamp, .. } = event {
                    assert!(timestamp.is_some(), "{}: {event:?}", log.display());
                    timed.insert(format);
                }
            }
        }
    }
    assert!(timed.len() >= 3, "{timed:?}");
}
