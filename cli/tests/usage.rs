//! `foldline usage`: tokens and costs that were computed by hand, and the same answer from logs and from a database.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::logs::{run, stdout};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder of logs, and a database of them.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(logs: &[(&str, Vec<Value>)]) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.logs()).unwrap();
        for (name, lines) in logs {
            let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
            fs::write(place.logs().join(name).with_extension("jsonl"), lines).unwrap();
        }
        place
    }

    fn logs(&self) -> PathBuf {
        self.folder.path().join("logs")
    }

    fn db(&self) -> String {
        self.folder.path().join("db").to_str().unwrap().to_owned()
    }

    /// The answer from the logs, which has to equal the answer from a database.
    fn usage(&self, question: &[&str]) -> Value {
        let logs = self.logs();
        let usage = |from: &[&str]| {
            let is_zoned = question.contains(&"--timezone");
            let zone: &[&str] = if is_zoned { &[] } else { &["--timezone", "UTC"] };
            let all = [&["usage", "--format", "json"], zone, from, question].concat();
            serde_json::from_str::<Value>(&stdout(&all)).unwrap()
        };
        let answer = usage(&[logs.to_str().unwrap()]);
        self.ingest(&logs);
        assert_eq!(answer, usage(&["--db", &self.db()]), "{question:?}");
        answer
    }

    fn ingest(&self, logs: &Path) {
        stdout(&["ingest", logs.to_str().unwrap(), "--db", &self.db()]);
    }

    /// The output and the messages of the program with the default database, the home of Claude Code being `claude`.
    fn at_home(&self, arguments: &[&str], input: &str) -> (String, String) {
        let folder = self.folder.path();
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_foldline"))
            .args(arguments)
            .env("CLAUDE_CONFIG_DIR", folder.join("claude"))
            .env("HOME", folder)
            .env_remove("FOLDLINE_DB")
            .env("XDG_CONFIG_HOME", folder)
            .env("XDG_DATA_HOME", folder)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        assert!(out.status.success());
        (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap())
    }

    /// Some columns of the answer.
    fn told(&self, question: &[&str], columns: &[&str]) -> Value {
        let answer = self.usage(question);
        let row = |row: &Value| columns.iter().map(|column| row[column].clone()).collect::<Value>();
        answer.as_array().unwrap().iter().map(row).collect()
    }
}

/// An answer of Claude Code's model, with this usage.
fn answer(session: &str, id: &str, at: &str, model: &str, usage: &Value) -> Value {
    json!({"type": "assistant", "sessionId": session, "uuid": format!("{session}-{id}"), "parentUuid": null,
           "timestamp": at, "isSidechain": false, "cwd": "/repo/shop", "gitBranch": "topic",
           "message": {"id": id, "model": model, "role": "assistant",
                       "content": [{"type": "text", "text": id}], "usage": usage}})
}

fn output(tokens: u64) -> Value {
    json!({"input_tokens": 100, "output_tokens": tokens})
}

