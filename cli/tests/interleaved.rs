//! Several sessions in one stream: none takes another's calls, and every verb counts the same sessions.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::logs::stdout;

pub(crate) fn session(id: &str) -> Vec<String> {
    [
        json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": id, "tools": [], "model": format!("model-{id}")}),
        json!({"type": "tool_call", "id": "call_0", "messageId": "m", "toolId": "Read", "toolName": "Read",
               "parameters": {"file_path": format!("/{id}")}, "timestamp": 2000, "session_id": id}),
        json!({"type": "tool_result", "id": "call_0", "messageId": "m", "toolId": "Read", "isError": false,
               "value": format!("of {id}"), "timestamp": 3000, "session_id": id}),
        json!({"type": "message", "role": "assistant", "id": "a", "text": format!("done {id}"), "timestamp": 4000, "session_id": id}),
        json!({"type": "completion", "finalText": format!("done {id}"), "numTurns": 1, "durationMs": 5, "timestamp": 5000,
               "session_id": id, "usage": {"input_tokens": 10, "output_tokens": 1}}),
    ]
    .iter()
    .map(Value::to_string)
    .collect()
}

/// The records of both sessions in turn.
fn interleaved() -> String {
    let (a, b) = (session("a"), session("b"));
    a.iter().zip(&b).map(|(a, b)| format!("{a}\n{b}\n")).collect()
}

fn write(folder: &Path, log: &str) -> String {
    let path = folder.join("log.jsonl");
    fs::write(&path, log).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The documents that a replay prints, one after another.
fn conversations_of(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().map(Result::unwrap).collect()
}

fn conversations(log: &str) -> Vec<Value> {
    conversations_of(&stdout(&["replay", log, "--format", "conversation"]))
}

#[test]
fn calls_with_one_id_in_two_sessions_are_two_calls() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), &interleaved());
    let documents = conversations(&log);
    assert_eq!(documents.len(), 2);
    for (document, id) in documents.iter().zip(["a", "b"]) {
        assert_eq!(document["session"]["session_id"], id, "{document}");
        let entries = document["entries"].as_array().unwrap();
        let is_call = |entry: &&Value| entry["content"]["entry_type"]["type"] == "tool_use";
        let calls: Vec<_> = entries.iter().filter(is_call).map(Value::to_string).collect();
        assert_eq!(calls.len(), 1, "{entries:?}");
        assert!(
            calls[0].contains(&format!("of {id}")) && calls[0].contains("success"),
            "{calls:?}"
        );
        assert!(!document.to_string().contains("duplicate"), "{document}");
    }

    // The patches add up to the same documents.
    let mut patched = vec![json!({"entries": []}); 2];
    for line in stdout(&["replay", &log, "--format", "patches"]).lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let patch: json_patch::Patch = serde_json::from_value(record["patch"].clone()).unwrap();
        let session = record["session"].as_u64().unwrap() as usize;
        json_patch::patch(&mut patched[session], &patch).unwrap();
    }
    assert_eq!(patched, documents);
}

