//! Usage and cost: the page has the same numbers as the terminal.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    client::{Server, answered, folder},
    logs::stdout,
};

/// A log of Claude Code, which states tokens and no cost.
fn uncosted(session: &str, model: &str, tokens: u64) -> String {
    let line = |number: u64, role: &str, message: Value| {
        json!({"type": role, "uuid": format!("{session}-{number}"), "sessionId": session, "cwd": "/repo",
               "timestamp": format!("2026-02-0{number}T10:00:00.000Z"), "message": message})
            .to_string()
    };
    let used = json!({"input_tokens": tokens, "cache_read_input_tokens": 4 * tokens, "output_tokens": tokens});
    let said = json!({"id": format!("m-{session}"), "role": "assistant", "model": model, "usage": used,
                      "content": [{"type": "text", "text": "Done."}]});
    let asked = json!({"role": "user", "content": format!("Ask {session}")});
    [line(1, "user", asked), line(2, "assistant", said)].join("\n") + "\n"
}

fn answer(arguments: &[&str], db: &Path) -> Value {
    let more = ["--db", db.to_str().unwrap(), "--format", "json", "--timezone", "UTC"];
    serde_json::from_str(&stdout(&[arguments, &more].concat())).unwrap()
}

#[test]
fn charts_have_the_numbers_of_the_terminal() {
    let (_folder, logs) = folder();
    fs::write(logs.join("one.jsonl"), uncosted("one", "claude-opus-4-1-20250805", 100_000))
        .unwrap();
    fs::write(logs.join("two.jsonl"), uncosted("two", "claude-haiku-4-5-20251001", 30_000))
        .unwrap();
    fs::write(logs.join("droid.jsonl"), answered(40, 3)).unwrap();
    let server = Server::start(&logs, &[]);
    let db = logs.with_extension("db");
    let page = server.body("/usage?time=all&by=model");
    let total: f64 = answer(&["usage", "--by", "model"], &db)
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["cost_usd"].as_f64())
        .sum();
    assert!(total > 1.0 && page.contains(&format!("≈ ${total:.2}")), "{total}");
    for model in ["claude-opus-4-1-20250805", "claude-haiku-4-5-20251001"] {
        assert!(page.contains(model), "{model}");
    }
    let tools = answer(&["tools"], &db);
    let failing =
        tools.as_array().unwrap().iter().filter(|tool| tool["failures"].as_i64() > Some(0));
    for tool in failing {
        let name = format!("<th scope=\"row\">{}</th>", tool["tool"].as_str().unwrap());
        let row = page.split(&name);
        let row = row.last().unwrap().split("</tr>").next().unwrap();
        assert!(row.contains(&format!("<td>{}</td>", tool["calls"])), "{row}");
        assert!(row.contains(&format!("<td class=\"bad\">{}</td>", tool["failures"])), "{row}");
    }
    // Every chart can be read without seeing it.
    assert_eq!(page.matches("<figure").count(), page.matches("as a table</summary>").count());
    assert!(!page.contains("style="));
    let kinds = server.body("/usage?time=all");
    assert!(kinds.contains("cache read") && kinds.contains("estimated"));
    assert!(server.body("/usage?time=7d").contains("No call failed."));
}

/// The texts of the cells of each row of the table of usage, without markup.
fn rows(page: &str) -> Vec<Vec<String>> {
    let table = page.split("id=\"sums\"").nth(1).unwrap().split("</section>").next().unwrap();
    let text = |cell: &str| {
        let mut is_text = true;
        let cell: String = cell
            .chars()
            .filter(|&c| match c {
                '<' | '>' => {
                    is_text = c == '>';
                    false
                }
                _ => is_text,
            })
            .collect();
        cell
    };
    let cells = |row: &str| {
        let cells = row.replace("<td", "<th").replace("</td", "</th");
        let cells = cells.split("</th>").map(|cell| cell.split_once("<th").map_or("", |it| it.1));
        let cells = cells.map(|cell| text(cell.split_once('>').map_or("", |it| it.1)));
        let mut cells: Vec<_> = cells.collect();
        cells.truncate(8);
        cells
    };
    table.split("<tr>").skip(2).map(cells).collect()
}

