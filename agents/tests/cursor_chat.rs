//! Chats in Cursor's databases.

use std::{fs, path::Path};

use foldline_domain::{Conversation, Session};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::opened::{conversation, lines, number};

fn facts(said: &Conversation) -> Session {
    *said.summary.session.clone().unwrap()
}

fn texts(said: &Conversation, kind: &str) -> Vec<String> {
    let of_kind = said.entries.iter().filter(|entry| entry.entry_type.name() == kind);
    of_kind.map(|entry| entry.content.decode().into_owned()).collect()
}

/// The id of a blob, of which only its form matters.
fn id(number: u8) -> [u8; 32] {
    [number; 32]
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A field of a message of Protocol Buffers with bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).unwrap();
    assert!(length < 128);
    [&[number << 3 | 2, length], bytes].concat()
}

/// The store of a chat, whose messages are not in the order of its rows.
fn store(path: &Path) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    let tables = "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
                  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);";
    connection.execute_batch(tables).unwrap();
    let prompt = json!({"role": "user", "content": "<user_query>\nPick.\n</user_query>"});
    let withdrawn =
        json!({"role": "assistant", "content": [{"type": "text", "text": "Withdrawn."}]});
    let answer = json!({"role": "assistant", "content": [{"type": "text", "text": "Ok."}]});
    // Other fields, of every form, come before the message.
    let wrapped = [
        &[1 << 3, 200, 1, 2 << 3 | 1, 0, 0, 0, 0, 0, 0, 0, 0, 3 << 3 | 5, 0, 0, 0, 0][..],
        &field(4, answer.to_string().as_bytes()),
    ];
    let listed = [id(2), id(9), id(1)].map(|id| field(1, &id)).concat();
    let root = [listed, field(9, b"/srv/pens")].concat();
    for (blob, data) in [
        (id(1), wrapped.concat()),
        (id(2), prompt.to_string().into_bytes()),
        (id(3), withdrawn.to_string().into_bytes()),
        (id(4), root),
        (id(9), b"no message".to_vec()),
    ] {
        let sql = "INSERT INTO blobs VALUES (?1, ?2)";
        connection.execute(sql, (hexadecimal(&blob), data)).unwrap();
    }
    let meta = json!({"agentId": "c1", "latestRootBlobId": hexadecimal(&id(4)), "name": "New chat",
        "createdAt": 1_790_920_800_000_u64, "blobEncryptionKey": "hush"});
    let meta = hexadecimal(meta.to_string().as_bytes());
    connection.execute("INSERT INTO meta VALUES ('0', ?1)", [meta]).unwrap();
    connection
}

#[test]
fn a_store_is_the_messages_that_its_root_lists() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("chats/0a1b/c1/store.db");
    let connection = store(&path);
    let log = lines(&path);
    assert!(!log.contains("hush"));
    let chat = conversation("cursor-chat", &log);
    assert_eq!(texts(&chat, "user_message"), ["Pick."]);
    assert_eq!(texts(&chat, "assistant_message"), ["Ok."]);
    let Session { session_id, title, cwd, .. } = facts(&chat);
    assert_eq!(session_id.unwrap().as_str(), "c1");
    assert_eq!([title.unwrap(), cwd.unwrap()], ["New chat", "/srv/pens"]);
    // The file beside it states more, and is a part of its status.
    let status = || {
        let openers = foldline_agents::Registry::builtin().openers();
        openers.open_regular(&path).unwrap().status().unwrap().unwrap()
    };
    let before = status();
    let stated = json!({"title": "Pens", "cwd": "/srv/other", "hasConversation": true});
    fs::write(path.with_file_name("meta.json"), stated.to_string()).unwrap();
    assert!(status().size > before.size);
    let Session { title, cwd, .. } = facts(&conversation("cursor-chat", &lines(&path)));
    assert_eq!([title.unwrap(), cwd.unwrap()], ["Pens", "/srv/other"]);
    // A chat without a list has no messages.
    connection.execute("DELETE FROM blobs", ()).unwrap();
    assert_eq!(lines(&path).lines().count(), 1);
}

#[test]
fn the_transcript_of_a_chat_with_a_store_is_another_name_of_it() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("chats/0a1b/c1/store.db");
    let connection = store(&path);
    let transcripts = home.path().join("projects/srv-pens/agent-transcripts");
    let child = transcripts.join("p1/subagents/c1.jsonl");
    fs::create_dir_all(child.parent().unwrap()).unwrap();
    let said = json!({"role": "user", "message": {"content": "Pick."}});
    for path in [&child, &transcripts.join("c2.jsonl")] {
        fs::write(path, format!("{said}\n")).unwrap();
    }
    assert_eq!(lines(&child), lines(&path));
    assert_eq!(number(&child), number(&path));
    assert_eq!(lines(&transcripts.join("c2.jsonl")), format!("{said}\n"));
    // Only a transcript states the session of a sub-agent.
    fs::write(path.with_file_name("meta.json"), r#"{"isSubagent": true}"#).unwrap();
    let chat = conversation("cursor-chat", &lines(&path));
    assert_eq!(facts(&chat).parent_session_id().unwrap().as_str(), "p1");
    // A store without messages does not replace a transcript.
    connection.execute("DELETE FROM blobs", ()).unwrap();
    assert_eq!(lines(&child), format!("{said}\n"));
}