/// A session that continues after midnight, and a session without times.
fn two_days() -> Place {
    let said = |id, at, model, tokens| answer("s", id, at, model, &output(tokens));
    Place::new(&[
        (
            "a",
            vec![
                said("m1", "2026-01-31T23:59:58.000Z", "large", 1),
                said("m2", "2026-01-31T23:59:59.999Z", "small", 2),
                said("m3", "2026-02-01T00:00:00.000Z", "large", 4),
            ],
        ),
        (
            "b",
            vec![
                json!({"type": "thread.started", "thread_id": "t"}),
                json!({"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 8}}),
            ],
        ),
    ])
}

#[test]
fn by_day_model_session_and_more() {
    let place = two_days();
    let days = json!([["2026-02-01", 1, 4], ["2026-01-31", 1, 3], [null, 1, 8]]);
    assert_eq!(place.told(&[], &["day", "sessions", "output_tokens"]), days);
    let models = json!([["large", 5], [null, 8], ["small", 2]]);
    assert_eq!(place.told(&["--by", "model"], &["model", "output_tokens"]), models);
    let sessions = json!([["s", 300, 7], ["t", 100, 8]]);
    let columns = ["session", "input_tokens", "output_tokens"];
    assert_eq!(place.told(&["--by", "session"], &columns), sessions);
    let both = json!([
        ["large", "2026-02-01", 4],
        ["large", "2026-01-31", 1],
        ["small", "2026-01-31", 2],
        [null, null, 8],
    ]);
    assert_eq!(place.told(&["--by", "model,day"], &["model", "day", "output_tokens"]), both);
    let months = json!([["2026-02", 4], ["2026-01", 3], [null, 8]]);
    assert_eq!(place.told(&["--by", "month"], &["month", "output_tokens"]), months);
    // The 1st is the Sunday of the fifth week.
    assert_eq!(place.told(&["--by", "week"], &["week"]), json!([["2026-W05"], [null]]));
    let places = json!([["claude-code", "/repo/shop", "topic"], ["codex", null, null]]);
    let question = ["--by", "agent,project,branch"];
    assert_eq!(place.told(&question, &["agent", "project", "branch"]), places);
    let logs = place.logs();
    let csv = stdout(&["usage", logs.to_str().unwrap(), "--by", "week,task", "-f", "csv"]);
    let columns = "week,task,sessions,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,reasoning_tokens,cost_usd,cost_basis";
    assert_eq!(csv.lines().next().unwrap(), columns);
}

#[test]
fn only_what_is_asked_for() {
    let place = two_days();
    let told = |question: &[&str]| place.told(question, &["output_tokens"]);
    assert_eq!(told(&["--since", "2026-02-01"]), json!([[4]]));
    assert_eq!(told(&["--until", "2026-01-31"]), json!([[3]]));
    // Usage without a time is in no period.
    let logs = place.logs();
    let table = stdout(&["usage", logs.to_str().unwrap(), "--since", "2026-02-01"]);
    assert!(table.contains("\nno time is stated for 108 tokens, not counted here\n"), "{table}");
    assert_eq!(told(&["--since", "2026-01-31T23:59:59Z"]), json!([[4], [2]]));
    assert_eq!(told(&["--by", "agent", "--model", "LARGE"]), json!([[5]]));
    assert_eq!(told(&["--by", "agent", "--agent", "codex"]), json!([[8]]));
    assert_eq!(told(&["--by", "agent", "--project", "shop"]), json!([[7]]));
    assert_eq!(told(&["--by", "agent", "--branch", "topic"]), json!([[7]]));
    assert_eq!(told(&["--by", "agent", "--branch", "main"]), json!([]));
    assert_eq!(told(&["--by", "agent", "--task", "s"]), json!([[7]]));
}

#[test]
fn a_day_is_that_of_the_time_zone() {
    // Summer time begins in Paris on the 29th at 01:00 UTC: that day begins at 23:00 UTC and ends at 22:00 UTC.
    let times = [
        "2026-03-28T22:59:59.999Z",
        "2026-03-28T23:00:00Z",
        "2026-03-29T21:59:59.999Z",
        "2026-03-29T22:00:00Z",
    ];
    let said = times.iter().zip([1, 2, 4, 8]);
    let lines = said.map(|(at, tokens)| answer("s", at, at, "large", &output(tokens))).collect();
    let place = Place::new(&[("a", lines)]);
    let told = |zone| place.told(&["--timezone", zone], &["day", "output_tokens"]);
    assert_eq!(
        told("Europe/Paris"),
        json!([["2026-03-30", 8], ["2026-03-29", 6], ["2026-03-28", 1]])
    );
    // Five hours and three quarters before UTC.
    assert_eq!(told("Asia/Kathmandu"), json!([["2026-03-30", 12], ["2026-03-29", 3]]));
}

/// The message of a sub-agent is in the file of its parent, too, and a resumed session repeats earlier
/// messages.
#[test]
fn a_message_counts_once_and_a_sub_agent_with_the_session_that_started_it() {
    let at = "2026-01-31T10:00:00.000Z";
    let said = |session, id, tokens| answer(session, id, at, "large", &output(tokens));
    let progress = json!({"type": "progress", "sessionId": "parent", "uuid": "p", "parentUuid": null,
               "timestamp": at, "parentToolUseID": "call",
               "data": {"type": "agent_progress", "message": said("parent", "m-agent", 1)}});
    let mut agent = said("parent", "m-agent", 40);
    agent["isSidechain"] = true.into();
    agent["agentId"] = "a1".into();
    let place = Place::new(&[
        ("a-parent", vec![said("parent", "m1", 2), progress]),
        ("agent-a1", vec![agent]),
        ("b-resumed", vec![said("resumed", "m1", 2), said("resumed", "m2", 3)]),
    ]);
    let sessions = json!([["parent", 1, 200, 42], ["resumed", 1, 100, 3]]);
    let columns = ["session", "sessions", "input_tokens", "output_tokens"];
    assert_eq!(place.told(&["--by", "session"], &columns), sessions);
    assert_eq!(place.told(&[], &["sessions"]), json!([[2]]));
}

#[test]
fn a_copy_of_a_log_without_ids_adds_nothing() {
    let place = two_days();
    fs::copy(place.logs().join("b.jsonl"), place.logs().join("copy.jsonl")).unwrap();
    let log = fs::read_to_string(place.logs().join("b.jsonl")).unwrap();
    let more = format!(
        "{log}{}\n",
        json!({"type": "turn.completed", "usage": {"input_tokens": 300, "output_tokens": 9}})
    );
    fs::write(place.logs().join("grown.jsonl"), more).unwrap();
    let told = place.told(&["--by", "agent", "--agent", "codex"], &["input_tokens", "sessions"]);
    assert_eq!(told, json!([[300, 1]]));
}

/// Opus 4.5, per million: input $5, from the cache $0.50, into it $6.25 or for an hour $10, output $25.
const OPUS: &str = "claude-opus-4-5-20251101";

#[test]
fn costs_are_estimated_unless_they_are_logged() {
    let at = "2026-01-31T10:00:00.000Z";
    let used = json!({"input_tokens": 1_000, "cache_read_input_tokens": 10_000,
                      "cache_creation_input_tokens": 5_000, "output_tokens": 400,
                      "cache_creation": {"ephemeral_1h_input_tokens": 3_000, "ephemeral_5m_input_tokens": 2_000}});
    let logged = json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "run", "uuid": "u",
                        "total_cost_usd": 0.5, "num_turns": 1, "result": "done",
                        "usage": {"input_tokens": 10, "output_tokens": 10},
                        "modelUsage": {OPUS: {"inputTokens": 10, "outputTokens": 10, "costUSD": 0.5}}});
    let init = json!({"type": "system", "subtype": "init", "session_id": "run", "model": OPUS, "cwd": "/",
                      "tools": [], "uuid": "i"});
    let place = Place::new(&[
        (
            "a",
            vec![answer("s", "m1", at, OPUS, &used), answer("s", "m2", at, "nobodys", &output(7))],
        ),
        ("b", vec![init, logged]),
    ]);
    let columns = ["cost_usd", "cost_basis"];
    // 1,000 × 5 + 10,000 × 0.5 + 2,000 × 6.25 + 3,000 × 10 + 400 × 25 a million
    let models =
        place.told(&["--by", "session,model"], &["session", "model", "cost_usd", "cost_basis"]);
    assert_eq!(
        models,
        json!([
            ["s", OPUS, 0.0625, "estimated"],
            ["s", "nobodys", null, null],
            ["run", OPUS, 0.5, "logged"],
        ])
    );
    assert_eq!(
        place.told(&["--by", "model", "--model", "opus"], &columns),
        json!([[0.5625, "mixed"]])
    );

    let logs = place.logs();
    let out = run(&["usage", logs.to_str().unwrap(), "--by", "session"]);
    let table = String::from_utf8(out.stdout).unwrap();
    assert!(table.contains("≈$0.06") && table.contains(" $0.50"), "{table}");
    assert!(table.contains("the cost excludes 107 tokens (no price for nobodys)"), "{table}");
    assert!(table.contains("total"), "{table}");

    // The same costs with a session and a task.
    let sessions: Value = serde_json::from_str(&stdout(&[
        "sessions",
        "--db",
        &place.db(),
        "-f",
        "json",
        "--sort",
        "cost",
    ]))
    .unwrap();
    let told: Vec<_> = sessions
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (&row["cost_usd"], &row["cost_basis"]))
        .collect();
    assert_eq!(json!(told), json!([[0.5, "logged"], [0.0625, "estimated"]]));
    assert!(stdout(&["sessions", "--db", &place.db(), "--width", "200"]).contains("≈$0.06"));
    let task: Value =
        serde_json::from_str(&stdout(&["task", "show", "s", "--db", &place.db(), "-f", "json"]))
            .unwrap();
    assert_eq!(task["task"][0]["cost_basis"], "estimated");
    assert_eq!(task["usage"][0]["cost_usd"], 0.0625);

    let prices = place.folder.path().join("prices.json");
    fs::write(
        &prices,
        r#"{"nobodys": {"input_cost_per_token": 0.01, "output_cost_per_token": 1.0}}"#,
    )
    .unwrap();
    let given = ["--by", "model", "--model", "nobodys", "--prices", prices.to_str().unwrap()];
    assert_eq!(place.told(&given, &columns), json!([[8.0, "estimated"]]));
    fs::write(&prices, "[]").unwrap();
    assert_eq!(
        run(&["usage", logs.to_str().unwrap(), "--prices", prices.to_str().unwrap()]).status.code(),
        Some(2)
    );
}

