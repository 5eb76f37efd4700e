//! What `RUST_LOG` shows, for every verb that reads a log.

use std::fs;

use crate::logs::foldline;

const LOG: &str = r#"{"type":"system","subtype":"init","cwd":"/p","session_id":"s\u001b[2J","tools":[],"model":"m"}
{"type":"tool_call","id":"c1","toolName":"Read","parameters":{"file_path":"/x"},"timestamp":1,"session_id":"s\u001b[2J"}
{"type":"shrug\u001b[31m","session_id":"s\u001b[2J"}
{"type":"shrug\u001b[31m","session_id":"s\u001b[2J"}
"#;

#[test]
fn every_verb_says_what_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (log, db) = (path("log.jsonl"), path("db"));
    fs::write(&log, LOG).unwrap();
    let stderr = |level: &str, arguments: &[&str]| {
        let mut command = foldline();
        command.env("RUST_LOG", format!("foldline={level}")).args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let out = path("out");
    let journal = path("journal");
    let follow = ["replay", &log, "--executor", "droid", "--out", &out, "--format", "patches"];
    for verb in [
        &["replay", &*log, "--executor", "droid", "--format", "patches"][..],
        &[&follow[..], &["--follow", "--idle-exit", "0.1"]].concat(),
        &[&follow[..], &["--checkpoint", &journal, "--restart"]].concat(),
        &["ingest", &log, "--executor", "droid", "--db", &db],
        &["doctor", &log],
    ] {
        if verb[0] == "ingest" {
            let _ = fs::remove_file(&db);
        }
        let info = stderr("info", verb);
        assert_eq!(info.matches("source read").count(), 1, "{verb:?}: {info}");
        assert!(info.contains("log.jsonl") && info.contains("droid"), "{verb:?}: {info}");
        let _ = fs::remove_file(&db);
        let _ = fs::remove_file(&journal);
        let warn = stderr("warn", verb);
        let counted = warn.lines().find(|line| line.contains("unknown_event")).unwrap_or_default();
        assert!(counted.contains("count=2"), "{verb:?}: {warn}");
        let _ = fs::remove_file(&db);
        let _ = fs::remove_file(&journal);
        let debug = stderr("trace", verb);
        for said in ["bytes processed", "open=1", "new_tool_call"] {
            assert!(debug.contains(said), "{verb:?}: no {said} in {debug}");
        }
        assert!(!debug.contains('\u{1b}'), "{verb:?}: {debug:?}");
        let _ = fs::remove_file(&db);
        let _ = fs::remove_file(&journal);
    }
}

#[test]
fn a_selection_that_is_not_understood_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    fs::write(&log, LOG).unwrap();
    let mut command = foldline();
    command.env("RUST_LOG", "foldline=loud").arg("replay").arg(&log).args(["--executor", "droid"]);
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("foldline: RUST_LOG=foldline=loud is ignored: "), "{stderr}");
}
