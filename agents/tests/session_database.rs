//! opencode's database is its sessions, one in a line.

use std::{fs, path::Path};

use foldline_agents::{DynExecutor, Registry, opencode::OpencodeSession};
use foldline_domain::Conversation;
use foldline_testkit::run;
use rusqlite::Connection;
use serde_json::{Value, json};

/// The tables of an older release, which lacks columns.
const TABLES: &str = "
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
                          time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);";

fn database(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.execute_batch(TABLES).unwrap();
    connection
}

fn add_session(connection: &Connection, id: &str, created: i64) {
    let sql = "INSERT INTO session VALUES (?1, 'p', NULL, '/srv/ada', 'Mend', ?2, ?2)";
    connection.execute(sql, (id, created)).unwrap();
}

fn add_message(connection: &Connection, session: &str, id: &str, created: i64, text: &str) {
    let tokens = json!({"input": 1, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}});
    let info =
        json!({"role": "assistant", "time": {"created": created}, "cost": 0, "tokens": tokens});
    let sql = "INSERT INTO message VALUES (?1, ?2, ?3, ?4)";
    connection.execute(sql, (id, session, created, info.to_string())).unwrap();
    for (part, text) in [("2", text), ("1", "first")] {
        let data = json!({"type": "text", "text": text}).to_string();
        let sql = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?5)";
        let part = format!("prt_{id}_{part}");
        connection.execute(sql, (part, id, session, created, data)).unwrap();
    }
}

fn content(path: &Path) -> String {
    let mut log = Registry::builtin().openers().open_regular(path).unwrap();
    let mut bytes = Vec::new();
    loop {
        match log.read().unwrap() {
            [] => return String::from_utf8(bytes).unwrap(),
            more => bytes.extend_from_slice(more),
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn sessions_are_documents_in_the_order_of_their_creation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = database(&path);
    add_session(&connection, "ses_b", 2);
    add_session(&connection, "ses_c", 1);
    add_session(&connection, "ses_a", 2);
    add_message(&connection, "ses_c", "m2", 20, "second");
    add_message(&connection, "ses_c", "m1", 10, "second");
    drop(connection);
    assert_eq!(names(folder.path()), ["opencode.db"]);
    let before = fs::read(&path).unwrap();
    let lines: Vec<Value> =
        content(&path).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<_> = lines.iter().map(|line| line["info"]["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["ses_c", "ses_a", "ses_b"]);
    let info = &lines[0]["info"];
    assert_eq!(info["directory"], "/srv/ada");
    assert_eq!(info["time"], json!({"created": 1, "updated": 1}));
    let messages = lines[0]["messages"].as_array().unwrap();
    assert_eq!(messages[0]["info"]["id"], "m1");
    assert_eq!(messages[0]["info"]["sessionID"], "ses_c");
    let part = json!({"id": "prt_m1_1", "messageID": "m1", "sessionID": "ses_c", "type": "text", "text": "first"});
    assert_eq!(messages[0]["parts"][0], part);
    // Nothing was written.
    assert_eq!(names(folder.path()), ["opencode.db"]);
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn a_database_that_is_open_elsewhere_is_read_with_its_write_ahead_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = database(&path);
    add_session(&connection, "ses_a", 1);
    assert_eq!(content(&path).lines().count(), 1);
    let first =
        Registry::builtin().openers().open_regular(&path).unwrap().status().unwrap().unwrap();
    add_session(&connection, "ses_b", 2);
    assert_eq!(content(&path).lines().count(), 2);
    let second =
        Registry::builtin().openers().open_regular(&path).unwrap().status().unwrap().unwrap();
    assert!(first.is_same_file(&second) && !second.is_untouched_since(&first));
    // A log that was opened is of one moment.
    let mut log = Registry::builtin().openers().open_regular(&path).unwrap();
    assert!(log.is_rewritten());
    let length = log.length().unwrap().unwrap();
    add_session(&connection, "ses_c", 3);
    assert_eq!(log.read().unwrap().len() as u64, length);
    assert_eq!(content(&path).lines().count(), 3);
}

#[test]
fn a_long_session_is_several_documents_of_one_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = database(&path);
    add_session(&connection, "ses_a", 1);
    let long = "x".repeat(3 << 20);
    for number in 0..4 {
        add_message(&connection, "ses_a", &format!("m{number}"), number, &long);
    }
    let lines = content(&path);
    assert_eq!(lines.lines().count(), 4);
    let executor = DynExecutor::new(OpencodeSession);
    let events = run::sourced_events(&executor, [lines.as_bytes()]);
    let conversation: Conversation = events.iter().map(|event| &event.item).collect();
    let used = conversation.summary.usage.unwrap();
    assert_eq!((used.input_tokens, used.output_tokens), (Some(4), Some(8)));
}

#[test]
fn a_database_without_these_tables_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE session (id TEXT)").unwrap();
    let mut log = Registry::builtin().openers().open_regular(&path).unwrap();
    assert!(!log.is_rewritten());
    assert!(log.read_ahead().unwrap().starts_with(b"SQLite format 3"));
}