#[test]
fn the_cost_of_a_whole_run_is_not_estimated_again() {
    // An old release states the cost of the run, but not the model.
    let said = json!({"type": "assistant", "session_id": "run", "parent_tool_use_id": null, "uuid": "a",
                      "message": {"id": "m1", "model": OPUS, "role": "assistant", "type": "message",
                                  "content": [{"type": "text", "text": "hi"}], "usage": output(1_000_000)}});
    let amount = json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "run",
                        "uuid": "u", "total_cost_usd": 0.5, "num_turns": 1, "result": "done"});
    let place = Place::new(&[("a", vec![said, amount])]);
    assert_eq!(
        place.told(&["--by", "agent"], &["cost_usd", "cost_basis"]),
        json!([[0.5, "logged"]])
    );
}

#[test]
fn what_is_no_log_is_said() {
    let place = two_days();
    fs::write(place.logs().join("other.json"), "{\"a\": 1}").unwrap();
    let found = run(&["usage", place.logs().to_str().unwrap()]);
    assert_eq!(found.status.code(), Some(0));
    let error = String::from_utf8(found.stderr).unwrap();
    assert!(error.contains("1 file, such as") && error.contains("other.json"), "{error}");
    let named = run(&["usage", place.logs().join("other.json").to_str().unwrap()]);
    assert_eq!(named.status.code(), Some(2));
    let missing = run(&["usage", place.logs().join("nowhere.jsonl").to_str().unwrap()]);
    assert_eq!(missing.status.code(), Some(4));
}