/// A session has the facts that its own records state: neither the model nor the folder of another session.
#[test]
fn no_fact_of_a_session_reaches_another() {
    let folder = tempfile::tempdir().unwrap();
    let begun = json!({"type": "system", "subtype": "init", "session_id": "a", "model": "claude-opus-4-6",
                       "cwd": "/x", "tools": []});
    let said = json!({"type": "user", "message": {"role": "user", "content": "what b was asked"}, "session_id": "b"});
    for (name, records) in [("ab", [&begun, &said]), ("ba", [&said, &begun])] {
        let text = format!("{}\n{}\n", records[0], records[1]);
        let log = write(folder.path(), &text);
        let db = folder.path().join(name);
        let db = db.to_str().unwrap();
        let replay = |format: &str| {
            stdout(&["replay", &log, "--executor", "claude-stream", "--format", format])
        };
        stdout(&["ingest", &log, "--executor", "claude-stream", "--db", db]);
        let facts = |id: &str| {
            let sql = format!("SELECT model, cwd FROM sessions WHERE session_id = '{id}'");
            let rows = stdout(&["query", "sql", &sql, "--db", db, "--format", "json"]);
            serde_json::from_str::<Vec<Value>>(&rows).unwrap()
        };
        assert_eq!(facts("a"), [json!({"model": "claude-opus-4-6", "cwd": "/x"})], "{name}");
        assert_eq!(facts("b"), [json!({"model": null, "cwd": null})], "{name}");

        for document in conversations_of(&replay("conversation")) {
            let session = &document["session"];
            let stated = session["session_id"] == "a";
            assert_eq!(session["model"].is_string(), stated, "{name}: {document}");
            assert_eq!(session["cwd"].is_string(), stated, "{name}: {document}");
        }
        let page = folder.path().join(format!("{name}.html"));
        stdout(&["export", &log, "--executor", "claude-stream", "--out", page.to_str().unwrap()]);
        let second = page.with_file_name(format!("{name}-2.html"));
        let pages = [&page, &second].map(|page| fs::read_to_string(page).unwrap());
        for page in pages {
            assert_eq!(
                page.contains("claude-opus-4-6"),
                !page.contains("what b was asked"),
                "{name}: {page}"
            );
        }
        let transcript = replay("transcript");
        assert_eq!(transcript.matches("claude-opus-4-6").count(), 1, "{name}: {transcript}");
        assert!(!transcript.contains('→'), "{name}: {transcript}");
    }
}

fn sessions_total(metrics: &str) -> u64 {
    let series = metrics.lines().filter(|line| line.starts_with("foldline_sessions_total{"));
    series.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
}

#[test]
fn every_verb_counts_the_same_sessions_however_they_alternate() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (session("a"), session("b"));
    let in_turn = [&a[..2], &b[..], &a[2..]].concat().join("\n") + "\n";
    for (name, log) in [("mixed", interleaved()), ("back", in_turn)] {
        let log = write(folder.path(), &log);
        let [db, prom] = ["db", "prom"].map(|end| folder.path().join(format!("{name}.{end}")));
        let [db, prom] = [&db, &prom].map(|path| path.to_str().unwrap());
        stdout(&["ingest", &log, "--db", db, "--metrics", prom]);
        let replayed = stdout(&["replay", &log, "--format", "metrics"]);
        assert_eq!(sessions_total(&replayed), 2, "{name}: {replayed}");
        assert_eq!(sessions_total(&fs::read_to_string(prom).unwrap()), 2, "{name}");
        let rows = stdout(&["sessions", "--db", db, "--format", "json"]);
        let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
        assert_eq!(rows.len(), 2, "{name}: {rows:?}");
        for row in &rows {
            assert_eq!((&row["calls"], &row["failures"]), (&json!(1), &json!(0)), "{name}: {row}");
            let model = format!("model-{}", row["session"].as_str().unwrap());
            assert_eq!(row["model"], model, "{name}");
        }
        // The usage of each session counts for its own model.
        for id in ["a", "b"] {
            let line = replayed.lines().find(|line| {
                line.contains(&format!("\"model-{id}\"")) && line.contains("\"input\"")
            });
            assert!(line.unwrap_or_default().ends_with(" 10"), "{name}: {replayed}");
        }
    }
}

#[test]
fn an_interleaved_stream_goes_on_from_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let log = interleaved();
    let whole = stdout(&["replay", &write(folder.path(), &log), "--format", "patches"]);
    let ends: Vec<_> = log.match_indices('\n').map(|(at, _)| at + 1).collect();
    for end in ends {
        let place = tempfile::tempdir().unwrap();
        let path = write(place.path(), &log[..end]);
        let [out, journal] = ["out", "journal"].map(|name| place.path().join(name));
        let [out, journal] = [&out, &journal].map(|path| path.to_str().unwrap());
        let replay = ["replay", &path, "--executor", "droid", "--format", "patches"];
        let replay = [&replay[..], &["--out", out, "--checkpoint", journal]].concat();
        stdout(&replay);
        write(place.path(), &log);
        stdout(&replay);
        assert_eq!(fs::read_to_string(out).unwrap(), whole, "cut at byte {end}");
    }
}
