//! What the tools answer.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use super::{
    client::{Client, database, next, quoted},
    logs::write_logs,
};
use crate::readme::copy;

/// The sessions that come with the repository.
fn examples() -> (tempfile::TempDir, Client) {
    let home = tempfile::tempdir().unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/home"), home.path());
    let client = Client::at_home(home.path());
    (home, client)
}

#[test]
fn one_call_says_what_failed_and_how_it_was_fixed() {
    let (_home, mut client) = examples();
    let failures = client.text("failures", &json!({ "text": "CARGO TEST", "since": "2026-11-20" }));
    for line in [
        "7505c804:3 2026-11-24 09:00 failed, exit 101",
        "> Bash: cargo test greeting",
        "> test greeting ... FAILED",
        "> assertion `left == right` failed",
        "A similar command succeeded later: 7505c804:7 2026-11-24 09:00",
        "> cargo test",
        "Changed at 7505c804:6",
        "> src/lib.rs (+1 -1)",
        "Between: get_session {\"from\":3,\"session\":\"7505c804\",\"to\":7}",
    ] {
        assert!(failures.lines().any(|it| it == line), "{line}:\n{failures}");
    }
    let between = client.text("get_session", &json!({ "from": 3, "session": "7505c804", "to": 7 }));
    assert!(
        between.contains("> -    format!(\"Hello, {}!\", name.unwrap_or_default())"),
        "{between}"
    );
    assert!(between.contains("7505c804:7 2026-11-24 09:00 call success, 13.0 s"), "{between}");
    let nothing = client.text("failures", &json!({ "text": "cargo test", "until": "2026-11-20" }));
    assert!(nothing.starts_with("Nothing failed"), "{nothing}");
}

#[test]
fn every_tool_cites_what_get_session_reads() {
    let (_home, mut client) = examples();
    let found = client.text("search_sessions", &json!({ "text": "\"missing name\"" }));
    assert!(found.contains("7505c804:8 2026-11-24 09:00 assistant message"), "{found}");
    assert!(found.contains("«missing name»"), "{found}");
    let around = client.text("get_session", &json!({ "session": "7505c804:8" }));
    assert!(around.contains("7505c804:5 ") && around.contains("\n7505c804:8 "), "{around}");
    let said = client.text("get_session", &json!({ "session": "7505c804", "only": ["prompts"] }));
    assert!(said.contains("7505c804:0 ") && said.contains("Not shown: 8 entries"), "{said}");
    let touched = client.text("files_touched", &json!({ "path": "src/lib.rs", "changed": true }));
    assert!(touched.contains("7505c804 2026-11-24 09:00 edit, 1 call"), "{touched}");
    let files = client.text("files_touched", &json!({}));
    assert!(files.contains("/greeter/src/main.rs\n"), "{files}");
    let usage = client.text("usage", &json!({ "by": ["agent"] }));
    assert!(usage.contains("total: 2 sessions, 115.6k input, 970 output"), "{usage}");
    let recent = client.text("recent_sessions", &json!({ "agent": "codex" }));
    assert_eq!(quoted(&recent).len(), 1, "{recent}");
}

#[test]
fn the_last_session_is_a_prompt_and_a_document() {
    let (_home, mut client) = examples();
    let prompt = client.request("prompts/get", &json!({ "name": "last_time" }));
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.starts_with("What did we do here last time?"), "{text}");
    // The logs were written a moment ago, so that all of them seem to be running.
    assert!(text.contains("b41f0c57:0 "), "{text}");
    let listed = client.request("resources/list", &json!({}))["resources"].take();
    let uris: Vec<_> =
        listed.as_array().unwrap().iter().map(|it| it["uri"].as_str().unwrap()).collect();
    assert_eq!(uris.len(), 3);
    assert!(uris.contains(&"foldline://session/7505c804"), "{uris:?}");
    let read = client.request("resources/read", &json!({ "uri": "foldline://session/7505c804" }));
    let document = &read["contents"][0];
    assert_eq!(document["mimeType"], "text/markdown");
    let text = document["text"].as_str().unwrap();
    assert!(quoted(text).contains(&"# Greeting test fixed"), "{text}");
    assert!(text.contains("**12 tests** pass") && !text.contains("Left out"), "{text}");
}

