//! The databases of opencode, Goose, Zed and Hermes are their sessions, in lines.

use std::{fs, path::Path};

use foldline_agents::{DynExecutor, Registry, opencode::OpencodeSession};
use foldline_domain::{Conversation, DomainEvent};
use foldline_testkit::run;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::opened::{conversation, lines as content};

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
    let lines = lines(&path);
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
    // Windows does not tell which file it is.
    assert!(first.is_same_file(&second) || cfg!(windows));
    assert!(!second.is_untouched_since(&first));
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
    let executor = DynExecutor::new(OpencodeSession::default());
    let events = run::sourced_events(&executor, [lines.as_bytes()]);
    let conversation: Conversation = events.iter().map(|event| &event.item).collect();
    let used = conversation.summary.usage.unwrap();
    assert_eq!((used.input_tokens, used.output_tokens), (Some(4), Some(8)));
}

/// The tables of opencode 2, whose sessions have this table.
fn add_newer_tables(connection: &Connection, sessions: &str) {
    let tables = format!(
        "CREATE TABLE {sessions} (id TEXT PRIMARY KEY, parent_id TEXT, fork_session_id TEXT, directory TEXT NOT NULL,
             title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER);
         CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER,
             time_created INTEGER, time_updated INTEGER, data TEXT);"
    );
    connection.execute_batch(&tables).unwrap();
}

fn add_newer_session(connection: &Connection, table: &str, id: &str, fork_of: Option<&str>) {
    let sql =
        format!("INSERT INTO {table} VALUES (?1, NULL, ?2, '/srv/ada', 'Newer', '2.0.1', 5, 5)");
    connection.execute(&sql, (id, fork_of)).unwrap();
}

fn add_row(connection: &Connection, session: &str, id: &str, seq: i64, created: i64, text: &str) {
    let tokens = json!({"input": 1, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}});
    let data = json!({"time": {"created": created}, "content": [{"type": "text", "text": text}], "tokens": tokens});
    let sql = "INSERT INTO session_message VALUES (?1, ?2, 'assistant', ?3, ?4, ?4, ?5)";
    connection.execute(sql, (id, session, seq, created, data.to_string())).unwrap();
}

/// The lines of a database.
fn lines(path: &Path) -> Vec<Value> {
    content(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The ids of the messages in a line.
fn messages(line: &Value) -> Vec<&str> {
    let messages = line["messages"].as_array().unwrap().iter();
    messages.map(|it| it["id"].as_str().or_else(|| it["info"]["id"].as_str()).unwrap()).collect()
}

/// The identities of the requests in a database.
fn requests(path: &Path) -> Vec<String> {
    let executor = DynExecutor::new(OpencodeSession::default());
    let events = run::sourced_events(&executor, [content(path).as_bytes()]);
    let ids = events.into_iter().filter_map(|event| match event.item {
        DomainEvent::Usage { message_id, .. } => Some(message_id.unwrap().to_string()),
        _ => None,
    });
    ids.collect()
}

#[test]
fn messages_of_opencode_2_are_in_the_order_of_their_numbers() {
    for (table, sessions) in [("session_v2", "session_v2"), ("session", "session")] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("opencode-next.db");
        let connection = Connection::open(&path).unwrap();
        add_newer_tables(&connection, sessions);
        add_newer_session(&connection, table, "ses_a", None);
        add_row(&connection, "ses_a", "m1", 2, 10, "second");
        add_row(&connection, "ses_a", "m2", 1, 20, "first");
        let lines = lines(&path);
        assert_eq!(messages(&lines[0]), ["m2", "m1"], "{table}");
        assert_eq!(lines[0]["messages"][0]["type"], "assistant");
        assert_eq!(requests(&path).len(), 2);
    }
}

#[test]
fn sessions_of_both_generations_are_one_sequence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = database(&path);
    add_session(&connection, "ses_a", 1);
    for (id, created) in [("m1", 10), ("m2", 20), ("m3", 30), ("m5", 50)] {
        add_message(&connection, "ses_a", id, created, "older");
    }
    add_session(&connection, "ses_b", 2);
    add_message(&connection, "ses_b", "m9", 90, "not moved yet");
    // The table is there, and empty, before the first session is moved.
    add_newer_tables(&connection, "session_v2");
    assert_eq!(messages(&lines(&path)[0]), ["m1", "m2", "m3", "m5"]);
    add_newer_session(&connection, "session_v2", "ses_a", None);
    for (id, seq, created) in [("m1", 1, 10), ("m2", 2, 20), ("s3", 3, 30), ("m4", 4, 40)] {
        add_row(&connection, "ses_a", id, seq, created, "newer");
    }
    let lines = lines(&path);
    // An older program continues to write; a message under another id is still that of its time.
    let ids: Vec<_> = lines.iter().map(messages).collect();
    assert_eq!(ids, [vec!["m9"], vec!["m1", "m2", "s3", "m4", "m5"]]);
    assert_eq!(lines[1]["info"]["title"], "Newer");
    assert_eq!(lines[1]["messages"][0]["content"][0]["text"], "newer");
}

