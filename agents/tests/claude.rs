//! The two Claude Code executors: properties of every log, on fixtures and on captured logs if available. The modules
//! test single fixtures.

mod cost_state;
mod session;
mod stream;
mod support;

use std::{collections::BTreeSet, path::Path};

use foldline::transduce::Reducer;
use foldline_agents::Registry;
use foldline_domain::{Conversation, DomainEvent, WarningKind};
use support::{captures, fixtures, lines, reduce_line, replay, replay_lines};

const FORMATS: [&str; 2] = ["claude-stream", "claude-session"];

/// Runs a check on every log of both formats.
fn on_every_log(check: impl Fn(&str, &Path)) {
    for format in FORMATS {
        let fixtures = fixtures(format);
        assert!(!fixtures.is_empty());
        for log in fixtures.into_iter().chain(captures(format)) {
            check(format, &log);
        }
    }
}

#[test]
fn the_same_log_gives_the_same_events_however_often_it_is_interrupted() {
    on_every_log(|format, log| {
        let whole = replay(format, log);
        assert_eq!(whole, replay(format, log), "{}", log.display());
        let executor = Registry::builtin().named(format).cloned().unwrap();
        let mut state = executor.init();
        let mut events = Vec::new();
        for line in lines(log) {
            let (next, more) = reduce_line(&executor, state, &line);
            events.extend(more);
            let stored = serde_json::to_string(&next).unwrap();
            state = executor.restore(&stored).unwrap();
            assert_eq!(state, next, "{}", log.display());
        }
        events.extend(executor.finish(state).1);
        assert_eq!(events, whole, "{}", log.display());
    });
}

#[test]
fn every_call_begins_once_and_ends_once() {
    on_every_log(|format, log| assert_balanced(&replay(format, log), log));
}

#[test]
fn a_log_may_be_cut_anywhere() {
    for format in FORMATS {
        for log in fixtures(format) {
            let lines = lines(&log);
            for end in 0..lines.len() {
                assert_balanced(&replay_lines(format, &lines[..end]), &log);
            }
        }
    }
}

#[test]
fn lines_may_be_doubled_missing_or_in_any_order() {
    for format in FORMATS {
        for log in fixtures(format) {
            let lines = lines(&log);
            let doubled: Vec<_> =
                lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
            assert_balanced(&replay_lines(format, &doubled), &log);
            let twice = [lines.clone(), lines.clone()].concat();
            assert_balanced(&replay_lines(format, &twice), &log);
            let backwards: Vec<_> = lines.iter().rev().cloned().collect();
            assert_balanced(&replay_lines(format, &backwards), &log);
            for left_out in 0..lines.len() {
                let mut holed = lines.clone();
                holed.remove(left_out);
                assert_balanced(&replay_lines(format, &holed), &log);
            }
        }
    }
}

#[test]
fn another_formats_log_is_read_without_harm() {
    for (format, other) in [(FORMATS[0], FORMATS[1]), (FORMATS[1], FORMATS[0])] {
        for log in fixtures(other) {
            assert_balanced(&replay(format, &log), &log);
        }
    }
}

fn assert_balanced(events: &[DomainEvent], log: &Path) {
    let log = log.display();
    let (mut open, mut ended, mut texts) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut used = BTreeSet::new();
    for event in events {
        match event {
            DomainEvent::NewToolCall { corr_id, entry } => {
                assert!(!entry.tool().unwrap().status.is_final(), "{log}: {corr_id}");
                assert!(open.insert(corr_id), "{log}: {corr_id} is called twice");
            }
            DomainEvent::UpdateToolCall { corr_id, entry } => {
                assert!(open.contains(corr_id), "{log}: {corr_id} is updated before its call");
                assert!(!ended.contains(corr_id), "{log}: {corr_id} is updated after its end");
                if entry.tool().unwrap().status.is_final() {
                    ended.insert(corr_id);
                }
            }
            DomainEvent::OpenEntry { corr_id, .. } => {
                assert!(used.insert(corr_id), "{log}: {corr_id} is opened twice");
                texts.insert(corr_id);
            }
            DomainEvent::GrowEntry { corr_id, .. } => {
                assert!(texts.contains(corr_id), "{log}: {corr_id} grows, and is not open");
            }
            DomainEvent::CloseEntry { corr_id, .. } => {
                assert!(texts.remove(corr_id), "{log}: {corr_id} is closed, and is not open");
            }
            _ => {}
        }
    }
    assert_eq!(open, ended, "{log}");
    assert!(texts.is_empty(), "{log}: {texts:?}");
}

#[test]
fn nothing_in_a_captured_log_is_unknown() {
    let strange = [
        WarningKind::UnknownEvent,
        WarningKind::UnknownField,
        WarningKind::UnknownBlock,
        WarningKind::UnknownTool,
        WarningKind::ForeignRecord,
        WarningKind::UnexpectedValue,
        WarningKind::DuplicateCall,
        WarningKind::DuplicateResult,
        WarningKind::UnclaimedResult,
        WarningKind::InferredResult,
        WarningKind::UnknownCorrelation,
    ];
    for format in FORMATS {
        for log in captures(format) {
            let events = replay(format, &log);
            for event in &events {
                if let DomainEvent::Warning(warning) = event {
                    assert!(!strange.contains(&warning.kind), "{}: {warning:?}", log.display());
                }
            }
        }
    }
}

#[test]
fn no_entry_carries_encoded_bytes() {
    on_every_log(|format, log| {
        let conversation: Conversation = replay(format, log).iter().collect();
        for entry in &conversation.entries {
            let json = serde_json::to_string(entry).unwrap();
            assert!(!json.contains(r#""type":"base64""#), "{}: {json}", log.display());
        }
    });
}
