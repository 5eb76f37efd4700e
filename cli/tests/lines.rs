//! Every verb counts the same lines, and writes one line for each message.

use std::{fs, path::Path};

use serde_json::Value;

use crate::logs::{run, stdout};

/// A log with a record that is printed for people, over eight lines.
const SPREAD: &str = r#"{"type":"system","subtype":"init","cwd":"/p","session_id":"s","tools":[],"model":"m"}
{
  "type": "message",
  "role": "user",
  "id": "m1",
  "text": "hi",
  "rest": { "a": [
    1 ] }
}
{"type":"shrug","what":{"a":1},"session_id":"s"}
{"type":"message","role":"assistant","id":"m2","text":"there","session_id":"s"}
"#;

fn write(folder: &Path, log: &str) -> String {
    let path = folder.join("log.jsonl");
    fs::write(&path, log).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_record_over_several_lines_gives_json_lines() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), SPREAD);
    for format in ["events", "patches"] {
        let out = stdout(&["replay", &log, "--executor", "droid", "--format", format]);
        assert!(out.contains("shrug"), "{out}");
        for line in out.lines() {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{format}: {line}");
        }
    }
}

#[test]
fn an_untouched_log_is_verified_whatever_its_lines_are() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!(
        "{{\"type\":\"message\",\"role\":\"user\",\"id\":\"l\",\"text\":\"{}\"}}\n",
        "x".repeat(17 << 20)
    );
    let log = write(folder.path(), &format!("{SPREAD}{long}"));
    let [db, trail] = ["db", "trail"].map(|name| folder.path().join(name));
    let [db, trail] = [&db, &trail].map(|path| path.to_str().unwrap());
    stdout(&["ingest", &log, "--executor", "droid", "--db", db, "--audit", trail]);
    // The line that is too long to be kept is bound by its digest, too.
    let records = fs::read_to_string(trail).unwrap();
    // The first record says whose trail it is.
    let mut events = records.lines().skip(1).peekable();
    assert!(events.peek().is_some() && events.all(|event| event.contains("\"line_sha256\"")));
    let report = stdout(&["verify", trail, "--source", &log]);
    assert!(report.contains("log: "), "{report}");

    fs::write(&log, fs::read_to_string(&log).unwrap().replace("\"hi\"", "\"ho\"")).unwrap();
    assert_eq!(run(&["verify", trail, "--source", &log]).status.code(), Some(1));
}

fn lines_total(metrics: &str) -> Vec<&str> {
    metrics.lines().filter(|line| line.starts_with("foldline_lines_total")).collect()
}

#[test]
fn replay_and_ingest_count_the_same_lines() {
    let folder = tempfile::tempdir().unwrap();
    for (name, log) in [("spread", SPREAD), ("unended", SPREAD.trim_end())] {
        let log = write(folder.path(), log);
        let [db, metrics] = ["db", "prom"].map(|end| folder.path().join(format!("{name}.{end}")));
        let db = db.to_str().unwrap();
        stdout(&[
            "ingest",
            &log,
            "--executor",
            "droid",
            "--db",
            db,
            "--metrics",
            metrics.to_str().unwrap(),
        ]);
        let replayed = stdout(&["replay", &log, "--executor", "droid", "--format", "metrics"]);
        let ingested = fs::read_to_string(&metrics).unwrap();
        assert!(!lines_total(&replayed).is_empty());
        assert_eq!(lines_total(&replayed), lines_total(&ingested), "{name}");
    }
}

#[test]
fn a_last_line_that_gets_its_end_later_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), SPREAD.trim_end());
    let [db, metrics] = ["db", "prom"].map(|name| folder.path().join(name));
    let ingest = ["ingest", &log, "--executor", "droid", "--db", db.to_str().unwrap(), "--metrics"];
    let ingest = [&ingest[..], &[metrics.to_str().unwrap()]].concat();
    stdout(&ingest);
    fs::write(&log, SPREAD).unwrap();
    stdout(&ingest);
    let grown = fs::read_to_string(&metrics).unwrap();
    let whole = stdout(&["replay", &log, "--executor", "droid", "--format", "metrics"]);
    assert_eq!(lines_total(&grown), lines_total(&whole));
}
