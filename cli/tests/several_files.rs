//! Sessions that an agent keeps in several files are stored once, and read again when any of the files changes.

use std::fs;

use serde_json::{Value, json};

use crate::first_hour::Home;

/// The agents of all sessions, with the input tokens and the number of tool calls.
fn sessions(home: &Home) -> Vec<(String, u64, u64)> {
    let rows = home.json(&["sessions"]);
    let row = |row: &Value| {
        let number = |name: &str| row[name].as_u64().unwrap_or_default();
        (row["agent"].as_str().unwrap().to_owned(), number("input_tokens"), number("calls"))
    };
    let mut rows: Vec<_> = rows.as_array().unwrap().iter().map(row).collect();
    rows.sort();
    rows
}

#[test]
fn a_session_in_several_files_is_stored_once() {
    let home = Home::empty();
    let [task, grok] = [".cline/data/tasks/1780000000000", ".grok/sessions/%2Fsrv/01a2"]
        .map(|it| home.path().join(it));
    fs::create_dir_all(&task).unwrap();
    fs::create_dir_all(&grok).unwrap();
    let request = json!({"tokensIn": 5, "tokensOut": 1}).to_string();
    let shown = json!([{"ts": 1_780_000_000_000_u64, "type": "say", "say": "task", "text": "Mend it."},
        {"ts": 1_780_000_000_001_u64, "type": "say", "say": "api_req_started", "text": request}]);
    fs::write(task.join("ui_messages.json"), shown.to_string()).unwrap();
    fs::write(task.join("task_metadata.json"), "{}").unwrap();
    let mut messages = vec![json!({"role": "user", "content": "<task>\nMend it.\n</task>"})];
    let write = |messages: &[Value]| {
        let file = task.join("api_conversation_history.json");
        fs::write(file, Value::from(messages.to_vec()).to_string()).unwrap();
    };
    write(&messages);
    let prompt =
        json!({"type": "user", "content": [{"type": "text", "text": "Pick."}], "prompt_index": 0});
    fs::write(grok.join("chat_history.jsonl"), format!("{prompt}\n")).unwrap();
    fs::write(grok.join("summary.json"), r#"{"info": {"id": "01a2", "cwd": "/srv"}}"#).unwrap();
    assert_eq!(sessions(&home), [("cline".to_owned(), 5, 0), ("grok".to_owned(), 0, 0)]);

    let call = json!([{"type": "tool_use", "id": "c1", "name": "execute_command", "input": {"command": "ls"}}]);
    messages.push(json!({"role": "assistant", "content": call}));
    write(&messages);
    let turn = json!({"timestamp": 1_780_000_009, "params": {"update": {"sessionUpdate": "turn_completed",
        "prompt_id": "p", "usage": {"inputTokens": 70, "outputTokens": 2}}}});
    fs::write(grok.join("updates.jsonl"), format!("{turn}\n")).unwrap();
    assert_eq!(sessions(&home), [("cline".to_owned(), 5, 1), ("grok".to_owned(), 70, 0)]);
}