#[test]
fn the_table_has_the_rows_of_the_terminal_whatever_usage_is_divided_by() {
    let (_folder, logs) = folder();
    for (name, model, tokens) in
        [("one", "claude-opus-4-1-20250805", 1_234_567), ("two", "claude-haiku-4-5-20251001", 30)]
    {
        fs::write(logs.join(format!("{name}.jsonl")), uncosted(name, model, tokens)).unwrap();
    }
    fs::write(logs.join("droid.jsonl"), answered(40, 3)).unwrap();
    let server = Server::start(&logs, &["--timezone", "UTC"]);
    let db = logs.with_extension("db");
    let grouped = |value: &Value| {
        let digits = value.as_u64().map(|count| count.to_string()).unwrap_or_default();
        let digits: Vec<char> = digits.chars().rev().collect();
        let parts: Vec<String> = digits.chunks(3).map(|part| part.iter().rev().collect()).collect();
        parts.into_iter().rev().collect::<Vec<_>>().join(",")
    };
    for (filter, more) in [
        ("", vec![]),
        ("&agent=claude-code", vec!["--agent", "claude-code"]),
        ("&model=opus", vec!["--model", "opus"]),
        ("&project=repo", vec!["--project", "repo"]),
        ("&since=2026-02&until=2026-02-20", vec!["--since", "2026-02", "--until", "2026-02-20"]),
    ] {
        for by in ["day", "month", "agent", "project", "session", "model", "branch"] {
            let page = server.body(&format!("/usage?by={by}{filter}"));
            let expected = answer(&[&["usage", "--by", by], &*more].concat(), &db);
            let expected = expected.as_array().unwrap();
            let mut found = rows(&page);
            assert_eq!(found.pop().unwrap()[0], "Total");
            assert_eq!(found.len(), expected.len(), "{by} {filter}");
            for (found, expected) in found.iter().zip(expected) {
                let context = format!("{by} {filter}: {found:?} {expected}");
                if by != "session" {
                    assert_eq!(
                        found[0],
                        expected[by].as_str().unwrap_or("not stated"),
                        "{context}"
                    );
                }
                let is_exact =
                    expected["cost_basis"] == "logged" || expected["cost_basis"].is_null();
                assert_eq!(found[1].starts_with('≈'), !is_exact, "{context}");
                for (cell, column) in [
                    (3, "input_tokens"),
                    (4, "output_tokens"),
                    (5, "cache_read_tokens"),
                    (6, "cache_write_tokens"),
                    (7, "sessions"),
                ] {
                    assert_eq!(found[cell], grouped(&expected[column]), "{column}: {context}");
                }
            }
        }
    }
    // A row leads to the sessions that it is about, and the filter is the same there.
    let page = server.body("/usage?by=model&agent=claude-code");
    let link = "/?agent=claude-code&amp;model=claude-haiku-4-5-20251001";
    assert!(page.contains(&format!("<a href=\"{link}\">claude-haiku-4-5-20251001</a>")), "{page}");
    let list = server.body(&link.replace("&amp;", "&"));
    assert!(list.contains("Ask two") && !list.contains("Ask one"));
    assert!(list.contains("<input type=\"hidden\" name=\"model\""));
    assert!(list.contains("href=\"/usage?agent=claude-code&amp;model=claude-haiku-4-5-20251001\""));
}

#[test]
fn a_cost_that_no_log_states_is_estimated_and_says_so() {
    let (folder, logs) = folder();
    let log = logs.join("one.jsonl");
    fs::write(&log, uncosted("one", "model-a", 1_000)).unwrap();
    fs::write(logs.join("two.jsonl"), uncosted("two", "model-b", 1_000)).unwrap();
    let prices = folder.path().join("prices.json");
    let price = json!({"model-a": {"input_cost_per_token": 0.001, "cache_read_input_token_cost": 0.0001,
                                   "output_cost_per_token": 0.002}});
    fs::write(&prices, price.to_string()).unwrap();
    let prices = prices.to_str().unwrap();
    let server = Server::start(&logs, &["--prices", prices]);
    let sessions: Vec<Value> = serde_json::from_str(&server.body("/api/sessions")).unwrap();
    let of = |id: &str| sessions.iter().find(|session| session["session"] == id).unwrap();
    // 1,000 × $0.001, 4,000 × $0.0001 from the cache, 1,000 × $0.002.
    assert!((of("one")["cost_usd"].as_f64().unwrap() - 3.4).abs() < 1e-9);
    assert_eq!(of("one")["cost_basis"], "estimated");
    assert_eq!((&of("two")["cost_usd"], &of("two")["cost_basis"]), (&Value::Null, &Value::Null));
    assert!(server.body("/").contains("≈ $3.40"));
    let page = server.body("/sessions/one");
    assert!(page.contains("<dd>≈ $3.40</dd><dd>estimated</dd>"));
    assert!(!server.body("/sessions/two").contains("≈"));
    let exported = stdout(&["export", log.to_str().unwrap(), "--prices", prices]);
    assert!(exported.contains("<dd>≈ $3.40</dd><dd>estimated</dd>"));
    // At a moment before anything was used, nothing had been paid.
    assert!(!server.body("/sessions/one?moment=2").contains("≈"));
}
