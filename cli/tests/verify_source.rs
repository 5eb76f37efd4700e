//! `foldline verify --source`: whether a log is what a trail was made from.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::logs::{droid, run, stdout};
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn path(&self, name: &str) -> String {
        self.file(name).to_str().unwrap().to_owned()
    }

    fn ingest(&self, log: &str, more: &[&str]) {
        let (log, db, trail) = (self.path(log), self.path("db"), self.path("trail"));
        let ingest = ["ingest", &log, "--db", &db, "--audit", &trail, "--executor", "droid"];
        stdout(&[&ingest[..], more].concat());
    }

    /// What `foldline verify --source` says of a log. The other verifier agrees, where there is a
    /// Python to run it.
    fn verify(&self, log: &str) -> (i32, String) {
        let (log, trail) = (self.path(log), self.path("trail"));
        let output = run(&["verify", &trail, "--source", &log]);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let code = output.status.code().unwrap();
        if cfg!(has_python3) {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/verify_audit.py");
            let mut python = Command::new("python3");
            let python = python.arg(script).args(["--log", &log, &trail]).output().unwrap();
            let verdict = String::from_utf8_lossy(&python.stdout).into_owned();
            // Which lines cause an event is not in the description of the format.
            let is_good = code == 0 || said.contains("no record\n");
            assert_eq!(verdict.starts_with("good"), is_good, "{said}\n{verdict}");
        }
        (code, said)
    }

    fn good(&self, log: &str) -> String {
        let (code, said) = self.verify(log);
        assert_eq!(code, 0, "{said}");
        said
    }

    fn refused(&self, log: &str, reason: &str) {
        let (code, said) = self.verify(log);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(reason), "{said}");
    }
}

const FIRST: &str = r#"{"type":"system","subtype":"init","cwd":"/p","session_id":"s"}"#;

fn message(id: &str) -> String {
    format!(r#"{{"type":"message","role":"user","id":"{id}","text":"{id} says","session_id":"s"}}"#)
}

#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn another_verifier_agrees_of_logs() {
    let place = Place::new();
    let log = format!("{FIRST}\n{}\n", message("a"));
    fs::write(place.file("log"), &log).unwrap();
    place.ingest("log", &[]);
    place.good("log");
    fs::write(place.file("log"), log.replace("says", "said")).unwrap();
    place.refused("log", "was made from line 2 of");
}

#[test]
fn a_line_that_went_on_after_it_was_read_is_unchanged() {
    let place = Place::new();
    let (a, b, c, d) = (message("a"), message("b"), message("c"), message("d"));
    let grow = |text: &str| fs::write(place.file("log"), text).unwrap();
    // The agent was stopped before it had ended the line, and started again.
    let mut log = format!("{FIRST}\n{a}");
    for more in [&b, "  ", &c, "\n", &d, "\n"] {
        grow(&log);
        place.ingest("log", &[]);
        place.good("log");
        log += more;
        // It has grown, and was not read again.
        grow(&log);
        match more.trim().is_empty() {
            true => drop(place.good("log")),
            false if *more == d => place.refused("log", "line 3 of "),
            false => place.refused("log", "the end of line 2 of "),
        }
    }
    place.ingest("log", &[]);
    let said = place.good("log");
    assert!(said.contains("3 of them cover a part of a line, which grew later"), "{said}");
    for part in [&a, &b, &c] {
        grow(&log.replace(part, &part.replace("says", "said")));
        place.refused("log", "was made from line 2 of");
    }
}

#[test]
fn what_is_added_to_a_line_in_the_middle_is_found() {
    let place = Place::new();
    let (a, b) = (message("a"), message("b"));
    fs::write(place.file("log"), format!("{FIRST}\n{a}\n{b}\n")).unwrap();
    place.ingest("log", &[]);
    place.good("log");
    fs::write(place.file("log"), format!("{FIRST}\n{a}{}\n{b}\n", message("c"))).unwrap();
    place.refused("log", "something was added to line 2 of");
}

