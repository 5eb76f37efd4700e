//! Chats of Visual Studio Code, of which the journal is read as the document that it makes.

use std::{fs, path::Path};

use foldline_agents::Registry;
use foldline_domain::{Conversation, Session};
use serde_json::{Value, json};

use crate::opened::{self, lines};

fn conversation(path: &Path) -> Conversation {
    opened::conversation_at("copilot-chat", path)
}

fn journal(changes: &[Value]) -> String {
    changes.iter().map(|change| format!("{change}\n")).collect()
}

/// The changes of a chat with one request.
fn changes() -> Vec<Value> {
    let rounds = json!([{"id": "r1", "response": "I dig.", "toolCalls":
        [{"id": "t1", "name": "run_in_terminal", "arguments": "{\"command\":\"dig\"}"}]}]);
    let results = json!({"t1": {"content": [{"value": "a hole"}]}});
    let metadata = json!({"resolvedModel": "large-1", "promptTokens": 50, "outputTokens": 7,
        "toolCallRounds": rounds, "toolCallResults": results});
    let request = json!({"requestId": "q1", "message": {"text": "Dig."}, "response": [], "timestamp": 1_780_000_000_000_u64});
    vec![
        json!({"kind": 0, "v": {"version": 3, "sessionId": "s1", "requests": [], "inputState": {"a": 1}}}),
        json!({"kind": 2, "k": ["requests"], "v": [{"requestId": "q0", "message": {"text": "Withdrawn."}}, request]}),
        json!({"kind": 2, "k": ["requests", 1, "response"], "v": [{"value": "I d"}]}),
        json!({"kind": 2, "k": ["requests", 1, "response"], "i": 0, "v": [{"value": "I dig."}]}),
        json!({"kind": 1, "k": ["requests", 1, "result"], "v": {"metadata": metadata}}),
        json!({"kind": 3, "k": ["requests", 0]}),
        json!({"kind": 1, "k": ["customTitle"], "v": "Holes"}),
        json!({"kind": 3, "k": ["inputState"]}),
    ]
}

#[test]
fn a_journal_and_its_transcript_are_one_chat() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("Code/User/workspaceStorage/0a1b");
    let (chats, transcripts) =
        (workspace.join("chatSessions"), workspace.join("GitHub.copilot-chat/transcripts"));
    fs::create_dir_all(&chats).unwrap();
    fs::create_dir_all(&transcripts).unwrap();
    fs::write(workspace.join("workspace.json"), r#"{"folder": "file:///srv/my%20garden"}"#)
        .unwrap();
    let chat = chats.join("s1.jsonl");
    fs::write(&chat, journal(&changes())).unwrap();
    fs::write(chats.join("s1.json"), r#"{"version": 2, "sessionId": "s1", "requests": []}"#)
        .unwrap();
    let transcript = transcripts.join("s1.jsonl");
    let start = r#"{"type":"session.start","data":{"sessionId":"s1"},"id":"1","timestamp":"2026-01-01T00:00:00Z","parentId":null}"#;
    fs::write(&transcript, start).unwrap();

    for path in [&chat, &chats.join("s1.json"), &transcript] {
        let log = Registry::builtin().openers().open_regular(path).unwrap();
        let of_chat = Registry::builtin().openers().open_regular(&chat).unwrap();
        assert_eq!(log.status().unwrap().unwrap().inode, of_chat.status().unwrap().unwrap().inode);
        let said = conversation(path);
        let Session { session_id, title, cwd, model, .. } = *said.summary.session.clone().unwrap();
        assert_eq!(session_id.unwrap().as_str(), "s1");
        let facts = [title, cwd, model].map(|fact| fact.unwrap().decode().into_owned());
        assert_eq!(facts, ["Holes", "/srv/my garden", "large-1"]);
        let usage = said.summary.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (Some(50), Some(7)));
        let words: Vec<_> =
            said.entries.iter().map(|entry| entry.content.decode().into_owned()).collect();
        assert_eq!(words, ["model: large-1", "Dig.", "I dig.", "dig"]);
    }
    // Without its chat, a transcript is a log of Copilot's CLI.
    fs::remove_dir_all(&chats).unwrap();
    assert_eq!(lines(&transcript), start);
}

#[test]
fn a_chat_is_the_same_as_a_journal_and_as_a_document() {
    let folder = tempfile::tempdir().unwrap();
    let chats = folder.path().join("emptyWindowChatSessions");
    fs::create_dir(&chats).unwrap();
    let document = json!({"version": 3, "sessionId": "s2", "responderUsername": "GitHub Copilot",
        "requests": [{"requestId": "q1", "message": {"text": "Dig."}}]});
    let (journal_path, document_path) = (chats.join("a.jsonl"), folder.path().join("b.json"));
    fs::write(&journal_path, journal(&[json!({"kind": 0, "v": document})])).unwrap();
    fs::write(&document_path, serde_json::to_string_pretty(&document).unwrap()).unwrap();
    assert_eq!(lines(&journal_path), lines(&document_path));
}

#[test]
fn the_rest_of_a_journal_that_cannot_be_read_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chatSessions/s1.jsonl");
    fs::create_dir(path.parent().unwrap()).unwrap();
    let whole = journal(&changes()[..1]);
    for rest in [
        "{\"kind\":1,\"k\":[\"custom",
        "{\"kind\":9,\"k\":[\"a\"]}\nmore\n",
        "{\"kind\":1,\"k\":[\"requests\",7,\"a\"],\"v\":1}\n",
        "{\"kind\":3,\"k\":[\"requests\",7]}\n",
        "{\"kind\":2,\"k\":[]}\n",
    ] {
        fs::write(&path, format!("{whole}{rest}")).unwrap();
        let lines = lines(&path);
        assert!(
            lines.starts_with("{\"copilotChat\":{\"sessionId\":\"s1\",\"version\":3}}\n"),
            "{lines}"
        );
        assert!(lines.ends_with(rest), "{lines}");
    }
    fs::write(&path, "no journal").unwrap();
    assert_eq!(lines(&path), "no journal");
}