/// All pages of an answer, as it names them.
fn pages(client: &mut Client, tool: &str, arguments: &Value) -> Vec<String> {
    let mut pages = vec![client.text(tool, arguments)];
    while let Some((tool, arguments)) = next(pages.last().unwrap()) {
        pages.push(client.text(&tool, &arguments));
        assert!(pages.len() < 500, "it does not end: {:?}", pages.last());
    }
    pages
}

#[test]
fn what_is_left_out_is_in_the_next_answer() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    write_logs(&logs, 12, 6);
    let mut client = Client::of(&database(&logs));
    let big = 20_000;
    for (tool, mut arguments) in [
        ("recent_sessions", json!({})),
        ("search_sessions", json!({ "text": "problem" })),
        ("failures", json!({})),
        ("files_touched", json!({})),
        ("files_touched", json!({ "path": "new.txt" })),
        ("usage", json!({ "by": ["session"] })),
        ("get_session", json!({ "session": "session-3", "from": 0 })),
    ] {
        arguments["max_tokens"] = big.into();
        let whole = pages(&mut client, tool, &arguments);
        arguments["max_tokens"] = 200.into();
        let small = pages(&mut client, tool, &arguments);
        assert!(whole.len() == 1 && small.len() > 1, "{tool}: {} {}", whole.len(), small.len());
        // The lines that cite or count something, each once.
        let heads = |pages: &[String]| -> Vec<String> {
            let lines = pages.iter().flat_map(|page| page.lines());
            let is_head = |line: &&str| {
                !line.starts_with('>')
                    && line.starts_with(|c: char| c.is_alphanumeric())
                    && ![
                        "Lines that",
                        "Not shown",
                        "Left out",
                        "total",
                        "output:",
                        "session-3,",
                        "No later",
                    ]
                    .iter()
                    .any(|it| line.starts_with(it))
            };
            lines.filter(is_head).map(str::to_owned).collect()
        };
        let (one, many) = (heads(&whole), heads(&small));
        assert!(one.len() > 5, "{tool}: {one:?}");
        let missing: Vec<_> = one.iter().filter(|line| !many.contains(line)).collect();
        // A block that is larger than the budget is cut.
        assert!(missing.len() * 10 <= one.len(), "{tool}: {missing:#?}");
        let distinct: BTreeSet<_> = many.iter().collect();
        if tool != "usage" && tool != "files_touched" {
            let repeated = many.len() - distinct.len();
            assert!(repeated * 10 <= many.len(), "{tool}: {many:#?}");
        }
    }
}

#[test]
fn a_long_text_is_read_to_its_end_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    let text: Vec<String> =
        (0..400).map(|line| format!("line {line} of 確認 {}", "x".repeat(line % 90))).collect();
    let text = text.join("\n");
    let lines = [
        json!({"type": "system", "subtype": "init", "cwd": "/repo", "session_id": "long-text"}),
        json!({"type": "message", "role": "user", "id": "u", "text": text, "session_id": "long-text"}),
        json!({"type": "message", "role": "user", "id": "v", "text": "more", "session_id": "long-text"}),
    ];
    fs::write(logs.join("a.jsonl"), lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let mut client = Client::of(&database(&logs));
    let session = client
        .text("get_session", &json!({ "session": "long-text", "from": 0, "max_tokens": 1_000 }));
    assert!(session.contains("characters are left out"), "{session}");
    let first = json!({ "session": "long-text", "from": 0, "to": 0, "max_tokens": 3_000 });
    let parts = pages(&mut client, "get_session", &first);
    assert!(parts.len() > 3, "{}", parts.len());
    let mut whole = String::new();
    for part in &parts {
        // The first quoted line is the title of the session.
        let lines = quoted(part);
        whole += &lines[1..].join("\n");
        let shown =
            part.lines().last().and_then(|line| line.split(' ').nth(3)?.parse::<usize>().ok());
        if shown.is_some_and(|shown| shown > whole.chars().count()) {
            whole.push('\n');
        }
    }
    assert!(whole == text, "{whole}");
}