#[test]
fn the_copies_of_a_fork_are_the_same_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = database(&path);
    // The original is in the older generation, one copy in each.
    for (session, id) in [("ses_a", "m1"), ("ses_b", "m2")] {
        add_session(&connection, session, 1);
        add_message(&connection, session, id, 10, "answer");
    }
    add_newer_tables(&connection, "session_v2");
    add_newer_session(&connection, "session_v2", "ses_c", Some("ses_a"));
    add_row(&connection, "ses_c", "m3", 1, 10, "answer");
    add_row(&connection, "ses_c", "m4", 2, 70, "answer of the fork");
    let requests = requests(&path);
    assert_eq!(requests.len(), 4);
    assert!(requests[..3].iter().all(|id| *id == requests[0]), "{requests:?}");
    assert_ne!(requests[3], requests[0]);
    assert_eq!(lines(&path)[2]["info"]["forkSessionID"], "ses_a");
}

/// The tables of an older release of Goose, which has no ledger.
const GOOSE: &str = r#"
    CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, created_at TIMESTAMP,
        accumulated_input_tokens INTEGER, model_config_json TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT,
        created_timestamp INTEGER, timestamp TIMESTAMP);
    INSERT INTO sessions VALUES ('2', 'Later', '/srv', '2026-09-24 08:00:00', NULL, NULL),
        ('1', 'Weed', '/srv', '2026-09-23 08:00:00', 70, '{"model_name":"spade-1"}');
    INSERT INTO messages VALUES (7, 'm2', '1', 'assistant', '[{"type":"text","text":"Weeded."}]', 1790150402, NULL),
        (6, 'm1', '1', 'user', '[{"type":"text","text":"Weed."}]', 1790150401, NULL),
        (8, 'm3', '1', 'user', 'no list', 1790150403, NULL);"#;

#[test]
fn sessions_of_goose_are_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(GOOSE).unwrap();
    let session = json!({"session_id": "1", "name": "Weed", "working_dir": "/srv", "created_at": "2026-09-23 08:00:00",
        "accumulated_input_tokens": 70, "model_config": {"model_name": "spade-1"}});
    let message = json!({"session_id": "1", "id": "m1", "role": "user", "created": 1_790_150_401,
        "content": [{"type": "text", "text": "Weed."}]});
    let written = lines(&path);
    assert_eq!(written[..2], [session.clone(), message]);
    assert_eq!((&written[2]["id"], &written[3]["content"]), (&"m2".into(), &"no list".into()));
    assert_eq!(written[4]["session_id"], "2");
    let ledger = "
        CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY, session_id TEXT, model TEXT, input_tokens INTEGER);
        INSERT INTO usage_ledger VALUES (1, '1', 'spade-1', 40), (2, '1', 'spade-2', 30);";
    connection.execute_batch(ledger).unwrap();
    let rows = lines(&path)[0]["usage_ledger"].clone();
    assert_eq!(
        rows[1],
        json!({"id": 2, "session_id": "1", "model": "spade-2", "input_tokens": 30})
    );
}

