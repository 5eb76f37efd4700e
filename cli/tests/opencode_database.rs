//! The sessions in opencode's database, which opencode may be writing.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{
    first_hour::Home,
    logs::{foldline, run, signal},
};

const TABLES: &str = "
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT,
                          version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
                       time_updated INTEGER, data TEXT);";

/// A database of opencode, which stays open.
pub(crate) struct OpencodeDatabase(Connection);

impl OpencodeDatabase {
    pub(crate) fn new(path: &Path) -> Self {
        let opencode = Connection::open(path).unwrap();
        opencode.pragma_update(None, "journal_mode", "wal").unwrap();
        opencode.execute_batch(TABLES).unwrap();
        Self(opencode)
    }

    pub(crate) fn change(&self, sql: &str) {
        self.0.execute_batch(sql).unwrap();
    }

    pub(crate) fn has(&self, session: &str) -> bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM session WHERE id = ?1)";
        self.0.query_row(sql, [session], |row| row.get(0)).unwrap()
    }

    pub(crate) fn add(&self, id: &str, title: &str) {
        let sql = "INSERT INTO session VALUES (?1, 'p', NULL, 's', '/srv/ada', ?2, '1.2.0', NULL, 1780000000000, 1780000000000)";
        self.0.execute(sql, (id, title)).unwrap();
        self.say(id, "1");
    }

    pub(crate) fn say(&self, session: &str, message: &str) {
        let sql = "SELECT 1780000000000 + count(*) FROM message";
        let created: i64 = self.0.query_row(sql, (), |row| row.get(0)).unwrap();
        let tokens = json!({"input": 60, "output": 7, "reasoning": 3, "cache": {"read": 30, "write": 10}, "total": 110});
        let info = json!({"role": "assistant", "time": {"created": created}, "cost": 0.5, "tokens": tokens,
                          "modelID": "large-1", "providerID": "acme", "finish": "stop"});
        let id = format!("msg_{session}_{message}");
        let sql = "INSERT INTO message VALUES (?1, ?2, 1780000000000, 1780000000000, ?3)";
        self.0.execute(sql, (&id, session, info.to_string())).unwrap();
        let part = json!({"type": "text", "text": format!("Answer {message}.")});
        let sql =
            "INSERT INTO part VALUES ('prt_' || ?1, ?1, ?2, 1780000000000, 1780000000000, ?3)";
        self.0.execute(sql, (&id, session, part.to_string())).unwrap();
    }
}

/// A home with a database of opencode.
pub(crate) struct OpencodeHome {
    pub(crate) home: Home,
    opencode: OpencodeDatabase,
}

impl OpencodeHome {
    pub(crate) fn new() -> Self {
        Self::in_home(Home::empty(), "opencode")
    }

    /// A home in which a program of this name keeps a database with the tables of opencode.
    fn in_home(home: Home, program: &str) -> Self {
        let folder = home.path().join(".local/share").join(program);
        fs::create_dir_all(&folder).unwrap();
        // A session by its form, to see that the file is not read.
        let credentials =
            r#"{"info":{"id":"ses_key","directory":"/","time":{"created":1}},"messages":[]}"#;
        fs::write(folder.join("auth.json"), credentials).unwrap();
        let opencode = OpencodeDatabase::new(&folder.join(program).with_extension("db"));
        Self { home, opencode }
    }

    fn database(&self) -> PathBuf {
        self.home.path().join(".local/share/opencode/opencode.db")
    }

    pub(crate) fn add(&self, id: &str, title: &str) {
        self.opencode.add(id, title);
    }

    pub(crate) fn say(&self, session: &str, message: &str) {
        self.opencode.say(session, message);
    }

    /// The titles and the input tokens of all sessions.
    pub(crate) fn sessions(&self) -> Vec<(String, u64)> {
        let sessions = self.home.json(&["sessions"]);
        let row = |row: &Value| {
            (row["title"].as_str().unwrap().to_owned(), row["input_tokens"].as_u64().unwrap())
        };
        let mut rows: Vec<_> = sessions.as_array().unwrap().iter().map(row).collect();
        rows.sort();
        rows
    }
}

fn rows(rows: &[(&str, u64)]) -> Vec<(String, u64)> {
    rows.iter().map(|(title, tokens)| ((*title).to_owned(), *tokens)).collect()
}

