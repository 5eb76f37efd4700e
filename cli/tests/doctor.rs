//! The report of `foldline doctor`.

use std::fs;

use crate::logs::foldline;

#[test]
fn what_the_doctor_ignores_on_purpose_is_counted_apart() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let record = |name: &str| format!(r#"{{"type":"{name}","sessionId":"a"}}"#) + "\n";
    let mut records = record("file-history-snapshot").repeat(5) + &record("queue-operation");
    let result = r#"{"type":"user","uuid":"u","sessionId":"a","message":{"role":"user","content":
        [{"type":"tool_result","tool_use_id":"t","content":"lost"}]}}"#;
    records.insert_str(0, &(result.replace('\n', " ") + "\n"));
    for name in ["started", "tag", "mode", "agent-name", "agent-color", "last-prompt"] {
        records += &record(name).repeat(2);
    }
    records += "{\"type\":\"mode\",\"mode\":\"snapshot\",\"sessionId\":\"a\"}\n";
    fs::write(&log, records).unwrap();
    let output =
        foldline().args(["doctor", log.to_str().unwrap()]).env("COLUMNS", "80").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let (_, said) = said.split_once('\n').unwrap();
    assert_eq!(
        said,
        "  Claude Code, session file (claude-session): 20 lines, 20 records,
    19 of them ignored
  ignored on purpose: 5 file-history-snapshot, 3 mode, 2 agent-color,
    2 agent-name, 2 last-prompt, 2 started, 3 of other types
       1×  unclaimed result                              from line 1

"
    );
}

#[test]
fn a_summary_counts_by_format_and_version_without_any_content() {
    let folder = tempfile::tempdir().unwrap();
    let record = |version: &str, name: &str| {
        let record = r#"{"type":"NAME","uuid":"u","sessionId":"a","version":"VERSION","cwd":"/srv/secret","secret":1,
            "message":{"role":"user","content":"a secret"}}"#;
        record.replace('\n', " ").replace("VERSION", version).replace("NAME", name) + "\n"
    };
    for (name, text) in [
        ("a.jsonl", record("2.1.0", "user")),
        ("b.jsonl", record("2.1.0", "user").repeat(2)),
        ("c.jsonl", record("99.0.0", "user") + &record("99.0.0", "novel")),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let doctor = |more: &[&str]| {
        let path = folder.path().to_str().unwrap();
        let output =
            foldline().args(["doctor", path]).args(more).env("COLUMNS", "80").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let said = doctor(&["--summary"]);
    let rows: Vec<Vec<&str>> = said.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["format", "version", "logs", "records", "ignored", "findings"]);
    assert_eq!(rows[1], ["claude-session", "2.1.0", "2", "3", "0", "3"], "{said}");
    assert_eq!(rows[2][..3], ["claude-session", "99.0.0", "(newer)"], "{said}");
    assert!(said.contains("unknown event novel") && said.contains("unknown field user.secret"));
    assert!(!said.contains("/srv") && !said.contains("a secret"), "{said}");
    assert!(doctor(&[]).contains("the newest version that was tested"));
}
