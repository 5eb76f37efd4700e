//! What a report about a log states that the events of the log do not.

use foldline::{
    processor::{Finished, Processor},
    transduce::*,
};
use foldline_agents::{DiagnosticReducer, DynExecutor, ExaminedState, Records, Registry, Sessions};
use foldline_domain::{drift::SchemaDrift, *};

use crate::captures;

fn executor(format: &str) -> DynExecutor {
    Registry::builtin().named(format).cloned().unwrap()
}

/// The types of the ignored records with their counts, and the kinds of the findings with their lines.
type Report = (Vec<(String, u64)>, Vec<(WarningKind, u64)>);

fn examine(format: &str, log: &str) -> Report {
    let examining = DiagnosticReducer::new(executor(format));
    let mut processor = Processor::new(Records, Transducer::new(examining, SchemaDrift::default()));
    processor.push(log.as_bytes(), |never| match never {});
    let Finished { state, emitter, .. } = processor.finish(|never| match never {});
    let ignored = state.ignored().by_type().map(|(name, count)| (name.to_owned(), count)).collect();
    let findings = emitter.findings().map(|(kind, _, finding)| (kind, finding.first_line));
    (ignored, findings.collect())
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_call","id":"{id}","toolName":"Read","parameters":{{}}}}"#) + "\n"
}

fn result(id: &str, body: &str) -> String {
    format!(r#"{{"type":"tool_result","id":"{id}","isError":false,"value":"{body}"}}"#) + "\n"
}

#[test]
fn a_result_without_a_call_is_found_at_its_own_line() {
    let words = r#"{"type":"message","role":"user","id":"1","text":"hi"}"#.to_owned() + "\n";
    let log = [words.clone(), result("a", ""), words.clone(), words.clone()].concat();
    assert_eq!(examine("droid", &log).1, [(WarningKind::UnclaimedResult, 2)]);
    // A result that a call claims is no finding, and does not hide a later one.
    let log = [result("a", ""), result("b", ""), call("a"), result("c", ""), words].concat();
    assert_eq!(examine("droid", &log).1, [(WarningKind::UnclaimedResult, 2)]);
    let log = [result("a", ""), call("a"), result("b", ""), call("c"), result("c", "")].concat();
    assert_eq!(examine("droid", &log).1, [(WarningKind::UnclaimedResult, 3)]);
}

#[test]
fn a_result_that_had_to_make_room_is_found_at_its_own_line() {
    let long = "x".repeat(5 << 20);
    let log = [call("other"), result("a", &long), result("b", &long), result("other", "")];
    let log = log.concat() + &call("b");
    assert_eq!(examine("droid", &log).1, [(WarningKind::UnclaimedResult, 2)]);
}

#[test]
fn each_of_several_sessions_has_its_results() {
    let of = |session: &str, record: String| {
        record.replacen('{', &format!(r#"{{"session_id":"{session}","#), 1)
    };
    let log = [
        of("one", result("a", "")),
        of("two", result("b", "")),
        of("one", call("a")),
        of("one", result("c", "")),
        of("two", call("d")),
        of("two", result("d", "")),
        of("one", call("c")),
    ];
    assert_eq!(examine("droid", &log.concat()).1, [(WarningKind::UnclaimedResult, 2)]);
}

#[test]
fn records_that_are_ignored_on_purpose_are_counted_by_type() {
    let count = |format: &str, log: &str| examine(format, log).0;
    let of = |types: &[(&str, u64)]| -> Vec<_> {
        types.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    let log = concat!(
        r#"{"type":"queue-operation","operation":"enqueue","sessionId":"a"}"#,
        "\n",
        r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#,
        "\n",
        r#"{"type":"file-history-snapshot","messageId":"n","snapshot":{}}"#,
        "\n",
        r#"{"type":"custom-title","customTitle":"t","sessionId":"a"}"#,
        "\n",
        r#"{"type":"brand-new","sessionId":"a"}"#,
        "\n",
        r#"{"type":"system","subtype":"turn_duration","durationMs":1,"uuid":"u","sessionId":"a"}"#,
        "\n",
        "no record\n",
    );
    let expected =
        [("file-history-snapshot", 2), ("queue-operation", 1), ("system/turn_duration", 1)];
    assert_eq!(count("claude-session", log), of(&expected));
    let reasoning =
        r#"{"type":"response_item","payload":{"type":"reasoning","summary":[SUMMARY]}}"#;
    let said = reasoning.replace("SUMMARY", r#"{"type":"summary_text","text":"So."}"#);
    let log = [reasoning.replace("SUMMARY", ""), said].join("\n");
    assert_eq!(count("codex-rollout", &log), of(&[("response_item/reasoning", 1)]));
    // A line of standard error within the log is shown.
    assert_eq!(count("droid", r#"{"type":"stderr","text":"oh"}"#), of(&[]));
}

/// Everything that a report counts as ignored is ignored, and the report reads what every other verb reads.
#[test]
fn a_report_changes_no_event_and_what_it_ignores_has_no_entry() {
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        for path in captures::of(format).into_iter().chain(captures::fixtures(format)) {
            let log = std::fs::read(&path).unwrap();
            let keep = || emit_fn(|event: &Located<DomainEvent>| Batch::one(event.clone()));
            let mut expected = Vec::new();
            let sessions = Sessions::new(executor.clone());
            let mut processor = Processor::new(Records, Transducer::new(sessions, keep()));
            processor.push(&log, |event| expected.push(event));
            processor.finish(|event| expected.push(event));

            let mut events = Vec::new();
            let examining = DiagnosticReducer::new(executor.clone());
            let mut processor = Processor::new(Records, Transducer::new(examining, keep()));
            for line in log.split_inclusive(|byte| *byte == b'\n') {
                let count = |state: &ExaminedState| state.ignored().count();
                let (ignored, before) = (count(processor.transducer().state()), events.len());
                let read = processor.counts().records;
                processor.push(line, |event| events.push(event));
                let ignored = count(processor.transducer().state()) - ignored;
                if ignored > 0 && processor.counts().records - read == ignored {
                    for event in &events[before..] {
                        let is_shown = matches!(
                            event.item,
                            DomainEvent::NewEntry { .. }
                                | DomainEvent::OpenEntry { .. }
                                | DomainEvent::GrowEntry { .. }
                                | DomainEvent::NewToolCall { .. }
                                | DomainEvent::UpdateToolCall { .. }
                                | DomainEvent::Usage { .. }
                        );
                        assert!(!is_shown, "{path:?}: {event:?}");
                    }
                }
            }
            processor.finish(|event| events.push(event));
            assert_eq!(events.len(), expected.len(), "{path:?}");
            for (event, expected) in events.iter().zip(&expected) {
                assert_eq!((&event.item, event.session), (&expected.item, expected.session));
                let is_moved = matches!(
                    &event.item,
                    DomainEvent::Warning(warning) if warning.kind == WarningKind::UnclaimedResult
                );
                assert!(is_moved || event.position == expected.position, "{path:?}: {event:?}");
            }
        }
    }
}

#[test]
fn a_record_that_states_what_the_agent_may_do_is_not_ignored() {
    let mode = r#"{"type":"permission-mode","permissionMode":"plan","sessionId":"a"}"#;
    let other = r#"{"type":"mode","mode":"normal","sessionId":"a"}"#;
    let (ignored, findings) = examine("claude-session", &format!("{mode}\n{other}\n"));
    assert_eq!((ignored, findings), (vec![("mode".to_owned(), 1)], vec![]));
}