#[test]
fn sessions_in_the_database_of_opencode_are_found_and_kept_up_to_date() {
    let opencode = OpencodeHome::new();
    opencode.add("ses_a", "Mend the cart");
    opencode.add("ses_b", "Read the cart");
    let homes = opencode.home.ask(&["homes"]);
    assert!(homes.contains("opencode.db"), "{homes}");
    assert_eq!(opencode.sessions(), rows(&[("Mend the cart", 100), ("Read the cart", 100)]));
    // These changes are in the write-ahead log alone, and are not at the end of the content.
    opencode.say("ses_a", "2");
    let rename = "UPDATE session SET title = 'Mend it' WHERE id = 'ses_b'";
    opencode.opencode.0.execute(rename, ()).unwrap();
    let expected = rows(&[("Mend it", 100), ("Mend the cart", 200)]);
    assert_eq!(opencode.sessions(), expected);
    let shown = opencode.home.ask(&["show", "ses_a"]);
    assert!(shown.contains("Answer 1.") && shown.contains("Answer 2."), "{shown}");
    let usage = opencode.home.json(&["usage", "--by", "model"]);
    assert_eq!((&usage[0]["input_tokens"], &usage[0]["output_tokens"]), (&300.into(), &30.into()));
    // Closing moves the write-ahead log into the database.
    let OpencodeHome { home, opencode: connection } = opencode;
    connection.0.close().unwrap();
    let folder = home.path().join(".local/share/opencode");
    assert_eq!(home.json(&["sessions"]).as_array().unwrap().len(), 2);
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["auth.json", "opencode.db"]);
}

#[test]
fn every_channel_has_a_database_and_so_has_kilo() {
    let opencode = OpencodeHome::new();
    opencode.add("ses_a", "Mend the cart");
    let channel = opencode.database().with_file_name("opencode-next.db");
    let next = Connection::open(channel).unwrap();
    next.pragma_update(None, "journal_mode", "wal").unwrap();
    let tables = "
        CREATE TABLE session (id TEXT, directory TEXT, title TEXT, time_created INTEGER);
        CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, data TEXT);
        INSERT INTO session VALUES ('ses_n', '/srv/ada', 'Grease the cart', 1780000000000);";
    next.execute_batch(tables).unwrap();
    let row = json!({"time": {"created": 1_780_000_000_000_i64}, "content": [], "cost": 0,
        "tokens": {"input": 9, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}});
    let sql =
        "INSERT INTO session_message VALUES ('msg_1', 'ses_n', 'assistant', 1, 1780000000000, ?1)";
    next.execute(sql, [row.to_string()]).unwrap();
    let kilo = OpencodeHome::in_home(opencode.home, "kilo");
    kilo.say("ses_k", "1");
    // Another request than that of opencode.
    let later = "UPDATE message SET data = json_set(data, '$.time.created', 1780000000009)";
    kilo.opencode.change(later);
    let sql = "INSERT INTO session VALUES ('ses_k', 'p', NULL, 's', '/srv/ada', 'Wash the cart', '7.1', NULL, 1, 1)";
    kilo.opencode.change(sql);
    let mut expected =
        rows(&[("Mend the cart", 100), ("Grease the cart", 9), ("Wash the cart", 100)]);
    expected.sort();
    assert_eq!(kilo.sessions(), expected);
    let agents = kilo.home.json(&["sessions"]);
    let agents = agents.as_array().unwrap().iter();
    let mut agents: Vec<_> = agents.map(|row| row["agent"].as_str().unwrap()).collect();
    agents.sort_unstable();
    assert_eq!(agents, ["kilo", "opencode", "opencode"]);
}

#[test]
fn a_session_is_removed_with_its_rows() {
    let opencode = OpencodeHome::new();
    opencode.add("ses_a", "Mend the cart");
    opencode.add("ses_b", "Read the cart");
    assert_eq!(opencode.sessions().len(), 2);
    opencode.opencode.0.execute("DELETE FROM session WHERE id = 'ses_a'", ()).unwrap();
    assert_eq!(opencode.sessions(), rows(&[("Read the cart", 100)]));
}

#[test]
fn a_database_of_opencode_is_a_log_and_other_databases_are_not() {
    let opencode = OpencodeHome::new();
    opencode.add("ses_a", "Mend the cart");
    let path = opencode.database();
    let shown = opencode.home.ask(&["replay", path.to_str().unwrap()]);
    assert!(shown.contains("Answer 1."), "{shown}");
    opencode.home.ask(&["ingest"]);
    let own = opencode.home.path().join(".local/share/foldline/foldline.db");
    let refused = opencode.home.run(&["replay", own.to_str().unwrap()]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("is a database, not a log"), "{error}");
}

#[test]
fn a_database_without_sessions_is_no_failure() {
    let opencode = OpencodeHome::new();
    opencode.home.ask(&["usage"]);
}