#[test]
fn a_log_that_was_not_complete_after_all_is_unchanged() {
    let place = Place::new();
    let (a, b) = (message("a"), message("b"));
    // Half a record, which cannot be parsed until the rest is written.
    fs::write(place.file("log"), format!("{FIRST}\n{}", &a[..20])).unwrap();
    place.ingest("log", &["--final"]);
    place.good("log");
    fs::write(place.file("log"), format!("{FIRST}\n{a}\n{b}\n")).unwrap();
    place.refused("log", "line 3 of ");
    place.ingest("log", &[]);
    place.good("log");
}

#[test]
fn lines_without_a_record_are_named() {
    let place = Place::new();
    let ids: Vec<_> = ('a'..='j').map(String::from).collect();
    let lines = |count: usize| -> String {
        let line = |id: &String| format!("{}\n\n", message(id));
        FIRST.to_owned() + "\n" + &ids[..count].iter().map(line).collect::<String>()
    };
    let (log, db) = (place.path("log"), place.path("db"));
    let without_trail = || drop(stdout(&["ingest", &log, "--db", &db]));
    fs::write(place.file("log"), lines(2)).unwrap();
    place.ingest("log", &[]);
    let said = place.good("log");
    assert!(said.contains("coverage: 3 of 5 lines of "), "{said}");
    assert!(said.contains(" cause events, and all of them have a record\n"), "{said}");
    fs::write(place.file("log"), lines(4)).unwrap();
    without_trail();
    place.refused("log", ": lines 6, 8 of ");
    fs::write(place.file("log"), lines(5)).unwrap();
    place.ingest("log", &[]);
    fs::write(place.file("log"), lines(5) + &message("x") + "\n" + &message("y")).unwrap();
    place.refused("log", ": lines 6, 8, 12, 13 of ");
    place.ingest("log", &[]);
    place.refused("log", ": lines 6, 8 of ");
}

/// No line of a log that was read with the trail is accused: each fixture of each format.
#[test]
fn an_undisturbed_ingest_covers_every_line() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let place = Place::new();
    let (mut checked, mut formats) = (0, BTreeMap::new());
    for format in fs::read_dir(fixtures).unwrap() {
        let format = format.unwrap();
        let name = format.file_name().into_string().unwrap();
        if format.path().is_dir() {
            formats.insert(name.clone(), 0);
        }
        for fixture in fs::read_dir(format.path()).into_iter().flatten() {
            let log = fixture.unwrap().path().to_str().unwrap().to_owned();
            let (db, trail) =
                (place.path(&format!("db{checked}")), place.path(&format!("t{checked}")));
            let ingest = ["ingest", &log, "--db", &db, "--audit", &trail, "--executor", &name];
            let output = run(&ingest);
            if !output.status.success()
                || !fs::read_to_string(&trail).unwrap().contains("line_sha256")
            {
                continue;
            }
            let output = run(&["verify", &trail, "--source", &log, "--executor", &name]);
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(output.status.success(), "{log}: {said}");
            assert!(said.contains("all of them have a record"), "{log}: {said}");
            checked += 1;
            formats.entry(name.clone()).and_modify(|count| *count += 1);
        }
    }
    assert!(checked > 150 && formats.values().all(|count| *count > 0), "{formats:?}");
}

#[test]
fn logs_of_one_name_in_several_folders_are_not_confused() {
    let place = Place::new();
    for (seed, folder) in [(1, "one"), (2, "two")] {
        fs::create_dir(place.file(folder)).unwrap();
        fs::write(place.file(&format!("{folder}/log")), droid(folder, 3, seed)).unwrap();
        place.ingest(&format!("{folder}/log"), &[]);
    }
    for log in ["one/log", "two/log"] {
        let output = run(&["verify", &place.path("trail"), "--source", &place.path(log)]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("with an unchanged line in"), "{said}");
        assert!(said.contains("records of other logs"), "{said}");
    }
    // One that was moved is known by its name.
    let place = Place::new();
    fs::write(place.file("log"), droid("one", 3, 1)).unwrap();
    place.ingest("log", &[]);
    fs::create_dir(place.file("moved")).unwrap();
    fs::rename(place.file("log"), place.file("moved/log")).unwrap();
    place.good("moved/log");
}

