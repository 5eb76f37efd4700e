//! Active time, in which pauses are not work, and the days of a session.

use std::fs;

use serde_json::{Value, json};

use super::{
    client::{Server, folder},
    logs::stdout,
};

/// Lines of a session of Claude Code: a prompt or an answer at each time.
fn log(session: &str, turns: &[(&str, &str, &str)]) -> String {
    let mut log = String::new();
    for (number, (role, at, words)) in turns.iter().enumerate() {
        let content = match *role {
            "user" => json!(words),
            _ => json!([{"type": "text", "text": words}]),
        };
        let line = json!({"type": role, "sessionId": session, "uuid": format!("{session}{number}"), "cwd": "/srv/x",
            "timestamp": format!("{at}.000Z"), "message": {"role": role, "content": content}});
        log += &format!("{line}\n");
    }
    log
}

#[test]
fn a_pause_is_not_work() {
    let (_folder, logs) = folder();
    // The machine slept during the first turn. The other session took less time, and had no pause.
    let slept = [
        ("user", "2026-03-01T22:00:00", "Mend the harbour"),
        ("assistant", "2026-03-01T22:00:30", "I look."),
        ("assistant", "2026-03-02T06:50:00", "I see."),
        ("assistant", "2026-03-02T06:50:14", "Done."),
        ("user", "2026-03-02T06:51:00", "Thanks"),
        ("assistant", "2026-03-02T06:51:02", "Goodbye."),
    ];
    let awake = [
        ("user", "2026-03-02T10:00:00", "Paint it"),
        ("assistant", "2026-03-02T10:04:00", "Painted."),
    ];
    fs::write(logs.join("slept.jsonl"), log("slept", &slept)).unwrap();
    fs::write(logs.join("awake.jsonl"), log("awake", &awake)).unwrap();
    let server = Server::start(&logs, &["--timezone", "UTC"]);
    let rows: Vec<Value> =
        serde_json::from_str(&server.body("/api/sessions?sort=duration")).unwrap();
    let times = rows.iter().map(|row| (&row["session"], &row["active_ms"], &row["duration_ms"]));
    let expected = [("awake", 240_000, 240_000), ("slept", 92_000, 31_862_000)];
    let expected =
        expected.map(|(session, active, all)| (json!(session), json!(active), json!(all)));
    assert!(times.eq(expected.iter().map(|(a, b, c)| (a, b, c))), "{rows:?}");
    let list = server.body("/?sort=duration");
    assert!(list.contains("1 m 32 s<small> of 8 h 51 m</small>"), "{list}");
    assert!(list.find("Paint it") < list.find("Mend the harbour"), "{list}");
    let page = server.body("/sessions/slept");
    assert!(page.contains("<dt>Active</dt><dd>1 m 32 s</dd><dd>of 8 h 51 m, "), "{page}");
    assert!(page.contains("22:00, 44.0 s of 8 h 50 m"), "{page}");
    assert!(page.contains("06:51, 2.0 s"), "{page}");
    let other = server.body("/sessions/awake");
    assert!(other.contains("<dt>Duration</dt><dd>4 m 00 s</dd>"), "{other}");
    // The terminal has the same.
    let db = logs.with_extension("db");
    let arguments = ["sessions", "--db", db.to_str().unwrap(), "--sort", "duration"];
    let table = stdout(&[&arguments[..], &["--width", "120"]].concat());
    assert!(table.contains("active") && table.contains("1 m 32 s"), "{table}");
    let rows: Vec<Value> =
        serde_json::from_str(&stdout(&[&arguments[..], &["--format", "json"]].concat())).unwrap();
    assert_eq!((&rows[1]["session"], &rows[1]["active_ms"]), (&json!("slept"), &json!(92_000)));
}

#[test]
fn a_day_is_said_where_it_changes_and_where_it_is_not_today() {
    let (_folder, logs) = folder();
    let turns = [
        ("user", "2026-03-01T22:00:00", "Mend the harbour"),
        ("assistant", "2026-03-01T23:30:00", "Mended."),
        ("user", "2026-03-02T06:50:00", "Paint it"),
        ("assistant", "2026-03-02T06:50:14", "Painted."),
        ("assistant", "2026-03-04T06:50:14", "It is dry."),
    ];
    fs::write(logs.join("log.jsonl"), log("s", &turns)).unwrap();
    let server = Server::start(&logs, &["--timezone", "Europe/Paris"]);
    let page = server.body("/sessions/s");
    let days: Vec<&str> = page
        .split("<p class=\"new-day\">")
        .skip(1)
        .map(|day| day.split("</time>").next().unwrap().rsplit('>').next().unwrap())
        .collect();
    // Half past eleven in UTC is the next day in Paris.
    assert_eq!(days, ["Monday, 2 March 2026", "Wednesday, 4 March 2026"]);
    let mended = page.find("Mended.").unwrap();
    assert!(page.find("Monday, 2 March").unwrap() < mended, "{page}");
    // The list has it where it ended, or among those of now, where the time alone would be wrong.
    let list = server.body("/");
    assert!(list.contains(">1 Mar 23:00</time>"), "{list}");
    // The map has times, of which the first has its day.
    assert!(page.contains("data-hours=\"1 Mar 23:00|"), "{page}");
    let db = logs.with_extension("db");
    let exported = stdout(&["export", "s", "--db", db.to_str().unwrap(), "--timezone", "UTC"]);
    assert_eq!(exported.matches("class=\"new-day\"").count(), 2, "{exported}");
}
