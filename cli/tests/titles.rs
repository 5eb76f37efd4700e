//! The title of a session that the log of another session states.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::first_hour::Home;

fn folder(home: &Home) -> std::path::PathBuf {
    let folder = home.path().join(".claude/projects/-quay");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A message of a session.
fn said(session: &str, uuid: &str, kind: &str, words: &str) -> String {
    json!({"type": kind, "uuid": uuid, "sessionId": session, "version": "2.0.1", "cwd": "/quay",
           "timestamp": "2026-01-31T10:00:00Z",
           "message": {"role": kind, "content": [{"type": "text", "text": words}]}})
    .to_string()
}

fn summary(title: &str, leaf: &str) -> String {
    json!({"type": "summary", "summary": title, "leafUuid": leaf}).to_string()
}

fn write(log: &Path, lines: &[String]) {
    fs::write(log, lines.join("\n") + "\n").unwrap();
}

/// The session about ropes, which goes on after its second record.
fn ropes() -> Vec<String> {
    vec![
        said("ropes", "r1", "user", "Splice the rope"),
        said("ropes", "r2", "assistant", "Spliced."),
        said("ropes", "r3", "user", "Coil it"),
        said("ropes", "r4", "assistant", "Coiling."),
        said("ropes", "r5", "assistant", "Coiled."),
    ]
}

/// The session about sails, whose log states titles of others.
fn sails(leaf: &str) -> Vec<String> {
    vec![
        summary("Work on ropes\nand more", leaf),
        summary("Lost at sea", "nowhere"),
        said("sails", "s1", "user", "Mend the sail"),
        said("sails", "s2", "assistant", "Mended."),
    ]
}

/// The titles by session.
fn titles(home: &Home) -> Vec<(String, String)> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let sessions = home.json(&["sessions"]);
    let rows = sessions.as_array().unwrap();
    let mut titles: Vec<_> =
        rows.iter().map(|row| (text(row, "session"), text(row, "title"))).collect();
    titles.sort();
    titles
}

fn are(home: &Home, ropes: &str, sails: &str) {
    let named = |session: &str, title: &str| (session.to_owned(), title.to_owned());
    assert_eq!(titles(home), [named("ropes", ropes), named("sails", sails)]);
}

#[test]
fn the_order_in_which_logs_are_read_does_not_matter() {
    for order in [["ropes", "sails"], ["sails", "ropes"]] {
        for (leaf, title) in [
            ("r5", "Work on ropes"),
            // The record that the conversation had ended with before it went on.
            ("r2", "Work on ropes"),
            // A record that it cannot have ended with, as another one of the same turn follows.
            ("r4", "Splice the rope"),
        ] {
            let home = Home::empty();
            for log in order {
                let lines = if log == "ropes" { ropes() } else { sails(leaf) };
                write(&folder(&home).join(format!("{log}.jsonl")), &lines);
                home.ask(&["ingest"]);
            }
            are(&home, title, "Mend the sail");
        }
    }
}

#[test]
fn every_answer_has_the_title_and_it_goes_with_the_log_that_states_it() {
    let home = Home::empty();
    let (ropes_log, sails_log) =
        (folder(&home).join("ropes.jsonl"), folder(&home).join("sails.jsonl"));
    // The log grows in the middle of the conversation.
    write(&ropes_log, &ropes()[..2]);
    write(&sails_log, &sails("r5"));
    are(&home, "Splice the rope", "Mend the sail");
    write(&ropes_log, &ropes());
    are(&home, "Work on ropes", "Mend the sail");
    for question in [
        vec!["search", "coiled"],
        vec!["export", "ropes"],
        vec!["query", "sql", "SELECT title FROM session"],
    ] {
        let answer = home.ask(&question);
        assert!(answer.contains("Work on ropes"), "{question:?}: {answer}");
    }
    home.ask(&["forget", "sails"]);
    assert_eq!(titles(&home), [("ropes".to_owned(), "Splice the rope".to_owned())]);
    assert!(home.ask(&["check"]).contains("sound: "));
}

#[test]
fn a_title_that_its_own_log_states_outranks_all_others() {
    let home = Home::empty();
    let (ropes_log, sails_log) =
        (folder(&home).join("ropes.jsonl"), folder(&home).join("sails.jsonl"));
    write(&ropes_log, &ropes());
    write(&sails_log, &sails("r5"));
    are(&home, "Work on ropes", "Mend the sail");
    let own = json!({"type": "ai-title", "aiTitle": "Rigging", "sessionId": "ropes"}).to_string();
    write(&ropes_log, &[ropes(), vec![own]].concat());
    are(&home, "Rigging", "Mend the sail");
}