fn insert(connection: &Connection, table: &str, key: &str, value: &Value) {
    let sql = format!("INSERT INTO {table} VALUES (?1, ?2)");
    connection.execute(&sql, (key, value.to_string())).unwrap();
}

fn editor(path: &Path) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    let tables = "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB);
                  CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);";
    connection.execute_batch(tables).unwrap();
    connection
}

#[test]
fn a_chat_of_the_editor_has_the_order_of_its_list_and_the_folder_of_its_workspace() {
    let home = tempfile::tempdir().unwrap();
    let user = home.path().join("Cursor/User");
    let path = user.join("globalStorage/state.vscdb");
    let connection = editor(&path);
    let bubble = |number: u64, kind: u64, more: Value| {
        let mut bubble = json!({"bubbleId": format!("b{number}"), "type": kind, "lints": [],
            "createdAt": 1_790_921_000_000_u64 + number, "tokenCount": {"inputTokens": 0, "outputTokens": 0}});
        bubble.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        bubble
    };
    let call = json!({"toolCallId": "t1", "name": "run_terminal_cmd", "status": "completed",
        "rawArgs": "{\"command\":\"ls\"}", "result": "{\"output\":\"pen-1\",\"exitCodeV2\":0}"});
    let open = json!({"toolCallId": "t2", "name": "run_terminal_cmd", "status": "loading", "params": "{\"command\":\"wait\"}"});
    let counted = json!({"rawText": "Picked.", "tokenCount": {"inputTokens": 70, "outputTokens": 7},
        "createdAt": null, "timingInfo": {"clientStartTime": 1_790_921_000_009.5}});
    let bubbles = [
        bubble(1, 1, json!({"text": "Pick.", "workspaceProjectDir": "/srv/first"})),
        bubble(2, 2, json!({"allThinkingBlocks": [{"text": "hm"}], "toolFormerData": call})),
        bubble(3, 2, counted),
        bubble(4, 2, json!({"toolFormerData": open})),
        bubble(5, 2, json!({"text": "Taken back."})),
        bubble(6, 1, json!({"text": "More.", "toolFormerData": {"additionalData": {}}})),
    ];
    let composer = |id: &str, listed: &[u64], more: Value| {
        let listed: Vec<_> = listed
            .iter()
            .map(|number| json!({"bubbleId": format!("b{number}"), "type": 1}))
            .collect();
        let mut composer =
            json!({"composerId": id, "name": id, "fullConversationHeadersOnly": listed});
        composer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        insert(&connection, "cursorDiskKV", &format!("composerData:{id}"), &composer);
        for bubble in &bubbles {
            let key = format!("bubbleId:{id}:{}", bubble["bubbleId"].as_str().unwrap());
            insert(&connection, "cursorDiskKV", &key, bubble);
        }
    };
    let workspace = json!({"workspaceIdentifier": {"uri": {"fsPath": "/srv/named"}}});
    // Such ids are those of sub-agents.
    composer("c1\nfc_1", &[1, 2, 4, 3, 6, 8], workspace);
    composer("c2", &[1], json!({}));
    composer("c3", &[1], json!({}));
    composer("c4", &[], json!({}));
    composer("c5", &[], json!({"conversation": [{"type": 1, "bubbleId": "b1", "text": "Old."}]}));
    connection.execute("INSERT INTO cursorDiskKV VALUES ('composerData:c6', NULL)", ()).unwrap();
    let folder = user.join("workspaceStorage/0a1b");
    let older = editor(&folder.join("state.vscdb"));
    let all = json!({"allComposers": [{"composerId": "c2"}], "selectedComposerIds": ["c9"]});
    insert(&older, "ItemTable", "composer.composerData", &all);
    fs::write(folder.join("workspace.json"), r#"{"folder": "file:///srv/the%20pens"}"#).unwrap();
    let log = lines(&path);
    let chat = |id: &str| {
        let of_it =
            log.lines().filter(|line| line.contains(&format!("\"cursorChat\":{}", json!(id))));
        conversation("cursor-chat", &of_it.map(|line| format!("{line}\n")).collect::<String>())
    };
    let whole = chat("c1\nfc_1");
    assert_eq!(texts(&whole, "user_message"), ["Pick.", "More."]);
    assert_eq!(texts(&whole, "assistant_message"), ["Picked."]);
    assert_eq!(texts(&whole, "thinking"), ["hm"]);
    let tools = whole.entries.iter().filter_map(|entry| entry.tool());
    let calls: Vec<_> = tools.map(|tool| (tool.status.name(), tool.action_type.name())).collect();
    assert_eq!(calls, [("success", "command_run"), ("unfinished", "command_run")]);
    let usage = whole.summary.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(70), Some(7)));
    let counted = whole.entries.iter().find(|entry| entry.content == "Picked.").unwrap();
    assert_eq!(counted.timestamp.unwrap().as_millis(), 1_790_921_000_009);
    // The call that is open.
    assert_eq!(whole.summary.warnings.len(), 1);
    assert_eq!(facts(&whole).cwd.unwrap(), "/srv/named");
    assert_eq!(facts(&chat("c2")).cwd.unwrap(), "/srv/the pens");
    assert_eq!(facts(&chat("c3")).cwd.unwrap(), "/srv/first");
    assert_eq!(texts(&chat("c5"), "user_message"), ["Old."]);
    // Chats without messages, and unknown tokens, are nothing.
    assert!(!log.contains("\"c4\"") && !log.contains("\"c6\""));
    assert_eq!(chat("c2").summary.usage, None);
}
