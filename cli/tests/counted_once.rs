//! Who counts a request once: the logs of forks repeat the requests of the session that they began as.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{first_hour::Home, logs::run};

/// A thread of Codex whose running total has grown like this; the file of a fork begins with the counts of its parent.
pub(crate) fn thread(id: &str, parent: Option<&str>, at: u32, counts: &[u64]) -> String {
    let line = |second: usize, kind: &str, payload: Value| {
        let timestamp = format!("2026-09-{at:02}T10:{:02}:{:02}Z", second / 60, second % 60);
        json!({"timestamp": timestamp, "type": kind, "payload": payload}).to_string() + "\n"
    };
    let started = format!("2026-09-{at:02}T10:00:00Z");
    let meta = json!({"id": id, "timestamp": started, "cwd": "/w", "cli_version": "0.140.0", "forked_from_id": parent});
    let mut log = line(0, "session_meta", meta)
        + &line(0, "turn_context", json!({"turn_id": "t", "cwd": "/w", "model": "gpt-5.4"}))
        + &line(1, "event_msg", json!({"type": "user_message", "message": format!("begin {id}")}));
    let mut total = 0;
    for (number, input) in counts.iter().enumerate() {
        total += input;
        let usage = |tokens: u64| json!({"input_tokens": tokens, "output_tokens": tokens / 10, "total_tokens": tokens + tokens / 10});
        let info = json!({"total_token_usage": usage(total), "last_token_usage": usage(*input)});
        // The times of copies are those of the copy, and nothing marks them.
        log += &line(2 + 2 * number, "event_msg", json!({"type": "token_count", "info": info}));
    }
    log
}

fn input(db: &Path, command: &[&str]) -> f64 {
    let output = run(&[command, &["--format", "json", "--db", db.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{output:?}");
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["input_tokens"].as_f64().unwrap_or(0.0)).sum()
}

#[test]
fn forks_count_once_whichever_is_read_first() {
    let home = Home::new();
    let logs = [
        ("a", thread("a", None, 1, &[100, 200, 300])),
        // Two forks of one state, and a fork of a fork.
        ("b", thread("b", Some("a"), 2, &[100, 200, 70])),
        ("c", thread("c", Some("a"), 3, &[100, 200, 80])),
        ("d", thread("d", Some("b"), 4, &[100, 200, 70, 9])),
        // Another thread with the same counts.
        ("e", thread("e", None, 5, &[100, 200])),
        // A fork that goes on as the first one did.
        ("f", thread("f", Some("a"), 6, &[100, 200, 70])),
    ];
    let expected = [600, 70, 80, 9, 300, 70];
    let orders = [[0, 1, 2, 3, 4, 5], [3, 5, 1, 2, 4, 0], [5, 4, 3, 2, 1, 0], [2, 0, 3, 5, 1, 4]];
    for (number, order) in orders.into_iter().enumerate() {
        let db = home.path().join(format!("db{number}"));
        for at in order {
            let (name, log) = &logs[at];
            let folder = home.path().join(format!("{number}-{name}"));
            fs::create_dir_all(&folder).unwrap();
            let path = folder.join("rollout.jsonl");
            fs::write(&path, log).unwrap();
            let read = run(&["ingest", path.to_str().unwrap(), "--db", db.to_str().unwrap()]);
            assert!(read.status.success(), "{read:?}");
        }
        let all: u64 = expected.iter().sum();
        for command in [&["usage"][..], &["usage", "--by", "session"], &["sessions"]] {
            let seen = input(&db, command);
            assert!((seen - all as f64).abs() < 0.5, "{order:?} {command:?}: {seen}");
        }
        let connection = rusqlite::Connection::open(&db).unwrap();
        let sql = "SELECT session_id, total(input_tokens) FROM cost GROUP BY session_id ORDER BY session_id";
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, f64>(1)? as u64)));
        let seen: Vec<(String, u64)> = rows.unwrap().map(Result::unwrap).collect();
        let by_session = logs.iter().zip(expected);
        let by_session: Vec<_> =
            by_session.map(|((id, _), input)| (id.to_string(), input)).collect();
        assert_eq!(seen, by_session, "{order:?}");
    }
    // Without its parent, a fork has what was used for it.
    let db = home.path().join("alone");
    let path = home.path().join("0-b/rollout.jsonl");
    run(&["ingest", path.to_str().unwrap(), "--db", db.to_str().unwrap()]);
    assert!((input(&db, &["usage"]) - 370.0).abs() < 0.5);
}

