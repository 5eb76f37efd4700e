//! Text after a NUL, where strings of C end, is found and shown like any other.

use std::fs;

use serde_json::{Value, json};

use crate::logs::stdout;

#[test]
fn text_after_a_nul_is_found_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let records = [
        json!({"type": "system", "subtype": "init", "cwd": "/repo", "model": "m"}),
        json!({"type": "message", "role": "user", "id": "u", "text": "\0Repair the\0 lexer of zebras"}),
        json!({"type": "tool_call", "id": "c", "messageId": "m", "toolId": "Execute",
               "toolName": "Execute", "parameters": {"command": "cat \0 walrus"}}),
        json!({"type": "tool_result", "id": "c", "messageId": "x", "toolId": "Execute",
               "isError": true, "value": "out\0 giraffe"}),
        json!({"type": "message", "role": "assistant", "id": "a", "text": "one\0 elephant\0语言 end"}),
    ];
    let mut log = String::new();
    for (at, mut record) in (1_760_000_000_000_u64..).zip(records) {
        record["session_id"] = "s".into();
        record["timestamp"] = at.into();
        log += &format!("{record}\n");
    }
    fs::write(path("log.jsonl"), log).unwrap();
    let db = path("db");
    stdout(&["ingest", &path("log.jsonl"), "--db", &db]);
    let rows = |arguments: &[&str]| -> Vec<Value> {
        let answer = stdout(&[arguments, &["-f", "json", "--db", &db]].concat());
        serde_json::from_str(&answer).unwrap()
    };
    // Whole words, parts of words, and a script without spaces.
    for text in
        ["zebras", "ebra", "walrus", "alru", "giraffe", "iraff", "elephant", "ephan", "语言"]
    {
        let found = rows(&["search", text]);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0]["snippet"].as_str().unwrap().contains(text), "{text}: {found:?}");
        assert_eq!(found[0]["title"], "\0Repair the\0 lexer of zebras");
    }
    let failures = rows(&["errors"]);
    assert_eq!(failures[0]["message"], "out\0 giraffe");
    // A session is also named by a part of its title.
    assert!(stdout(&["show", "of zebras", "--db", &db]).contains("elephant"));
}
