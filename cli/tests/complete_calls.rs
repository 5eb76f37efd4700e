//! Every argument of a call can be read, on the page, in a full transcript and in Markdown, and what matters for trust is marked.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::logs::stdout;

/// Calls of each kind of tool, each with a distinct word or number in every argument.
fn planted() -> Vec<(&'static str, Value)> {
    vec![
        (
            "Read",
            json!({"file_path": "/srv/well/qread1", "offset": 70_011, "limit": 70_012, "pages": "qread2"}),
        ),
        (
            "Write",
            json!({"file_path": "/srv/well/qwrite1", "content": "qwrite2\nx", "mode": "qwrite3"}),
        ),
        (
            "Edit",
            json!({"file_path": "/srv/well/qedit1", "old_string": "qedit2", "new_string": "qedit3", "replace_all": "qedit4"}),
        ),
        (
            "MultiEdit",
            json!({"file_path": "/srv/well/qmulti1", "tag": "qmulti2", "edits": [
            {"old_string": "qmulti3", "new_string": "qmulti4"}, {"old_string": "qmulti5", "new_string": "qmulti6"}]}),
        ),
        (
            "Bash",
            json!({"command": "echo qbash1\necho qbash2", "description": "qbash3", "timeout": 600_000,
            "run_in_background": true, "dangerouslyDisableSandbox": true, "shell": "qbash4"}),
        ),
        (
            "Grep",
            json!({"pattern": "qgrep1", "path": "/srv/well/qgrep2", "glob": "qgrep3", "output_mode": "qgrep4",
            "-A": 70_021, "type": "qgrep5", "head_limit": 70_022, "-i": "qgrep6"}),
        ),
        ("Glob", json!({"pattern": "qglob1", "path": "/srv/well/qglob2"})),
        (
            "Task",
            json!({"description": "qtask1", "prompt": "qtask2", "subagent_type": "qtask3", "model": "qtask4", "resume": "qtask5"}),
        ),
        ("WebFetch", json!({"url": "https://well.example/qfetch1", "prompt": "qfetch2"})),
        ("WebSearch", json!({"query": "qweb1", "allowed_domains": ["qweb2", "qweb3"]})),
        (
            "TodoWrite",
            json!({"todos": [{"content": "qtodo1", "status": "qtodo2", "priority": "qtodo3"}], "merge": "qtodo4"}),
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "/srv/well/qbook1", "cell_id": "qbook2", "new_source": "qbook3", "edit_mode": "qbook4"}),
        ),
        (
            "ExitPlanMode",
            json!({"plan": "qplan1", "allowedPrompts": [{"tool": "qplan2", "prompt": "qplan3"}]}),
        ),
        (
            "mcp__well__dig",
            json!({"sql": "qmcp1", "nested": {"a": {"b": ["qmcp2", {"c": "qmcp3"}]}}, "depth": 70_031, "qmcp4": null}),
        ),
        (
            "mcp__well__fill",
            json!({"long": format!("{}qfill1", "water ".repeat(400)), "qfill2": []}),
        ),
    ]
}

fn log(folder: &Path) -> String {
    let mut lines = String::new();
    let mut at = 0;
    let mut say = |role: &str, content: Value| {
        at += 1;
        let message = json!({"role": role, "content": content, "id": format!("msg_{at}"), "type": "message", "model": "claude-opus-4-6"});
        let line = json!({"type": role, "uuid": format!("u{at}"), "sessionId": "planted", "version": "2.1.62", "cwd": "/srv/well",
            "timestamp": format!("2026-03-01T10:{:02}:{:02}.000Z", at / 60, at % 60), "message": message});
        lines.push_str(&format!("{line}\n"));
    };
    say("user", json!("Dig a well"));
    for (number, (name, input)) in planted().into_iter().enumerate() {
        let id = format!("toolu_{number}");
        say("assistant", json!([{"type": "tool_use", "id": id, "name": name, "input": input}]));
        say("user", json!([{"type": "tool_result", "tool_use_id": id, "content": "done"}]));
    }
    let log = folder.join("planted.jsonl");
    fs::write(&log, lines).unwrap();
    log.to_str().unwrap().to_owned()
}

