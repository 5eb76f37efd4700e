//! The settings files of Droid's sessions, from bytes to the conversation.

use std::path::Path;

use foldline::transduce::Reducer;
use foldline_agents::{Registry, wire::Record};
use foldline_domain::{DomainEvent, Timestamp, TokenUsage, WarningKind};

use crate::replay::{Replay, check_laws, fixture, replay, survives_any_value};

const FORMAT: &str = "droid-settings";

fn settings(name: &str) -> Replay {
    // A record may span several lines; here it is one.
    let file = String::from_utf8(fixture(FORMAT, name)).unwrap();
    Replay::of(FORMAT, file.replace("\n ", "").replace("\n}", "}").as_bytes())
}

#[test]
fn every_log_obeys_the_laws() {
    crate::replay::all_logs(FORMAT).iter().for_each(|log| check_laws(FORMAT, log));
}

#[test]
fn any_value_in_any_place_is_survived() {
    survives_any_value(FORMAT, FORMAT);
}

#[test]
fn settings_state_the_tokens_of_a_session() {
    let log = settings("session");
    let used = TokenUsage {
        input_tokens: Some(405),
        output_tokens: Some(20),
        cache_read_tokens: Some(300),
        cache_write_tokens: Some(5),
        reasoning_tokens: Some(8),
        ..TokenUsage::default()
    };
    assert_eq!(log.usage(), used);
    let session = log.session();
    assert_eq!((session.model, session.provider), (Some("small-1".into()), Some("openai".into())));
    assert_eq!(session.duration_ms, Some(27_000));
    assert!(log.conversation.summary.warnings.is_empty());
}

#[test]
fn the_name_of_the_file_says_which_session_it_is_of() {
    let executor = Registry::builtin().named(FORMAT).cloned().unwrap();
    let facts = |name: &str| {
        let executor = executor.of_file(Path::new(name), &|_| None);
        let mut events = Vec::new();
        let file = r#"{"model":"m","autonomyMode":"normal","tokenUsage":{"outputTokens":1}}"#;
        Record::read(file, |_, record| {
            events.extend(executor.reduce(executor.init(), record).1);
        });
        let (mut session, mut tokens) = (None, None);
        for event in events {
            match event {
                DomainEvent::Session(facts) => session = facts.session_id.or(session),
                DomainEvent::Usage { message_id, .. } => tokens = message_id,
                _ => {}
            }
        }
        (session.map(|id| id.as_str().to_owned()), tokens.map(|id| id.to_string()))
    };
    let both = (Some("s-1".to_owned()), Some("s-1.settings.json".to_owned()));
    assert_eq!(facts("s-1.settings.json"), both);
    assert_eq!(facts("settings.json"), (None, None));
    assert_eq!(facts("-"), (None, None));
}

/// Totals have the latest possible time.
#[test]
fn the_tokens_of_several_days_are_those_of_the_last_message() {
    let executor = Registry::builtin().named(FORMAT).cloned().unwrap();
    let log = r#"{"type":"session_start","id":"s-1"}
{"type":"message","id":"1","timestamp":"2026-09-20T08:00:00.000Z","message":{}}
{"type":"message","id":"2","timestamp":"2026-09-22T08:00:00.000Z","message":{}}
{"type":"todo_state","id":"3"}
{"type":"mess"#;
    let used_at = |has_log: bool| {
        let is_log = |path: &Path| has_log && path == Path::new("/p/s-1.jsonl");
        let beside = |path: &Path| is_log(path).then(|| log.to_owned());
        let executor = executor.of_file(Path::new("/p/s-1.settings.json"), &beside);
        let file = r#"{"model":"m","autonomyMode":"normal","providerLockTimestamp":"2026-09-20T08:00:00.000Z","tokenUsage":{"outputTokens":1}}"#;
        let mut events = Vec::new();
        Record::read(file, |_, record| {
            events.extend(executor.reduce(executor.init(), record).1);
        });
        events.iter().find_map(|event| match event {
            DomainEvent::Usage { timestamp, .. } => *timestamp,
            _ => None,
        })
    };
    let day = |day: i64| Some(Timestamp::from_millis((day * 24 + 8) * 60 * 60 * 1000));
    // 20 and 22 September 2026.
    assert_eq!((used_at(false), used_at(true)), (day(20_716), day(20_718)));
}

#[test]
fn nothing_odd_is_lost() {
    let log = settings("oddities");
    let document = serde_json::to_string(&log.events).unwrap();
    for part in ["bright", "dusk", "many", "favorites"] {
        assert!(document.contains(part), "{part}");
    }
    assert_eq!(log.warnings(WarningKind::UnknownField), 3);
    assert!(!replay(FORMAT, b"").iter().any(|event| matches!(event, DomainEvent::Usage { .. })));
}
