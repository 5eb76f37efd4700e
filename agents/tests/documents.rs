//! Documents that agents write again are read as lines, which say what the documents say.

use std::{
    fs,
    path::{Path, PathBuf},
};

use foldline::processor::DEFAULT_MAX_LINE;
use foldline_agents::{DynExecutor, Registry};
use foldline_domain::Conversation;
use foldline_testkit::run;
use serde_json::{Value, json};

/// The lines of a file, as they are opened.
fn lines(path: &Path) -> Vec<u8> {
    let mut log = Registry::builtin().openers().open_regular(path).unwrap();
    let mut bytes = Vec::new();
    loop {
        match log.read().unwrap() {
            [] => return bytes,
            more => bytes.extend_from_slice(more),
        }
    }
}

fn written(folder: &Path, name: &str, document: &Value) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, serde_json::to_string_pretty(document).unwrap()).unwrap();
    path
}

fn conversation(format: &str, log: &[u8]) -> Conversation {
    let registry = Registry::builtin();
    let executor = registry.named(format).unwrap();
    let events = run::sourced_events(executor, [log]);
    events.iter().map(|event| &event.item).collect()
}

/// A session of Gemini CLI and a thread of Amp with this many answers.
fn documents(answers: usize) -> [(&'static str, &'static str, Value); 2] {
    let at = |number: usize| format!("2026-01-10T20:{number:02}:00.000Z");
    let gemini: Vec<_> = (0..answers)
        .flat_map(|n| {
            let tokens = json!({"input": 100, "output": 10, "cached": 0, "thoughts": 0, "tool": 0, "total": 110});
            let call = json!({"id": format!("c{n}"), "name": "run_shell_command", "args": {"command": "false"},
                "status": "error", "timestamp": at(n), "result": [], "resultDisplay": "exit 1"});
            [
                json!({"id": format!("u{n}"), "timestamp": at(n), "type": "user", "content": format!("question \"{n}\"")}),
                json!({"id": format!("g{n}"), "timestamp": at(n), "type": "gemini", "content": "an answer", "thoughts": [],
                    "model": "gemini-2.5-pro", "tokens": tokens, "toolCalls": [call]}),
            ]
        })
        .collect();
    let amp: Vec<_> = (0..answers)
        .map(|n| {
            let text = json!([{"type": "text", "text": format!("words {n}")}]);
            let usage = json!({"model": "m", "inputTokens": 5, "outputTokens": 7});
            json!({"role": "assistant", "messageId": n, "content": text, "usage": usage})
        })
        .collect();
    [
        (
            "gemini-session",
            "session-a.json",
            json!({"sessionId": "s", "projectHash": "p", "startTime": at(0), "lastUpdated": at(answers),
                "messages": gemini, "directories": ["/srv/ada"]}),
        ),
        (
            "amp-thread",
            "T-1.json",
            json!({"v": answers, "id": "T-1", "created": 1_780_000_000_000_u64, "agentMode": "smart",
                "messages": amp, "unheard_of": {"a": 1}}),
        ),
    ]
}

#[test]
fn a_document_says_the_same_as_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    for (format, name, document) in documents(3) {
        let path = written(folder.path(), name, &document);
        let lines = lines(&path);
        assert!(lines.iter().filter(|byte| **byte == b'\n').count() > 3, "{name}");
        let whole = conversation(format, &fs::read(&path).unwrap());
        assert_eq!(conversation(format, &lines), whole, "{name}");
    }
}

#[test]
fn captured_documents_say_the_same_as_their_lines() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let mut folders =
        ["captures", "captures-new", "captures-q4"].map(|name| captures.join(name)).to_vec();
    let mut compared = 0;
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let log = Registry::builtin().openers().open_regular(&path);
            if !log.is_ok_and(|log| log.is_document()) {
                continue;
            }
            let (whole, lines) = (fs::read(&path).unwrap(), lines(&path));
            let is_settings = path.to_string_lossy().ends_with(".settings.json");
            for format in ["gemini-session", "amp-thread", "opencode-session", "droid-settings"] {
                let said = conversation(format, &whole);
                let has_id =
                    said.summary.session.as_ref().is_some_and(|it| it.session_id.is_some());
                if has_id || (is_settings && format == "droid-settings") {
                    assert_eq!(conversation(format, &lines), said, "{format}: {}", path.display());
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 8 || !captures.exists(), "{compared}");
}

#[test]
fn a_document_in_memory_has_the_same_lines() {
    let folder = tempfile::tempdir().unwrap();
    let in_memory = |path: &Path, content: &[u8]| {
        let registry = Registry::builtin();
        let openers: Vec<_> = registry.iter().flat_map(DynExecutor::openers).collect();
        openers.into_iter().find_map(|opener| opener.lines(path, content))
    };
    for (_, name, document) in documents(9) {
        let path = written(folder.path(), name, &document);
        let content = fs::read(&path).unwrap();
        assert!(in_memory(&path, &content) == Some(lines(&path)), "{name}");
        assert_eq!(
            in_memory(Path::new("a.jsonl"), &content),
            None,
            "it is no document by its name"
        );
        // Damaged at its end.
        let damaged = &content[..content.len() - 9];
        assert!(in_memory(&path, damaged).is_none_or(|lines| lines == damaged));
    }
}

#[test]
fn a_document_that_has_grown_begins_with_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    for (few, many) in documents(2).iter().zip(documents(5)) {
        let before = lines(&written(folder.path(), few.1, &few.2));
        let after = lines(&written(folder.path(), few.1, &many.2));
        assert!(after.starts_with(&before) && after.len() > before.len(), "{}", few.1);
    }
}

#[test]
fn what_is_no_whole_document_is_read_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    for (_, name, document) in documents(3) {
        let whole = document.to_string();
        for text in
            [&whole[..whole.len() - 9], &format!("{whole}\n{whole}\n"), "{\"id\": \"T-\"}\n", "{"]
        {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            assert_eq!(String::from_utf8(lines(&path)).unwrap(), text);
        }
    }
}

#[test]
fn a_long_document_is_many_lines_and_a_long_text_is_shortened() {
    let folder = tempfile::tempdir().unwrap();
    let [(_, name, mut document), _] = documents(40);
    let messages = document["messages"].as_array_mut().unwrap();
    for message in &mut *messages {
        message["content"] = "x".repeat(500_000).into();
    }
    messages[7]["content"] = "y".repeat(20_000_000).into();
    let lines = lines(&written(folder.path(), name, &document));
    assert!(lines.split(|byte| *byte == b'\n').all(|line| line.len() < DEFAULT_MAX_LINE / 2));
    let said = conversation("gemini-session", &lines);
    assert_eq!(said.summary.usage.unwrap().input_tokens, Some(4000));
    assert_eq!(said.entries.iter().filter(|entry| entry.tool().is_some()).count(), 40);
}