#[test]
fn a_line_of_a_trail_that_is_too_long_is_told() {
    let place = Place::new();
    fs::write(place.file("log"), droid("one", 1, 1)).unwrap();
    place.ingest("log", &[]);
    let mut trail = fs::read(place.file("trail")).unwrap();
    let count = trail.iter().filter(|byte| **byte == b'\n').count();
    trail.resize(trail.len() + (8 << 20), b'x');
    fs::write(place.file("trail"), trail).unwrap();
    place.refused(
        "log",
        &format!("line {}: record {0} was damaged: it is longer than any record", count + 1),
    );
}

#[test]
fn records_are_short_whatever_the_log_says() {
    let place = Place::new();
    let long = "\u{1}".repeat(1 << 20);
    let call = serde_json::json!({
        "type": "tool_call", "id": long, "messageId": "m", "toolId": long, "toolName": long,
        "parameters": {}, "session_id": long,
    });
    fs::write(place.file("log"), format!("{FIRST}\n{call}\n")).unwrap();
    place.ingest("log", &[]);
    place.good("log");
    let trail = fs::read_to_string(place.file("trail")).unwrap();
    assert!(trail.contains("\u{2026}\""), "a text that was cut off says so");
}

/// A path is another log after a rotation. The trail and the database identify logs by content.
#[test]
fn a_rotated_log_and_a_moved_one_are_themselves() {
    let place = Place::new();
    let text = |name: &str| format!("{FIRST}\n{}\n{}\n", message(name), message("end"));
    let (old, new) = (text("old").replace("/p", "/old"), text("new"));
    let ingest = |logs: &[&str]| {
        let (db, trail) = (place.path("db"), place.path("trail"));
        let logs: Vec<_> = logs.iter().map(|log| place.path(log)).collect();
        let logs = logs.iter().map(String::as_str);
        stdout(
            &["ingest"]
                .into_iter()
                .chain(logs)
                .chain(["--db", &db, "--audit", &trail])
                .collect::<Vec<_>>(),
        )
    };
    let verify = |log: &str| {
        let output = run(&["verify", &place.path("trail"), "--source", &place.path(log)]);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), said)
    };
    fs::write(place.file("a.jsonl"), &old).unwrap();
    ingest(&["a.jsonl"]);
    fs::rename(place.file("a.jsonl"), place.file("a.jsonl.1")).unwrap();
    fs::write(place.file("a.jsonl"), &new).unwrap();
    ingest(&["a.jsonl", "a.jsonl.1"]);
    for log in ["a.jsonl", "a.jsonl.1"] {
        let (code, said) = verify(log);
        assert_eq!(code, Some(0), "{log}: {said}");
    }
    // A log that was changed is recognised after a move, too.
    fs::write(place.file("a.jsonl.1"), old.replace("end says", "end said")).unwrap();
    let (code, said) = verify("a.jsonl.1");
    assert!(code == Some(1) && said.contains("was made from line 3 of"), "{said}");
    // A trail that was moved misses nothing.
    fs::rename(place.file("trail"), place.file("moved")).unwrap();
    fs::write(place.file("a.jsonl"), new + &message("more") + "\n").unwrap();
    let summary = stdout(&[
        "ingest",
        &place.path("a.jsonl"),
        "--db",
        &place.path("db"),
        "--audit",
        &place.path("moved"),
    ]);
    assert!(!summary.contains("has no record"), "{summary}");
}
