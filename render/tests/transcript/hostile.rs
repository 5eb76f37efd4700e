//! Only rows of text and this program's colours are printed, regardless of the log.

use foldline::transduce::*;
use foldline_domain::DomainEvent;
use foldline_render::transcript::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

/// What can be in any string of a log.
fn wild() -> impl Strategy<Value = String> {
    let parts = [
        "\x1b[2J",
        "\x1b[31m",
        "\x1b]0;t\x07",
        "\x1bP",
        "\u{9b}5A",
        "\r",
        "\n",
        "\t",
        "\x08",
        "\0",
        "\x7f",
        "\u{202e}",
        "\u{2066}",
        "\u{200d}",
        "\u{fe0f}",
        "👩",
        "中文",
        "e\u{301}",
        "```\n",
        "- ",
        "word ",
        "\"",
        "\\",
        "{",
        "@@ -1 +1 @@\n",
        "+a\n",
    ];
    let part = prop_oneof![
        4 => prop::sample::select(parts.map(str::to_owned).to_vec()),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-z]{1,40}",
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

/// Every kind of call, with `a` and `b` in all string fields.
fn actions(a: &str, b: &str) -> Vec<Value> {
    let text = json!({"type": "text", "value": b});
    let data = json!({"type": "json", "value": {a: [b, 1]}});
    let changes = json!([
        {"action": "edit", "path": a, "unified_diff": b, "has_line_numbers": false},
        {"action": "write", "path": b, "content": a},
        {"action": "delete", "path": a},
        {"action": "rename", "path": a, "new_path": b},
    ]);
    let todos = json!([{"content": a, "status": b}]);
    let exit = json!({"exit_status": {"type": "exit_code", "code": 1}, "output": b});
    vec![
        json!({"action": "file_read", "path": a, "result": text}),
        json!({"action": "file_edit", "path": a, "changes": changes, "result": text}),
        json!({"action": "command_run", "command": a, "result": exit}),
        json!({"action": "search", "query": a, "result": data}),
        json!({"action": "web_fetch", "url": a, "result": text}),
        json!({"action": "todo_management", "todos": todos, "operation": b}),
        json!({"action": "task_create", "description": a, "prompt": b, "subagent_type": b, "result": text}),
        json!({"action": "plan_presentation", "plan": a, "result": text}),
        json!({"action": "question", "questions": [a, b], "result": text}),
        json!({"action": "tool", "tool_name": a, "arguments": {a: b}, "result": data}),
    ]
}

/// Every kind of event, in the same way.
fn events(a: &str, b: &str) -> Vec<DomainEvent> {
    let said = |what: Value| json!({"timestamp": null, "entry_type": what, "content": a, "metadata": {"parentCorrId": b}});
    let mut events = vec![
        ("session", json!({"session_id": a, "agent": b, "version": a, "model": b, "title": a})),
        ("session", json!({"reasoning_effort": a, "cwd": b, "parent_session_id": b})),
        ("warning", json!({"kind": "unknown_field", "message": a})),
        ("usage", json!({"usage": {"input_tokens": 5}, "model": a})),
        ("new_entry", json!({"entry": said(json!({"type": "diagnostic", "code": "malformed"}))})),
        ("session", json!({"model": a, "title": b})),
    ];
    for who in ["user_message", "assistant_message", "system_message", "error_message", "thinking"]
    {
        events.push(("new_entry", json!({"entry": said(json!({"type": who}))})));
    }
    let mut statuses =
        ["success", "failed", "cancelled", "unfinished"].map(|s| json!({"status": s})).to_vec();
    statuses.push(json!({"status": "denied", "reason": a}));
    for (action, status) in actions(a, b).iter().flat_map(|a| statuses.iter().map(move |s| (a, s)))
    {
        let call = |status: &Value| {
            let tool = json!({"type": "tool_use", "tool_name": b, "action_type": action, "status": status});
            json!({"corr_id": a, "entry": said(tool)})
        };
        events.push(("new_tool_call", call(&json!({"status": "created"}))));
        events.push(("update_tool_call", call(&json!({"status": "pending_approval"}))));
        events.push(("update_tool_call", call(status)));
        // Again for an unknown call, and for a call that stays open.
        events.push(("update_tool_call", call(status)));
        events.push(("new_tool_call", call(&json!({"status": "created"}))));
    }
    events.push(("session", json!({"outcome": "failed", "outcome_reason": a})));
    events.into_iter().map(read).collect()
}

/// Reads an event from its JSON form; raw JSON cannot be read from a `Value`.
fn read((name, data): (&str, Value)) -> DomainEvent {
    serde_json::from_str(&format!(r#"{{"event":"{name}","data":{data}}}"#)).unwrap()
}

fn print(events: &[DomainEvent], style: TranscriptStyle) -> String {
    let mut transcript = Transcript::new(style);
    let mut texts: Vec<_> = events.iter().flat_map(|event| transcript.emit(event)).collect();
    texts.extend(transcript.finish());
    texts.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn only_text_and_our_colours_come_out(a in wild(), b in wild(), width in 0usize..120) {
        let events = events(&a, &b);
        let plain = print(&events, TranscriptStyle::new(width));
        for row in plain.split('\n') {
            prop_assert!(!row.contains(char::is_control), "{:?}", row);
            prop_assert!(!row.contains(['\u{202e}', '\u{2066}']), "{:?}", row);
            prop_assert!(row.width() <= width.max(20), "{:?}", row);
        }
        let mut stripped = print(&events, TranscriptStyle::new(width).with_color(true));
        // Bold, faint and italic; red, green, yellow, blue and cyan; and the end of each.
        for code in [0, 1, 2, 3, 31, 32, 33, 34, 36] {
            stripped = stripped.replace(&format!("\x1b[{code}m"), "");
        }
        prop_assert!(stripped == plain, "{}\n---\n{}", stripped, plain);
    }
}

#[test]
fn the_state_does_not_grow_with_the_conversation() {
    let call = |id: u64, status: &str| {
        let name = if status == "created" { "new_tool_call" } else { "update_tool_call" };
        let action = json!({"action": "command_run", "command": "ls"});
        let tool = json!({"type": "tool_use", "tool_name": "Bash", "action_type": action, "status": {"status": status}});
        let entry =
            json!({"timestamp": null, "entry_type": tool, "content": "ls", "metadata": null});
        read((name, json!({"corr_id": format!("call_{id}"), "entry": entry})))
    };
    let mut transcript = Transcript::new(TranscriptStyle::new(80));
    let mut remembered = Vec::new();
    for id in 0..2_000 {
        let _ = transcript.emit(&call(id, "created"));
        let _ = transcript.emit(&call(id, "success"));
        if id == 0 || id == 1_999 {
            let numbers = |c: char| c.is_ascii_digit();
            remembered.push(format!("{transcript:?}").replace(numbers, ""));
        }
    }
    assert_eq!(remembered[0], remembered[1]);
}

/// A to-do list that is one text of many lines is truncated like any other text.
#[test]
fn a_long_todo_is_cut() {
    let todos = json!([{"content": "again\n".repeat(1000), "status": "pending"}]);
    let action = json!({"action": "todo_management", "todos": todos, "operation": "write"});
    let tool = json!({"type": "tool_use", "tool_name": "TodoWrite", "action_type": action, "status": {"status": "success"}});
    let entry = json!({"timestamp": null, "entry_type": tool, "content": "", "metadata": null});
    let event = |name, status: &str| {
        let mut entry = entry.clone();
        entry["entry_type"]["status"] = json!({"status": status});
        read((name, json!({"corr_id": "c", "entry": entry})))
    };
    let events = [event("new_tool_call", "created"), event("update_tool_call", "success")];
    let short = print(&events, TranscriptStyle::new(80));
    assert_eq!(short.matches("again").count(), 40, "{short}");
    assert!(short.contains("… 960 more lines"), "{short}");
    let whole = print(&events, TranscriptStyle::new(80).with_full(true));
    assert_eq!(whole.matches("again").count(), 1000, "{whole}");
}
