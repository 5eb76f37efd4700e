//! No answer has more tokens than it may have.

use std::{fs, path::Path};

use serde_json::json;

use super::{
    client::{Client, database, next},
    logs::stdout,
};
use crate::captures;

/// A part of the estimate that `foldline mcp` documents, in twelfths of a token: it counts more for rare characters.
fn estimate(text: &str) -> usize {
    let mut run = 0;
    let part = |c: char| {
        run = if c.is_ascii_alphanumeric() { run + 1 } else { 0 };
        match c {
            _ if run > 16 => 12,
            ' ' => 4,
            '\n' => 12,
            c if c.is_ascii_alphabetic() => 4,
            c if c.is_ascii() => 9,
            '⠀'..='⣿' | 'ሀ'..='፼' | '⟵'..='⟿' => 36,
            c if c < '\u{2e80}' => 12,
            _ => 24,
        }
    };
    text.chars().map(part).sum()
}

#[test]
fn no_answer_about_any_log_exceeds_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("all.db");
    let (root, db) = (Path::new(env!("CARGO_MANIFEST_DIR")), db.to_str().unwrap());
    let fixtures = root.join("../tests/fixtures");
    let mut logs = vec![fixtures.to_str().unwrap().to_owned()];
    logs.extend(captures::folder().and_then(|folder| folder.to_str().map(str::to_owned)));
    let mut ingest = vec!["ingest", "--db", db];
    ingest.extend(logs.iter().map(String::as_str));
    // Some fixtures are no logs of a known agent.
    super::logs::run(&ingest);
    let count =
        stdout(&["query", "sql", "SELECT max(id) FROM sessions", "--db", db, "--format", "csv"]);
    let count: u32 = count.lines().nth(1).unwrap().parse().unwrap();
    assert!(count > 50, "{count}");
    assert!(fs::metadata(db).unwrap().len() > 0);
    let mut client = Client::of(Path::new(db));
    let mut questions = vec![
        ("recent_sessions", json!({})),
        ("failures", json!({})),
        ("failures", json!({ "text": "e", "redact": true })),
        ("files_touched", json!({})),
        ("files_touched", json!({ "path": "src" })),
        ("usage", json!({ "by": ["session", "model"] })),
        ("search_sessions", json!({ "text": "確認" })),
        ("search_sessions", json!({ "text": "the" })),
        ("search_sessions", json!({ "text": "e", "redact": true })),
        ("search_sessions", json!({ "text": "é".repeat(40) })),
    ];
    questions.extend(
        (1..=count).map(|number| ("get_session", json!({ "session": number.to_string() }))),
    );
    let mut asked = 0;
    for (number, (tool, arguments)) in questions.into_iter().enumerate() {
        let budgets = [200, 2_000, 517, 20_000];
        // There are many sessions, with one budget each.
        let budgets = match tool {
            "get_session" => &budgets[number % 4..][..1],
            _ => &budgets[..],
        };
        for &budget in budgets {
            let mut arguments = arguments.clone();
            arguments["max_tokens"] = budget.into();
            // Two pages of each.
            for _ in 0..2 {
                let answer = client.call(tool, &arguments);
                let tokens = estimate(&answer.text);
                assert!(tokens <= budget * 12, "{tool} {arguments}: {tokens}\n{}", answer.text);
                asked += 1;
                match next(&answer.text) {
                    Some((_, next)) => arguments = next,
                    None => break,
                }
            }
        }
    }
    // The fixtures alone; captures add more.
    assert!(asked > 200, "{asked}");
    // An error is an answer, too.
    let wrong =
        json!({ "name": "failures", "arguments": { "x".repeat(10_000): 1, "max_tokens": 200 } });
    let wrong = client.response("tools/call", &wrong)["error"]["message"].take();
    assert!(estimate(wrong.as_str().unwrap()) <= 200 * 12, "{wrong}");
    // The call that gets the rest repeats the arguments, and is never cut.
    let long = json!({ "text": "é".repeat(200), "max_tokens": 200 });
    let wrong = client.error("search_sessions", &long);
    assert!(wrong.contains("need max_tokens: "), "{wrong}");
}

/// Tokenizers split rare characters into bytes.
#[test]
fn texts_in_any_script_keep_the_budget_and_name_the_next_call() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    for (number, text) in ["⠋⠙⠹⠸⠼", "ፈጣን ቡናማ ቀበሮ ", "⟵⟶⟷⟸⟹"].iter().enumerate()
    {
        let mut log = String::new();
        for entry in 0..30 {
            let text = text.repeat(40);
            let message = json!({ "type": "message", "role": "user", "id": format!("{entry}"), "text": text,
                                  "session_id": format!("s{number}"), "timestamp": 1_760_000_000_000_u64 + entry });
            log += &format!("{message}\n");
        }
        fs::write(logs.join(format!("{number}.jsonl")), log).unwrap();
    }
    let mut client = Client::of(&database(&logs));
    for budget in [200, 700, 3_000] {
        for (tool, mut arguments) in [
            ("get_session", json!({ "session": "1" })),
            ("get_session", json!({ "session": "2" })),
            ("get_session", json!({ "session": "3", "from": 1, "to": 1 })),
            ("search_sessions", json!({ "text": "ቡናማ" })),
        ] {
            arguments["max_tokens"] = budget.into();
            let text = client.text(tool, &arguments);
            assert!(estimate(&text) <= budget * 12, "{tool} {arguments}: {text}");
            if budget < 700 {
                assert!(next(&text).is_some(), "{tool} {arguments}: {text}");
            }
        }
    }
}