#[test]
fn logs_and_databases_give_the_same_answer() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let captures = std::env::var_os("FOLDLINE_CAPTURES").map(PathBuf::from);
    let folders =
        [crates.join("tests/fixtures"), captures.unwrap_or(crates.join("../shared/captures"))];
    for logs in folders.iter().filter(|folder| folder.is_dir()) {
        let place = Place::new(&[]);
        place.ingest(logs);
        for by in ["day", "week,model", "agent,project", "session", "task,branch"] {
            let question =
                ["usage", "--by", by, "-f", "json", "-n", "0", "--timezone", "Asia/Kathmandu"];
            let stored = stdout(&[&question[..], &["--db", &place.db()]].concat());
            let read = run(&[&question[..], &[logs.to_str().unwrap()]].concat());
            assert_eq!(
                String::from_utf8(read.stdout).unwrap(),
                stored,
                "{by} of {}",
                logs.display()
            );
        }
    }
}

#[test]
fn a_chart_has_a_bar_a_day() {
    let place = two_days();
    let logs = place.logs();
    let chart =
        stdout(&["usage", logs.to_str().unwrap(), "--chart", "--timezone", "UTC", "--width", "40"]);
    let bars: Vec<_> = chart.lines().filter(|line| line.contains('█')).collect();
    // 202, 104 and 108 tokens, in a chart of 16 columns.
    assert_eq!(bars.len(), 3, "{chart}");
    assert!(
        bars.iter().any(|bar| bar.starts_with("2026-01-31") && bar.matches('█').count() == 16),
        "{chart}"
    );
    assert!(chart.lines().all(|line| !line.contains('█') || line.chars().count() <= 40));
}

