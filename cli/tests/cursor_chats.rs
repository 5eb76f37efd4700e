//! A chat of Cursor's editor, and its transcript, are one session.

use std::fs;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::first_hour::Home;

const CHAT: &str = "0f0f0f0f-1111-4111-8111-000000000001";

/// Writes a chat into the database of the editor.
fn write_chat(home: &Home, editor: &str) {
    let folder = home.path().join(editor);
    fs::create_dir_all(&folder).unwrap();
    let database = Connection::open(folder.join("state.vscdb")).unwrap();
    database.execute_batch("CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY, value BLOB)").unwrap();
    let put = |key: String, value: Value| {
        let sql = "INSERT INTO cursorDiskKV VALUES (?1, ?2)";
        database.execute(sql, (key, value.to_string())).unwrap();
    };
    let order = json!([{"bubbleId": "b1", "type": 1}, {"bubbleId": "b2", "type": 2}]);
    let composer = json!({"composerId": CHAT, "name": "Harvest of plums", "createdAt": 1_780_000_000_000_u64,
        "fullConversationHeadersOnly": order, "modelConfig": {"modelName": "large-1"}});
    put(format!("composerData:{CHAT}"), composer);
    let bubble = |kind: u8, text: &str| json!({"type": kind, "text": text, "createdAt": 1_780_000_000_000_u64});
    put(format!("bubbleId:{CHAT}:b1"), bubble(1, "Pick the plums"));
    let call = json!({"name": "read_file", "toolCallId": "t1", "status": "completed",
                      "rawArgs": "{\"target_file\":\"/w/plums\"}", "result": "\"blue\""});
    let mut answer = bubble(2, "Picked.");
    answer["toolFormerData"] = call;
    put(format!("bubbleId:{CHAT}:b2"), answer);
}

/// Writes the transcript of the chat, and that of a sub-agent of it.
fn write_transcripts(home: &Home) {
    let folder = home.path().join(".cursor/projects/w/agent-transcripts").join(CHAT);
    fs::create_dir_all(folder.join("subagents")).unwrap();
    let said = |role: &str, block: Value| {
        json!({"role": role, "message": {"content": [block]}}).to_string()
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let call = json!({"type": "tool_use", "name": "Read", "input": {"path": "/w/plums"}});
    let lines = [
        said("user", text("Pick the plums")),
        said("assistant", call),
        said("assistant", text("Picked.")),
    ];
    fs::write(folder.join(CHAT).with_extension("jsonl"), lines.join("\n") + "\n").unwrap();
    let child = [said("user", text("Count the plums")), said("assistant", text("Nine plums."))];
    fs::write(folder.join("subagents/c1.jsonl"), child.join("\n") + "\n").unwrap();
}

#[cfg(not(any(target_os = "macos", windows)))]
#[test]
fn a_chat_and_its_transcript_are_one_session() {
    const EDITOR: &str = ".config/Cursor/User/globalStorage";
    for chat_is_first in [true, false] {
        let home = Home::empty();
        let list = |home: &Home| home.json(&["sessions"]).as_array().unwrap().clone();
        if chat_is_first {
            write_chat(&home, EDITOR);
            assert_eq!(list(&home).len(), 1);
            write_transcripts(&home);
        } else {
            write_transcripts(&home);
            // Alone, a transcript is a session like any other.
            let alone = list(&home);
            assert_eq!((alone.len(), &alone[0]["title"]), (1, &"Pick the plums".into()));
            write_chat(&home, EDITOR);
        }
        let sessions = list(&home);
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        let session = &sessions[0];
        assert_eq!(session["title"], "Harvest of plums");
        assert_eq!((&session["calls"], &session["agents"]), (&1.into(), &1.into()));
        let found = home.json(&["search", "plums"]);
        let texts: Vec<_> =
            found.as_array().unwrap().iter().map(|hit| hit["session_id"].clone()).collect();
        assert_eq!(texts.iter().filter(|id| **id == CHAT).count(), 2, "{found}");
        let shown = home.ask(&["show", CHAT]);
        assert!(shown.contains("Harvest of plums") || shown.contains("Picked."), "{shown}");
        home.ask(&["forget", CHAT, "--dry-run"]);
        assert!(home.ask(&["check"]).contains("sound: "));
    }
}
