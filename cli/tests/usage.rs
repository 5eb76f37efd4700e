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
    let run = |arguments: &[&str], input: &str| {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_foldline"))
            .args(arguments)
            .env("CLAUDE_CONFIG_DIR", &home)
            .env("HOME", place.folder.path())
            .env_remove("FOLDLINE_DB")
            .env("XDG_CONFIG_HOME", place.folder.path())
            .env("XDG_DATA_HOME", place.folder.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        assert!(out.status.success());
        String::from_utf8(out.stdout).unwrap()
    };
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