#[test]
fn the_windows_of_five_hours_and_their_line() {
    let place = Place::new(&[]);
    let home = place.folder.path().join("claude");
    let project = home.join("projects/shop");
    fs::create_dir_all(&project).unwrap();
    let now = jiff::Timestamp::now();
    // A zone in which it is about noon, so that the day does not change meanwhile.
    let hours = now.to_zoned(jiff::tz::TimeZone::UTC).hour() - 12;
    let zone = format!("Etc/GMT{hours:+}");
    let used = json!({"input_tokens": 0, "output_tokens": 40_000});
    let said = [
        answer("s", "m1", &now.to_string(), OPUS, &used),
        answer("old", "m2", "2026-01-31T10:59:00Z", OPUS, &used),
    ];
    let lines: String = said.iter().map(|line| format!("{line}\n")).collect();
    fs::write(project.join("s.jsonl"), lines).unwrap();
    let run = |arguments: &[&str], input: &str| place.at_home(arguments, input).0;
    let all: Value = serde_json::from_str(&run(&["blocks", "-f", "json"], "")).unwrap();
    assert_eq!((&all[0]["state"], &all[0]["cost_usd"]), (&json!("active"), &json!(1.0)));
    assert_eq!(
        (&all[1]["began"], &all[1]["ended"]),
        (&json!("2026-01-31T10:00:00Z"), &json!("2026-01-31T15:00:00Z"))
    );
    assert_eq!(all.as_array().unwrap().len(), 2);
    let active: Value = serde_json::from_str(&run(
        &["blocks", "--active", "-f", "json", "--token-limit", "max"],
        "",
    ))
    .unwrap();
    assert_eq!(active.as_array().unwrap().len(), 1);
    assert_eq!(active[0]["limit_share"], 1.0);

    let table = run(&["blocks", "--active", "--token-limit", "80000", "--cost-limit", "$4"], "");
    for part in [
        "\nactive until ",
        " left\nburn rate: 40.0k tokens/min, ≈$60.00/h\nprojection: ",
        " tokens, ≈$",
        "\n(at the rate of the last 1 min)\nof 80.0k tokens: 50% used, ",
        "\nof $4.00: 25% used, ",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let costs: Value =
        serde_json::from_str(&run(&["blocks", "-f", "json", "--cost-limit", "2"], "")).unwrap();
    assert_eq!(
        (&costs[1]["cost_limit_share"], &costs[1]["token_limit"]),
        (&json!(0.5), &Value::Null)
    );

    // As Claude Code says it, and as a prompt does, which says nothing.
    let hook = json!({"session_id": "s", "model": {"display_name": "Opus"}, "cost": {"total_cost_usd": 0.25}});
    let line = run(&["statusline", "--timezone", &zone], &hook.to_string());
    assert!(line.starts_with("Opus · session $0.25 · today ≈$1.00 · block ≈$1.00, "), "{line}");
    assert!(line.ends_with(" left\n"), "{line}");
    let hook = json!({"session_id": "s", "transcript_path": project.join("s.jsonl")});
    let line = run(&["statusline", "--timezone", &zone], &hook.to_string());
    assert!(line.starts_with("session ≈$1.00 · today"), "{line}");
    assert!(run(&["statusline", "--timezone", &zone], "").starts_with("today ≈$1.00 · block"));
}

/// Claude Code states the limits of the account to the command of its status line only.
#[test]
fn limits_in_the_input_of_the_status_line_are_shown_and_kept() {
    let place = Place::new(&[]);
    let project = place.folder.path().join("claude/projects/shop");
    fs::create_dir_all(&project).unwrap();
    let now = jiff::Timestamp::now();
    let used = json!({"input_tokens": 0, "output_tokens": 40_000});
    let said = answer("s", "m1", &now.to_string(), OPUS, &used);
    fs::write(project.join("s.jsonl"), format!("{said}\n")).unwrap();
    let (table, messages) = place.at_home(&["blocks"], "");
    assert!(!table.contains("five hours") && messages.contains("no log states the limit"));

    let line = |limits: &Value| {
        let hook =
            json!({"session_id": "s", "cost": {"total_cost_usd": 0.25}, "rate_limits": limits});
        let (line, _) = place.at_home(&["statusline"], &hook.to_string());
        line.split_once("session $0.25 · today ").unwrap().1.trim_end().to_owned()
    };
    // Nothing is stated yet, or nothing that can be read.
    for none in [
        json!(null),
        json!({}),
        json!([1]),
        json!({"five_hour": null, "x": {"used_percentage": "1"}}),
    ] {
        assert!(line(&none).contains(" · block ≈$"), "{none}");
    }
    let [soon, later, past] = [3600, 6 * 86_400, -60].map(|seconds| now.as_second() + seconds);
    let limit = |used: f64, end: i64| json!({"used_percentage": used, "resets_at": end});
    let stated = json!({
        "seven_day": limit(13.2, later),
        "five_hour": limit(42.4, soon),
        "spend_limit": limit(1e300, past),
    });
    let shown = line(&stated);
    assert!(shown.ends_with(" · 5h 42% · 7d 13%"), "{shown}");
    let zone = ["--timezone", "UTC"];
    let stated_limits = || {
        let (table, messages) = place.at_home(&["blocks", zone[0], zone[1]], "");
        assert!(!messages.contains("no log states"), "{messages}");
        assert!(table.contains("active until"), "{table}");
        table
            .lines()
            .take_while(|line| line.contains("% used"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let limits = stated_limits();
    let end = |seconds: i64| {
        let end = jiff::Timestamp::from_second(seconds).unwrap();
        end.to_zoned(jiff::tz::TimeZone::UTC).strftime("%F %H:%M").to_string()
    };
    let words = ["five hours: 42% used", "seven days: 13% used"].into_iter().zip([soon, later]);
    let words: Vec<_> =
        words.map(|(words, at)| format!("{words}, resets {} (stated at ", end(at))).collect();
    assert_eq!(limits.len(), 2, "{limits:?}");
    assert!(limits[0].starts_with(&words[0]) && limits[1].starts_with(&words[1]), "{limits:?}");
    // They are not rows, and another session that does not state them yet shows those that are known.
    let (rows, _) = place.at_home(&["blocks", "-f", "json"], "");
    assert!(rows.contains("active") && !rows.contains("42.4") && !rows.contains("used"), "{rows}");
    assert!(line(&json!(null)).ends_with(" · 5h 42% · 7d 13%"));
    // An idle session repeats an older reading of the same window.
    let idle = json!({"five_hour": limit(12.0, soon), "seven_day": limit(13.2, later)});
    assert!(line(&idle).ends_with(" · 5h 42% · 7d 13%"));
    // A later statement replaces that of its window; one that is over is not shown, and nothing else is.
    let shown = line(&json!({"five_hour": limit(43.0, past), "seven_day": limit(14.0, later)}));
    assert!(shown.ends_with(" · 7d 14%") && !shown.contains("5h"), "{shown}");
    let limits = stated_limits();
    assert!(limits.len() == 1 && limits[0].starts_with("seven days: 14% used"), "{limits:?}");
    let check = place.folder.path().join("foldline/foldline.db");
    stdout(&["check", "--db", check.to_str().unwrap()]);
}

#[test]
fn limits_in_a_log_are_shown_until_they_are_over() {
    let now = jiff::Timestamp::now();
    let at = |seconds: i64| (now + jiff::SignedDuration::from_secs(seconds)).to_string();
    let line = |seconds: i64, kind: &str, payload: Value| json!({"timestamp": at(seconds), "type": kind, "payload": payload});
    let count = |seconds: i64, limits: Value| {
        let info =
            json!({"total_token_usage": {"input_tokens": 1, "output_tokens": seconds + 1000}});
        line(
            seconds,
            "event_msg",
            json!({"type": "token_count", "info": info, "rate_limits": limits}),
        )
    };
    let window = |used: f64, minutes: u64, end: i64| json!({"used_percent": used, "window_minutes": minutes, "resets_at": now.as_second() + end});
    let session = |id: &str| {
        line(-600, "session_meta", json!({"id": id, "cwd": "/repo/shop", "originator": "codex"}))
    };
    let place = Place::new(&[
        (
            "rollout-a",
            vec![
                session("a"),
                count(
                    -500,
                    json!({"primary": window(30.0, 300, 600), "secondary": window(5.0, 10_080, 9000)}),
                ),
                count(
                    -400,
                    json!({"primary": window(31.0, 300, 600), "secondary": window(9.0, 10_080, -1)}),
                ),
                count(-300, Value::Null),
            ],
        ),
        // Another session of the account, and of a limit of its own.
        (
            "rollout-b",
            vec![
                session("b"),
                count(-450, json!({"limit_id": "codex", "primary": window(99.0, 300, 600)})),
                count(-440, json!({"limit_id": "codex_x", "primary": window(70.0, 300, 600)})),
            ],
        ),
    ]);
    let logs = place.logs();
    let logs = logs.to_str().unwrap();
    place.ingest(&place.logs());
    let db = place.db();
    for from in [&[logs][..], &["--db", &db]] {
        let all = [&["blocks", "--agent", "codex"], from].concat();
        let table = stdout(&all);
        let limits: Vec<_> = table.lines().take_while(|line| line.contains("% used")).collect();
        assert_eq!(limits.len(), 2, "{table}");
        assert!(limits[0].starts_with("five hours: 31% used, resets "), "{table}");
        assert!(limits[1].starts_with("codex x, five hours: 70% used, resets "), "{table}");
    }
    assert!(!stdout(&["blocks", logs]).contains("five hours"), "they are those of Codex");
    let sql = "SELECT agent, name, used_percent, window_minutes, session_id FROM limits
               JOIN sessions ON sessions.id = session ORDER BY session_id, name";
    let columns = sql.replacen("agent", "limits.agent", 1);
    let rows: Value =
        serde_json::from_str(&stdout(&["query", "sql", &columns, "--db", &db, "-f", "json"]))
            .unwrap();
    let row = |name: &str, used: f64, minutes: u64, id: &str| json!({"agent": "codex", "name": name, "used_percent": used, "window_minutes": minutes, "session_id": id});
    let all = [
        row("primary", 31.0, 300, "a"),
        row("secondary", 9.0, 10_080, "a"),
        row("codex_x/primary", 70.0, 300, "b"),
        row("primary", 99.0, 300, "b"),
    ];
    assert_eq!(rows, json!(all));
    stdout(&["check", "--db", &db]);
}

/// Droid states the tokens of a session in a settings file next to it.
#[test]
fn tokens_in_a_settings_file_count_for_its_session() {
    let start = json!({"type": "session_start", "id": "s-1", "title": "t", "owner": "o", "version": 2, "cwd": "/w/shop"});
    let place = Place::new(&[("s-1", vec![start])]);
    let settings = json!({"assistantActiveTimeMs": 10, "model": "gpt-5", "autonomyMode": "off",
                          "tokenUsage": {"inputTokens": 5, "outputTokens": 25}});
    fs::write(place.logs().join("s-1.settings.json"), settings.to_string()).unwrap();
    let named = place.logs().join("s-1.jsonl");
    let question = ["usage", "--format", "json", "--by", "model", named.to_str().unwrap()];
    let answer: Value = serde_json::from_str(&stdout(&question)).unwrap();
    assert_eq!((&answer[0]["model"], &answer[0]["output_tokens"]), (&json!("gpt-5"), &json!(25)));
}