/// A release before the database: a file for the facts, for each message and for each part.
#[test]
fn sessions_of_the_older_storage_are_read_until_there_is_a_database() {
    let opencode = OpencodeHome::new();
    let home = &opencode.home;
    let data = home.path().join(".local/share/opencode");
    fs::rename(data.join("opencode.db"), data.join("later")).unwrap();
    let write = |path: &str, text: &str| {
        let path = data.join("storage").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let facts = r#"{"id":"ses_a","projectID":"p1","directory":"/srv","title":"Mend the cart",
        "time":{"created":1780000000000}}"#;
    write("session/p1/ses_a.json", facts);
    let prompt =
        r#"{"id":"msg_2","sessionID":"ses_a","role":"user","time":{"created":1780000000001}}"#;
    write("message/ses_a/msg_2.json", prompt);
    write("part/msg_2/prt_1.json", r#"{"id":"prt_1","type":"text","text":"Mend it."}"#);
    let answer = |text: &str, tokens: u64| {
        let info = format!(
            r#"{{"id":"msg_1","sessionID":"ses_a","role":"assistant","time":{{"created":1780000000002}},
                "modelID":"m","providerID":"p","cost":0,
                "tokens":{{"input":{tokens},"output":1,"reasoning":0,"cache":{{"read":0,"write":0}}}}}}"#
        );
        write("message/ses_a/msg_1.json", &info);
        let part = format!(r#"{{"id":"prt_2","type":"text","text":"{text}"}}"#);
        write("part/msg_1/prt_2.json", &part);
    };
    answer("Mended.", 70);
    assert_eq!(opencode.sessions(), rows(&[("Mend the cart", 70)]));
    let log = data.join("storage/session/p1/ses_a.json");
    let shown = home.ask(&["replay", log.to_str().unwrap()]);
    assert!(shown.find("Mend it.").unwrap() < shown.find("Mended.").unwrap(), "{shown}");
    // Only a message changes.
    answer("Mended, and tested.", 80);
    assert_eq!(opencode.sessions(), rows(&[("Mend the cart", 80)]));
    let part = data.join("storage/part/msg_1/prt_2.json");
    let refused = home.run(&["replay", part.to_str().unwrap()]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("is a part of a session"), "{error}");
    // A later release moves the sessions, and leaves the files.
    fs::remove_dir_all(home.path().join(".local/share/foldline")).unwrap();
    fs::rename(data.join("later"), data.join("opencode.db")).unwrap();
    opencode.add("ses_a", "Mend the cart");
    assert_eq!(opencode.sessions().len(), 1);
}

/// A view is a query of the author of the file.
#[test]
fn a_view_that_never_ends_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = Connection::open(&path).unwrap();
    let tables = TABLES.replacen("CREATE TABLE session", "CREATE TABLE other", 1);
    connection.execute_batch(&tables).unwrap();
    let view = "CREATE VIEW session(id, directory, title, time_created) AS
        WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT 's' || n, '/w', 't', n FROM r";
    connection.execute_batch(view).unwrap();
    drop(connection);
    let db = folder.path().join("db");
    let output = run(&["ingest", path.to_str().unwrap(), "--db", db.to_str().unwrap()]);
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("prohibited") || said.contains("not authorized"), "{said}");
}

/// Its messages are counted once, also if the database is read again since an earlier row has changed.
#[cfg(unix)]
#[test]
fn a_session_in_the_database_is_followed_alone() {
    let opencode = OpencodeHome::new();
    opencode.add("ses_a", "Mend the cart");
    opencode.add("ses_b", "Read the cart");
    let mut child = foldline()
        .env("HOME", opencode.home.path())
        .args(["show", "ses_b", "--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut shown = Vec::new();
    let mut lines = lines.inspect(|line| shown.push(line.clone()));
    assert!(lines.any(|line| line.contains("Answer 1.")));
    // A session that stands before the others, and a change of what was read.
    opencode.add("ses_0", "Paint it");
    opencode.opencode.change("UPDATE session SET title = 'Mend it' WHERE id = 'ses_a'");
    opencode.say("ses_b", "2");
    assert!(lines.any(|line| line.contains("Answer 2.")));
    signal("INT", child.id());
    lines.by_ref().for_each(drop);
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let shown = shown.join("\n");
    for other in ["Mend", "Paint", "ses_0", "ses_a"] {
        assert!(!shown.contains(other), "{shown}");
    }
    assert!(shown.contains("200 in") && shown.contains("20 out"), "{shown}");
}