#[test]
fn a_question_in_words_finds_the_entries_with_some_of_them() {
    let (_home, mut client) = examples();
    let found =
        client.text("search_sessions", &json!({ "text": "how to fix the flaky greetings" }));
    let head = "Relaxed: entries with some of the words, in any form; left out how to the; nowhere: \"flaky\".\n";
    assert!(found.contains(head), "{found}");
    assert!(found.contains("«greeting»") && !found.contains("«the»"), "{found}");
    // A prompt has what was answered in the end.
    assert!(found.contains("7505c804:0 2026-11-24 09:00 user message\n"), "{found}");
    assert!(found.contains("Answered in 7505c804:8\n> The default for a missing name"), "{found}");
    let near = client.text("search_sessions", &json!({ "text": "chagnelog" }));
    assert!(near.contains("asked for \"chagnelog\", near word \"changelog\""), "{near}");
    assert!(near.contains("«changelog»"), "{near}");
    // A call has its title and its output.
    let called = client.text("search_sessions", &json!({ "text": "which command runs tests" }));
    assert!(called.contains("Bash | cargo test greeting\n"), "{called}");
    // What is in no entry is said to be in none.
    for text in ["flaky quokka", "flaky"] {
        let nothing = client.text("search_sessions", &json!({ "text": text }));
        assert!(nothing.starts_with("Nothing was found"), "{nothing}");
    }
}

#[test]
fn a_session_is_an_outline_before_its_entries() {
    let (_home, mut client) = examples();
    let outline = client.text("get_session", &json!({ "session": "7505c804" }));
    for part in [
        "First prompt 7505c804:0\n> The greeting test fails since yesterday.",
        "1 failure, the latest:\n7505c804:3\n> Bash: cargo test greeting: ",
        "1 changed file\n> src/lib.rs +1 -1\n",
        "Last answer\n> The default for a missing name was lost",
    ] {
        assert!(outline.contains(part), "{part}: {outline}");
    }
    assert!(outline.chars().count() <= 4 * 300, "{outline}");
    let (tool, arguments) = next(&outline).unwrap();
    assert_eq!((tool.as_str(), &arguments["from"]), ("get_session", &json!(0)));
    let entries = client.text(&tool, &arguments);
    assert!(entries.contains("7505c804:8 ") && next(&entries).is_none(), "{entries}");
}

/// A failed edit names its file in its arguments only.
#[test]
fn a_failure_is_found_by_a_path_in_its_arguments() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/p");
    fs::create_dir_all(&folder).unwrap();
    let log = concat!(
        r#"{"type":"user","uuid":"u","sessionId":"s","cwd":"/p","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"go"}}"#,
        "\n",
        r#"{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","cwd":"/p","timestamp":"2026-01-01T00:00:01Z","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"/p/src/quokka.rs","old_string":"wombat","new_string":"b"}}]}}"#,
        "\n",
        r#"{"type":"user","uuid":"r","parentUuid":"a","sessionId":"s","cwd":"/p","timestamp":"2026-01-01T00:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"String to replace not found"}]}}"#,
        "\n"
    );
    fs::write(folder.join("s.jsonl"), log).unwrap();
    let mut client = Client::at_home(home.path());
    for text in ["src/quokka.rs", "wombat", "not found"] {
        let found = client.text("failures", &json!({ "text": text }));
        assert!(found.contains(":1 ") && found.contains("not found"), "{text}: {found}");
    }
}
