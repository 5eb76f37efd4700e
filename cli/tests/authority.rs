//! What an agent may do without asking: the answer to "since when was everything allowed".

use std::fs;

use serde_json::{Value, json};

use crate::{first_hour::Home, logs::stdout};

const LOG: &str = r#"{"type":"permission-mode","permissionMode":"default","sessionId":"s-1"}
{"type":"user","uuid":"u-1","parentUuid":null,"sessionId":"s-1","version":"2.1.62","cwd":"/srv/shop","permissionMode":"default","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"Look."}}
{"type":"assistant","uuid":"u-2","parentUuid":"u-1","sessionId":"s-1","version":"2.1.62","cwd":"/srv/shop","timestamp":"2026-03-01T10:00:05.000Z","message":{"id":"m-1","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"Done."}]}}
{"type":"permission-mode","permissionMode":"bypassPermissions","sessionId":"s-1"}
{"type":"user","uuid":"u-3","parentUuid":"u-2","sessionId":"s-1","version":"2.1.62","cwd":"/srv/shop","permissionMode":"bypassPermissions","timestamp":"2026-03-01T11:00:00.000Z","message":{"role":"user","content":"Do."}}
{"type":"user","uuid":"u-4","parentUuid":"u-3","sessionId":"s-1","version":"2.1.62","cwd":"/srv/shop","permissionMode":"acceptEdits","timestamp":"2026-03-01T12:00:00.000Z","message":{"role":"user","content":"Edit."}}
"#;

#[test]
fn since_when_everything_was_allowed_is_one_query() {
    let folder = tempfile::tempdir().unwrap();
    let [log, db] = ["log.jsonl", "db"].map(|name| folder.path().join(name));
    fs::write(&log, LOG).unwrap();
    let [log, db] = [&log, &db].map(|path| path.to_str().unwrap());
    // Parts of the log give the same rows as the whole.
    for end in 1..=LOG.lines().count() {
        let part: String = LOG.split_inclusive('\n').take(end).collect();
        fs::write(log, part).unwrap();
        stdout(&["ingest", log, "--db", db]);
    }
    let ask = |sql: &str| -> Value {
        let answer = stdout(&["query", "sql", sql, "--db", db, "--format", "json"]);
        serde_json::from_str(&answer).unwrap()
    };
    let changes = ask("SELECT allowed, permission_mode AS mode, entries, line, since, last_at
                       FROM authority ORDER BY id");
    let at = |time: &str| time.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let (ten, noon) = (at("2026-03-01T10:00:05Z"), at("2026-03-01T12:00:00Z"));
    assert_eq!(
        changes,
        json!([
            {"allowed": "asking", "mode": "default", "entries": 0, "line": 1,
             "since": null, "last_at": null},
            {"allowed": "everything", "mode": "bypassPermissions", "entries": 3, "line": 4,
             "since": null, "last_at": ten},
            {"allowed": "edits", "mode": "acceptEdits", "entries": 4, "line": 6,
             "since": noon, "last_at": at("2026-03-01T11:00:00Z")},
        ])
    );
    let since = ask("SELECT session_id, coalesce(since, authority.last_at) AS since FROM authority
                     JOIN sessions ON sessions.id = session WHERE allowed = 'everything'");
    assert_eq!(since, json!([{"session_id": "s-1", "since": ten}]));
    let shown = stdout(&["show", "s-1", "--db", db]);
    assert!(shown.contains("allowed   edits (acceptEdits)"), "{shown}");
    let replayed = stdout(&["replay", log]);
    let (bypass, edits) = ("allowed everything (bypassPermissions)", "edits (acceptEdits)");
    for change in [format!("asking (default) → {}", &bypass[8..]), format!(" → {edits}")] {
        assert!(replayed.contains(&change), "{replayed}");
    }
}

#[test]
fn levels_have_their_sessions_and_the_time() {
    let home = Home::new();
    let folder = home.log().with_file_name("b.jsonl");
    fs::write(folder, LOG).unwrap();
    let levels = home.json(&["allowed", "--agent", "claude"]);
    let of = |levels: &Value, level: &str| {
        let row = levels.as_array().unwrap().iter().find(|row| row["allowed"] == level);
        row.unwrap_or_else(|| panic!("{level}: {levels:#}")).clone()
    };
    assert_eq!(
        of(&levels, "everything"),
        json!({"allowed": "everything", "modes": "bypassPermissions", "sessions": 1,
               "since": "2026-03-01T10:00:05Z", "until": "2026-03-01T12:00:00Z",
               "session": of(&levels, "everything")["session"], "session_id": "s-1", "title": "Look.",
               "project": "/srv/shop"})
    );
    let order: Vec<_> = levels.as_array().unwrap().iter().map(|row| &row["allowed"]).collect();
    assert_eq!(order, ["everything", "edits", "asking"]);
    assert_eq!(of(&levels, "asking")["since"], "2026-03-01T10:00:00Z");
    let sessions = home.json(&["allowed", "everything"]);
    assert_eq!(sessions[0]["session_id"], "s-1");
    assert_eq!(sessions[0]["agent"], "claude-code");
    // The time of the filter is that of what was allowed, and the filter of sessions has the same ones.
    assert_eq!(home.json(&["allowed", "everything", "--since", "2026-03-02"]), json!([]));
    assert_eq!(home.ask(&["allowed", "everything", "--project", "other"]), "nothing was found\n");
    for level in ["everything", "asking", "reading"] {
        let named = |rows: Value| {
            let rows = rows.as_array().unwrap().iter().map(|row| row["session"].to_string());
            rows.collect::<Vec<_>>().len()
        };
        let filtered = named(home.json(&["sessions", "--allowed", level]));
        assert_eq!(filtered, named(home.json(&["allowed", level])), "{level}");
    }
    let refused = home.run(&["allowed", "nothing"]);
    assert_eq!(refused.status.code(), Some(2));
    let csv = home.ask(&["allowed", "edits", "-f", "csv"]);
    assert!(csv.starts_with("session,session_id,title,project,agent,modes,since,until\n"), "{csv}");
}