/// The words and the numbers that were planted.
fn words(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            let is_planted = name.starts_with('q') && name.ends_with(|c: char| c.is_ascii_digit());
            into.extend(is_planted.then(|| name.clone()));
            words(value, into);
        }),
        Value::Array(items) => items.iter().for_each(|item| words(item, into)),
        Value::Number(number) if *number != 600_000.into() => into.push(number.to_string()),
        Value::String(text) => {
            let planted = text.split(|c: char| !c.is_ascii_alphanumeric());
            into.extend(planted.filter(|word| word.starts_with('q')).map(str::to_owned));
        }
        _ => {}
    }
}

/// The text of a page, without its tags.
fn text_of(html: &str) -> String {
    let (_, body) = html.split_once("id=\"feed\"").unwrap();
    body.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect()
}

#[test]
fn every_argument_of_a_call_can_be_read() {
    let folder = tempfile::TempDir::new().unwrap();
    let log = log(folder.path());
    let mut wanted = Vec::new();
    planted().iter().for_each(|(_, input)| words(input, &mut wanted));
    assert!(wanted.len() > 55, "{}", wanted.len());
    let page = stdout(&["export", &log, "--format", "html"]);
    for (what, shown) in [
        ("the page", text_of(&page)),
        ("the transcript", stdout(&["show", &log, "--full"])),
        ("Markdown", stdout(&["export", &log, "--format", "md"])),
    ] {
        let missing: Vec<_> = wanted.iter().filter(|word| !shown.contains(&***word)).collect();
        assert!(missing.is_empty(), "{what} lacks {missing:?}");
        for mark in ["no sandbox", "in background", "timeout 10 m 00 s"] {
            assert!(shown.contains(mark), "{what} lacks {mark}");
        }
    }
    assert!(page.contains("<span class=\"ask\">no sandbox</span>"));
    // What a short transcript leaves out is what it says: the fields, not the marks.
    let short = stdout(&["show", &log]);
    assert!(short.contains("no sandbox") && !short.contains("qbash4"), "{short}");
}

#[test]
fn fields_are_escaped_and_redacted_as_all_else() {
    let folder = tempfile::TempDir::new().unwrap();
    let log = log(folder.path());
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let hostile = fs::read_to_string(&log)
        .unwrap()
        .replace("qbash4", &format!("<img src=x onerror=a()> \u{202e} {secret}"));
    fs::write(&log, hostile).unwrap();
    let page = stdout(&["export", &log, "--format", "html"]);
    assert!(
        page.contains("&lt;img src=x onerror=a()&gt; \\u{202e} ghp_")
            && !page.contains("<img src=x")
    );
    for format in ["html", "md"] {
        assert!(
            !stdout(&["export", &log, "--format", format, "--redact"]).contains(secret),
            "{format}"
        );
    }
    assert!(!stdout(&["show", &log, "--full"]).contains('\u{202e}'));
}

#[test]
fn arguments_are_found_by_a_search() {
    let folder = tempfile::TempDir::new().unwrap();
    let log = log(folder.path());
    let written =
        fs::read_to_string(&log).unwrap().replace("qwrite2", "<nav class=\\\"sticky top-0\\\">");
    let written = written.replace("qedit3", "max-h-screen rounded-xl");
    fs::write(&log, written).unwrap();
    let db = folder.path().join("db");
    let db = db.to_str().unwrap();
    stdout(&["ingest", &log, "--db", db]);
    let found = |text: &str| stdout(&["search", text, "--db", db]);
    for text in [
        "\"sticky top-0\"",
        "rounded-xl",
        "qgrep3",
        "qtask4",
        "qweb3",
        "qbash3",
        "qplan3",
        "qmulti2",
        "qmcp3",
    ] {
        let shown = found(text);
        assert!(shown.contains("planted") || shown.contains("Dig a well"), "{text}: {shown}");
    }
}