/// The tables of an older release of Zed, which lacks columns.
const ZED: &str =
    "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL,
    data_type TEXT NOT NULL, data BLOB NOT NULL);";

fn add_thread(connection: &Connection, id: &str, updated: &str, data: &[u8]) {
    let sql = "INSERT INTO threads (id, summary, updated_at, data_type, data) VALUES (?1, 'Graft', ?2, 'zstd', ?3)";
    connection.execute(sql, (id, updated, data)).unwrap();
}

#[test]
fn threads_of_zed_are_lines_of_the_newest_form() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(ZED).unwrap();
    let older = json!({"version": "0.2.0", "summary": "Older", "messages": [
        {"id": 1, "role": "system", "segments": [{"type": "text", "text": "Rules."}]},
        {"id": 2, "role": "user", "segments": [{"type": "text", "text": "Graft."}], "tool_uses": [], "tool_results": []},
        {"id": 3, "role": "assistant", "segments": [{"type": "thinking", "text": "hm"}, {"type": "odd"}],
            "tool_uses": [{"id": "t1", "name": "terminal", "input": {"command": "cut"}}],
            "tool_results": [{"tool_use_id": "t1", "is_error": true, "content": "no knife"}]}]});
    add_thread(&connection, "b", "2026-01-02T00:00:00+00:00", older.to_string().as_bytes());
    let call = json!({"ToolUse": {"id": "t9", "name": "terminal", "raw_input": "", "input": {"command": "ls"}}});
    let results = json!({"t9": {"tool_use_id": "t9", "is_error": false, "content": [{"Text": "twig"}], "output": 1}});
    let mention = json!({"Mention": {"uri": "file:///srv/x", "content": "twig"}});
    let messages = json!([
        {"User": {"id": "u1", "content": [{"Text": "Graft"}, mention, {"Text": " now."}]}},
        {"Agent": {"content": [{"RedactedThinking": "x"}, call], "tool_results": results}}, "Resume"]);
    let newer = json!({"version": "0.3.0", "title": "Newer", "model": {"provider": "p", "model": "m"},
        "messages": messages, "cumulative_token_usage": {"input_tokens": 3, "cache_read_input_tokens": 6}});
    let compressed = ruzstd::encoding::compress_to_vec(
        newer.to_string().as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    add_thread(&connection, "a", "2026-01-03T00:00:00+00:00", &compressed);
    add_thread(&connection, "c", "2026-01-01T00:00:00+00:00", &compressed[..20]);
    let written = lines(&path);
    assert_eq!(written[1], json!({"zedThread": "c", "document": "unreadable"}));
    let of_older = &written[5]["message"]["content"];
    assert_eq!((&of_older[1]["type"], of_older.as_array().unwrap().len()), (&"odd".into(), 4));
    let [older, newer] = ["b", "a"].map(|thread| {
        let of_it = |line: &&str| line.contains(&format!("\"zedThread\":\"{thread}\""));
        let log = content(&path);
        conversation("zed", &log.lines().filter(of_it).collect::<Vec<_>>().join("\n"))
    });
    let said = |of: &Conversation| -> Vec<String> {
        let entries = of.entries.iter();
        entries.map(|it| format!("{}: {}", it.entry_type.name(), it.content.decode())).collect()
    };
    assert_eq!(
        said(&older)[..3],
        ["system_message: Rules.", "user_message: Graft.", "thinking: hm"]
    );
    let tool = older.entries.iter().find_map(|entry| entry.tool()).unwrap();
    assert_eq!((tool.status.name(), tool.action_type.name()), ("failed", "command_run"));
    let words = [
        "model_change: model: m",
        "user_message: Graft file:///srv/x now.",
        "system_message: [file:///srv/x]\ntwig",
        "thinking: [REDACTED]",
        "tool_use: ls",
    ];
    assert_eq!(said(&newer), words);
    assert_eq!(newer.entries[4].tool().unwrap().status.name(), "success");
    assert_eq!(newer.entries[1].metadata.as_ref().unwrap().message_id, Some("u1".into()));
    assert_eq!(newer.summary.warnings.len(), 0);
    let usage = newer.summary.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.cache_read_tokens), (Some(9), Some(6)));
    // The first folder of a thread is its project.
    let columns = "ALTER TABLE threads ADD COLUMN folder_paths TEXT; ALTER TABLE threads ADD COLUMN parent_id TEXT;
                   UPDATE threads SET folder_paths = '/srv/a' || char(10) || '/srv/b', parent_id = 'z';";
    connection.execute_batch(columns).unwrap();
    let facts = &lines(&path)[6]["facts"];
    assert_eq!((&facts["cwd"], &facts["parent"]), (&"/srv/a".into(), &"z".into()));
}