/// A reply of Claude Code at a minute past eight on 2026-10-02, with 1000 tokens of input and 100 of output.
fn reply(id: &str, minute: u32, agent: Option<&str>, block: &Value) -> String {
    let mut line = json!({
        "type": "assistant", "uuid": format!("u-{id}"), "sessionId": "root", "version": "2.1.287", "cwd": "/w",
        "timestamp": format!("2026-10-02T08:{minute:02}:00.000Z"),
        "message": {"id": id, "role": "assistant", "model": "claude-sonnet-4-5", "content": [block],
                    "usage": {"input_tokens": 1000, "output_tokens": 100}},
    });
    if let Some(agent) = agent {
        line["isSidechain"] = true.into();
        line["agentId"] = agent.into();
    }
    line.to_string() + "\n"
}

/// A root with a stated window, and a sub-agent with a reply in it and one after it.
pub(crate) fn window() -> [(&'static str, String); 2] {
    let text = json!({"type": "text", "text": "Sown."});
    let call = json!({"type": "tool_use", "id": "t1", "name": "Agent", "input": {"prompt": "Sow"}});
    let spent = json!({
        "type": "cost-state", "sessionId": "root", "startTime": 1_790_928_000_000_i64, "totalCostUSD": 0.5,
        "modelUsage": {"claude-sonnet-4-5": {"inputTokens": 9000, "outputTokens": 900, "costUSD": 0.5}},
    });
    let root =
        reply("m1", 1, None, &call) + &reply("m2", 9, None, &text) + &spent.to_string() + "\n";
    let agent = reply("s1", 5, Some("7a"), &text) + &reply("s2", 30, Some("7a"), &text);
    [("root.jsonl", root), ("root/subagents/agent-7a.jsonl", agent)]
}

#[test]
fn a_stated_window_includes_its_sub_agents_whichever_is_read_first() {
    let home = Home::new();
    let logs = window();
    let estimated = 1000.0 * 3e-6 + 100.0 * 15e-6;
    for order in [[0, 1], [1, 0]] {
        let folder = home.path().join(format!("{order:?}")).join(".claude/projects/-w");
        let db = home.path().join(format!("db{order:?}"));
        for at in order {
            let (name, log) = &logs[at];
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, log).unwrap();
            let read = run(&["ingest", path.to_str().unwrap(), "--db", db.to_str().unwrap()]);
            assert!(read.status.success(), "{read:?}");
        }
        let sum = |command: &[&str], column: &str| -> f64 {
            let named = [command, &["--format", "json", "--db", db.to_str().unwrap()]].concat();
            let rows: Value = serde_json::from_slice(&run(&named).stdout).unwrap();
            rows.as_array().unwrap().iter().map(|row| row[column].as_f64().unwrap_or(0.0)).sum()
        };
        let view = "SELECT coalesce(stated_usd, estimated_usd) AS cost_usd, input_tokens FROM cost";
        for command in [
            &["usage"][..],
            &["usage", "--by", "session"],
            &["sessions"],
            &["sessions", "--agents"],
            &["query", "sql", view],
        ] {
            let usd = sum(command, "cost_usd");
            assert!((usd - 0.5 - estimated).abs() < 1e-9, "{order:?} {command:?}: {usd}");
            assert_eq!(sum(command, "input_tokens"), 4000.0, "{order:?} {command:?}");
        }
    }
}
