//! Irregular lines.

use foldline_domain::{ActionType, DomainEvent, Position, WarningKind};
use serde_json::Value;

use super::{calls, conversation, entries, events, extra, results, session, warnings};

#[test]
fn lines_for_people_are_kept_and_counted() {
    let conversation = conversation("plain_text");
    assert_eq!(
        entries(&conversation),
        [
            "system_message: Checking for updates...",
            "system_message: Warning: 2 droids are outdated",
            "diagnostic: [WARN] {not json}",
            "diagnostic: null",
            "diagnostic: [\"a\", 1]",
            "assistant_message: Fine.",
        ]
    );
    assert_eq!(
        warnings(&conversation),
        [
            (WarningKind::Malformed, 1),
            (WarningKind::PlainText, 2),
            (WarningKind::UnexpectedValue, 2)
        ]
    );
}

#[test]
fn blank_lines_carriage_returns_and_a_byte_order_mark_are_nothing() {
    let conversation = conversation("line_ends");
    assert_eq!(entries(&conversation), ["user_message: one", "assistant_message: two\r\n"]);
    assert_eq!(warnings(&conversation), []);
    let events = events("line_ends");
    assert_eq!(events[0].position, Position { line: 1, offset: 3 });
    assert_eq!(events.last().unwrap().position.line, 7, "blank lines count as lines");
}

#[test]
fn records_on_one_line_are_told_apart() {
    let conversation = conversation("glued_records");
    let said = ["one", "two", "three", "four", "five"];
    let entries = entries(&conversation);
    let messages = entries.iter().filter_map(|entry| entry.split_once("_message: "));
    assert!(messages.map(|(_, text)| text).eq(said), "{entries:?}");
    assert!(entries[2].starts_with("diagnostic: {\"type\":\"message\""), "{entries:?}");
    assert_eq!(warnings(&conversation), [(WarningKind::Malformed, 1)]);
}

#[test]
fn what_no_release_has_is_kept_counted_and_named() {
    let conversation = conversation("unknown_things");
    let entries = entries(&conversation);
    for part in [r#""type":"mission_step""#, r#""title":"Look around""#] {
        assert!(entries[0].contains(part), "{}", entries[0]);
    }
    assert!(entries[1].contains(r#""subtype":"compaction""#), "{}", entries[1]);
    assert_eq!(extra(&conversation.entries[3], "mood"), Some(r#"{"level":2}"#));
    let (call, tool) = calls(&conversation)[0];
    assert_eq!(extra(call, "riskScore"), Some("0.7"));
    assert_eq!(extra(call, "cacheHit"), Some("false"));
    assert_eq!(tool.action_type.result_text(), Some(r#"{"arrived":true}"#.into()));
    assert_eq!(extra(&conversation.entries[5], "role"), Some(r#""narrator""#));
    let named: Vec<_> = events("unknown_things")
        .into_iter()
        .filter_map(|event| match event.item {
            DomainEvent::Warning(warning) => warning.subject,
            _ => None,
        })
        .collect();
    // An object without a type has no name.
    assert_eq!(
        named,
        [
            "mission_step",
            "system/compaction",
            "message.mood",
            "tool_call.riskScore",
            "Teleport",
            "tool_result.cacheHit"
        ]
    );
}

#[test]
fn half_a_character_becomes_a_replacement_character() {
    let conversation = conversation("lone_surrogates");
    assert_eq!(conversation.entries[1].content, "half \u{FFFD} and whole 😀");
    assert_eq!(results(&conversation), ["call_\u{FFFD}=success:\u{FFFD}"]);
    let ActionType::Tool { arguments: Some(arguments), .. } =
        &calls(&conversation)[0].1.action_type
    else {
        panic!()
    };
    let arguments: Value = serde_json::from_str(arguments.get()).unwrap();
    assert_eq!(arguments["half"], "\u{FFFD}");
    assert_eq!(arguments["key \u{FFFD}"], 1);
}

#[test]
fn numbers_beyond_every_integer_are_kept_or_reported() {
    let conversation = conversation("large_numbers");
    let ActionType::Tool { arguments: Some(arguments), .. } =
        &calls(&conversation)[0].1.action_type
    else {
        panic!()
    };
    let text: String = serde_json::from_str(arguments.get()).unwrap();
    for number in ["18446744073709551617", "3.14159265358979323846264338327950288", "1e999"] {
        assert!(text.contains(number), "{text}");
    }
    assert_eq!(results(&conversation), ["call_1=success:18446744073709551617"]);
    assert_eq!(session(&conversation).turns, None, "not a number of turns");
    assert_eq!(session(&conversation).duration_ms, Some(250), "a number spelt as a string");
    assert_eq!(conversation.summary.usage.unwrap().input_tokens, Some(7));
    assert_eq!(warnings(&conversation), [(WarningKind::UnknownField, 2)]);
}
