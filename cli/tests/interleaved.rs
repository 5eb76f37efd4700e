//! Several sessions in one stream: none takes another's calls, and every verb counts the same sessions.
#![allow(clippy::unwrap_used, clippy::panic)]

mod logs;

use std::{fs, path::Path};

use serde_json::{Value, json};

use self::logs::stdout;

fn session(id: &str) -> Vec<String> {
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

#[test]
fn calls_with_one_id_in_two_sessions_are_two_calls() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), &interleaved());
    let document: Value =
        serde_json::from_str(&stdout(&["replay", &log, "--format", "conversation"])).unwrap();
    let entries = document["entries"].as_array().unwrap();
    let calls: Vec<_> = entries
        .iter()
        .filter(|entry| entry["content"]["entry_type"]["type"] == "tool_use")
        .map(Value::to_string)
        .collect();
    assert_eq!(calls.len(), 2, "{entries:?}");
    for (call, id) in calls.iter().zip(["a", "b"]) {
        assert!(call.contains(&format!("of {id}")) && call.contains("success"), "{call}");
    }
    assert!(!document.to_string().contains("duplicate"), "{document}");

    // The patches add up to the same document.
    let mut patched = json!({"entries": []});
    for line in stdout(&["replay", &log, "--format", "patches"]).lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let patch: json_patch::Patch = serde_json::from_value(record["patch"].clone()).unwrap();
        json_patch::patch(&mut patched, &patch).unwrap();
    }
    assert_eq!(patched, document);
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
        // What each session's model used is booked to it.
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