/// The tables of an older release of Hermes, which lacks columns.
const HERMES: &str = r#"
    CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, started_at REAL, input_tokens INTEGER, title TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,
        tool_calls TEXT, timestamp REAL, token_count INTEGER);
    INSERT INTO sessions VALUES ('2', 'cli', 'm', 20.0, NULL, 'Later'), ('1', 'cli', 'm', 10.0, 70, 'Net');
    INSERT INTO messages VALUES
        (2, '1', 'assistant', NULL, NULL,
            '[{"id":"c1","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}]', 12.5, 3),
        (1, '1', 'user', 'Current working directory: /srv/pond' || char(10) || 'Net.', NULL, NULL, 11.5, NULL),
        (3, '1', 'tool', 'carp', 'c1', NULL, 13.5, NULL);"#;

#[test]
fn sessions_of_hermes_are_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    Connection::open(&path).unwrap().execute_batch(HERMES).unwrap();
    let written = lines(&path);
    let facts = &written[0]["facts"];
    assert_eq!((&facts["title"], &facts["usage"]["input"]), (&"Net".into(), &70.into()));
    assert_eq!((&facts["createdAt"], &facts["usedAt"]), (&10.0.into(), &13.5.into()));
    assert_eq!(facts["cwd"], "/srv/pond");
    assert_eq!(written[4]["hermesSession"], "2");
    let said =
        conversation("hermes", &content(&path).lines().take(4).collect::<Vec<_>>().join("\n"));
    let tool = said.entries.iter().find_map(|entry| entry.tool()).unwrap();
    assert_eq!((tool.status.name(), tool.action_type.name()), ("success", "command_run"));
    assert_eq!(said.summary.warnings.len(), 0);
}

#[test]
fn older_files_of_hermes_have_the_same_messages() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join(".hermes");
    fs::create_dir_all(home.join("sessions")).unwrap();
    let (old, stored) = (home.join("sessions/7.jsonl"), home.join("sessions/1.jsonl"));
    let call = json!([{"id": "c1", "function": {"name": "terminal", "arguments": "{\"command\":\"ls\"}"}}]);
    let messages = [
        json!({"role": "user", "content": "Net the carp", "timestamp": 1_780_000_011.5}),
        json!({"role": "assistant", "content": "", "reasoning": "Deep.", "tool_calls": call, "timestamp": 1_780_000_012.5}),
        json!({"role": "tool", "content": "carp", "tool_call_id": "c1", "timestamp": 1_780_000_013.5}),
    ];
    let text: String = messages.iter().map(|message| format!("{message}\n")).collect();
    for file in [&old, &stored, &folder.path().join("7.jsonl")] {
        fs::write(file, &text).unwrap();
    }
    // The same messages elsewhere are of an unknown agent.
    assert_eq!(content(&folder.path().join("7.jsonl")), text);
    let said = conversation("hermes", &content(&old));
    let told: Vec<_> = said.entries.iter().map(|it| it.entry_type.name()).collect();
    assert_eq!(told, ["user_message", "thinking", "tool_use"]);
    let session = said.summary.session.as_ref().unwrap();
    assert_eq!(session.session_id.as_ref().unwrap().as_str(), "7");
    let tool = said.entries[2].tool().unwrap();
    assert_eq!((tool.status.name(), tool.duration_ms), ("success", Some(1000)));
    // The database has one of them too.
    Connection::open(home.join("state.db")).unwrap().execute_batch(HERMES).unwrap();
    assert_eq!((content(&stored).lines().count(), content(&old).lines().count()), (1, 4));
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
