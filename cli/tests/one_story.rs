//! All answers agree: the model, the folder, the tokens and the cost of a session are the same whichever verb is asked,
//! and the same in a database as in its logs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use foldline_render::human;
use serde_json::{Value, json};

use crate::{
    captures,
    logs::{foldline, run, stdout},
    serve::client::Server,
};

/// Token counts and the logged cost, by agent and model.
pub(crate) type Sums = BTreeMap<(String, String), BTreeMap<&'static str, f64>>;

const TOKENS: [(&str, &str); 5] = [
    ("input_tokens", "gen_ai_client_token_usage_total"),
    ("output_tokens", "gen_ai_client_token_usage_total"),
    ("cache_read_tokens", "gen_ai_usage_cache_read_input_tokens_total"),
    ("cache_write_tokens", "gen_ai_usage_cache_creation_input_tokens_total"),
    ("reasoning_tokens", "gen_ai_usage_reasoning_output_tokens_total"),
];

/// A database of a folder of logs.
struct Database<'l> {
    logs: &'l Path,
    folder: tempfile::TempDir,
}

impl<'l> Database<'l> {
    fn new(logs: &'l Path) -> Self {
        let database = Self { logs, folder: tempfile::tempdir().unwrap() };
        let metrics = database.path("metrics");
        // Usage that an agent states only at the end is read from a log as if the log were complete.
        stdout(&[
            "ingest",
            logs.to_str().unwrap(),
            "--final",
            "--db",
            &database.path("db"),
            "--metrics",
            &metrics,
        ]);
        database
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn ask(&self, question: &str) -> Vec<Value> {
        let arguments: Vec<_> =
            question.split(' ').chain(["-n", "0", "--db"]).map(str::to_owned).collect();
        rows(arguments.iter().map(String::as_str).chain([&*self.path("db")]))
    }

    fn sql(&self, statement: &str) -> Vec<Value> {
        rows(["query", "sql", statement, "--db", &self.path("db")])
    }
}

/// The rows of an answer as JSON.
pub(crate) fn rows<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Vec<Value> {
    let arguments: Vec<_> = arguments.into_iter().chain(["-f", "json"]).collect();
    // A log in a folder that is not a log is reported, and does not matter here.
    let output = run(&arguments);
    let json = serde_json::from_slice(&output.stdout);
    json.unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"))
}

pub(crate) fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_default().to_owned()
}

pub(crate) fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_default()
}

pub(crate) fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(1.0)
}

/// The tokens of an answer of `usage --by agent,model`.
fn used(rows: &[Value]) -> Sums {
    let mut sums = Sums::new();
    for row in rows {
        let sum = sums.entry((text(row, "agent"), text(row, "model"))).or_default();
        for (column, _) in TOKENS {
            *sum.entry(column).or_default() += number(row, column);
        }
    }
    sums
}

/// Costs by agent and model.
pub(crate) type Costs = BTreeMap<(String, String), f64>;

/// The tokens of metrics, and the costs: the logged ones, and all.
pub(crate) fn measured(metrics: &str) -> (Sums, [Costs; 2]) {
    let (mut sums, [mut logged, mut all]) = (Sums::new(), [Costs::new(), Costs::new()]);
    for line in metrics.lines().filter(|line| !line.starts_with('#')) {
        let Some((name, rest)) = line.split_once('{') else { continue };
        let (labels, value) = rest.rsplit_once("} ").unwrap();
        let label = |name: &str| {
            let begin = format!("{name}=\"");
            let found = labels.split(',').find_map(|label| label.strip_prefix(&begin));
            found.unwrap_or_default().trim_end_matches('"').to_owned()
        };
        let key = (label("gen_ai_agent_name"), label("gen_ai_request_model"));
        let value: f64 = value.parse().unwrap();
        if name == "foldline_cost_usd_total" {
            *all.entry(key.clone()).or_default() += value;
            if label("basis") == "logged" {
                logged.insert(key, value);
            }
            continue;
        }
        let token_type = label("gen_ai_token_type");
        let column = TOKENS
            .iter()
            .find(|(column, metric)| name == *metric && column.starts_with(token_type.as_str()));
        if let Some((column, _)) = column {
            *sums.entry(key).or_default().entry(column).or_default() += value;
        }
    }
    (sums, [logged, all])
}

/// Without the zeros, which some answers state and some omit.
fn without_zeros(sums: Sums) -> Sums {
    let sums = sums.into_iter().map(|(key, mut sum)| {
        sum.retain(|_, tokens| *tokens != 0.0);
        (key, sum)
    });
    sums.filter(|(_, sum)| !sum.is_empty()).collect()
}

fn folders() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    [Some(fixtures), captures::folder()].into_iter().flatten().collect()
}

#[test]
fn all_answers_tell_one_story() {
    for logs in folders() {
        assert!(sessions_of_one_story(&logs).len() > 20);
    }
}

/// The answer of `sessions`, with which all other answers agree.
fn sessions_of_one_story(logs: &Path) -> Vec<Value> {
    let database = Database::new(logs);
    let sessions = database.ask("sessions");
    metrics_are_the_usage(&database);
    usage_is_that_of_the_sessions(&database, &sessions);
    the_server_lists_the_same(&database, &sessions);
    for session in &sessions {
        a_transcript_says_the_same(&database, session);
    }
    warnings_are_those_of_the_log(&database, &sessions);
    sessions
}

/// Droid writes the conversation of a session to one file, and its model and tokens to another one.
#[test]
fn a_session_of_two_files_is_one_session_in_every_answer() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path();
    // The first session is in one file, the second one was resumed in another file, the third has no conversation.
    said(logs, "one", "s-1");
    said(logs, "begun", "s-2");
    said(logs, "resumed", "s-2");
    for (id, tokens) in [("s-1", 10), ("s-2", 200), ("s-3", 3000)] {
        settings(logs, id, tokens);
    }
    let sessions = sessions_of_one_story(logs);
    let mut rows: Vec<_> = sessions
        .iter()
        .map(|row| {
            let (session, cwd) = (text(row, "session"), text(row, "cwd"));
            (session, text(row, "title"), cwd, text(row, "model"), number(row, "input_tokens"))
        })
        .collect();
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let row = |session: &str, title: &str, cwd: &str, model: &str, tokens: f64| {
        (session.to_owned(), title.to_owned(), cwd.to_owned(), model.to_owned(), tokens)
    };
    let model = "claude-opus-4-5";
    assert_eq!(
        rows,
        [
            row("s-1", "Title of one", "/w/one", model, 10.0),
            row("s-2", "Title of begun", "/w/begun", model, 200.0),
            row("s-2", "Title of resumed", "/w/resumed", "", 0.0),
            row("s-3", "", "", model, 3000.0),
        ]
    );
    let has_cost = |row: &&Value| number(row, "cost_usd") > 0.0;
    assert_eq!(sessions.iter().filter(has_cost).count(), 3);

    let database = Database::new(logs);
    let of = |question: &str| -> Vec<String> {
        database.ask(question).iter().map(|row| text(row, "session")).collect()
    };
    assert_eq!(of("sessions --project one --model opus"), ["s-1"]);
    assert_eq!(of("usage --by session --project one --model opus"), ["s-1"]);
    assert_eq!(of("sessions --sort cost"), ["s-3", "s-2", "s-1", "s-2"]);
    assert_eq!(database.ask("task list").len(), 3);
}

pub(crate) fn said(logs: &Path, name: &str, session: &str) {
    let start = json!({"type": "session_start", "id": session, "title": format!("Title of {name}"), "owner": "o",
                       "version": 2, "cwd": format!("/w/{name}")});
    let message = json!({"type": "message", "id": "m", "timestamp": "2026-01-31T10:00:00Z",
                         "message": {"role": "user", "content": format!("Mend {name}.")}});
    std::fs::write(logs.join(format!("{name}.jsonl")), format!("{start}\n{message}\n")).unwrap();
}

pub(crate) fn settings(logs: &Path, session: &str, tokens: u64) {
    let settings = json!({"assistantActiveTimeMs": 10, "model": "claude-opus-4-5", "autonomyMode": "off",
                          "tokenUsage": {"inputTokens": tokens, "outputTokens": 5}});
    let file = logs.join(format!("{session}.settings.json"));
    std::fs::write(file, settings.to_string()).unwrap();
}

/// A named log is ingested with the file next to it, and both are one log in the list of homes.
#[test]
fn a_named_log_is_ingested_with_the_file_next_to_it() {
    let home = tempfile::tempdir().unwrap();
    let logs = home.path().join(".factory/sessions");
    std::fs::create_dir_all(&logs).unwrap();
    said(&logs, "s-1", "s-1");
    settings(&logs, "s-1", 10);
    let (log, db) = (logs.join("s-1.jsonl"), home.path().join("db"));
    let (log, db) = (log.to_str().unwrap(), db.to_str().unwrap());
    let summary = stdout(&["ingest", log, "--db", db]);
    assert!(summary.contains("now:   2 files, 1 session, 1 entry"), "{summary}");
    let sessions = rows(["sessions", "--db", db]);
    assert_eq!((sessions.len(), number(&sessions[0], "input_tokens")), (1, 10.0), "{sessions:?}");
    let homes = foldline().env("HOME", home.path()).arg("homes").output().unwrap();
    let homes = String::from_utf8(homes.stdout).unwrap();
    assert!(homes.contains("Factory Droid     1  "), "{homes}");
}

fn metrics_are_the_usage(database: &Database<'_>) {
    let folder = database.logs.to_str().unwrap();
    let stored = database.ask("usage --by agent,model");
    let metrics = std::fs::read_to_string(database.path("metrics")).unwrap();
    let (measured_tokens, [costs, all_costs]) = measured(&metrics);
    assert_eq!(without_zeros(measured_tokens), without_zeros(used(&stored)), "{folder}");
    let logged = database.sql(
        "SELECT agent, usage.model, sum(cost_usd) AS cost FROM usage
         JOIN sessions ON sessions.id = usage.session WHERE cost_usd >= 0 GROUP BY 1, 2",
    );
    for row in &logged {
        let key = (text(row, "agent"), text(row, "model"));
        assert!(is_close(costs[&key], number(row, "cost")), "{key:?}: {costs:?}");
    }
    assert_eq!(costs.len(), logged.len());
    for row in &stored {
        let key = (text(row, "agent"), text(row, "model"));
        let cost = all_costs.get(&key).copied().unwrap_or_default();
        assert!(is_close(cost, number(row, "cost_usd")), "{key:?}: {cost} in {row}");
    }

    let mut paths: Vec<_> =
        database.sql("SELECT path FROM sources").iter().map(|row| text(row, "path")).collect();
    paths.sort();
    for log in &paths {
        // `usage` also reads the tokens in the settings file next to a log.
        if Path::new(log).with_extension("settings.json").is_file() {
            continue;
        }
        let metrics = stdout(&["replay", "--format", "metrics", log]);
        let read = Database::new(Path::new(log)).ask("usage --by agent,model");
        assert_eq!(without_zeros(measured(&metrics).0), without_zeros(used(&read)), "{log}");
    }
}

/// The tokens of a sub-agent are those of the session that a person began, in every answer.
fn usage_is_that_of_the_sessions(database: &Database<'_>, sessions: &[Value]) {
    let session = |row: &Value| text(row, "session");
    let agent = |row: &Value| text(row, "agent");
    sums_are_equal(sessions, &session, &database.ask("usage --by session"), &session);
    sums_are_equal(sessions, &agent, &database.ask("usage --by agent"), &agent);
    let project = |row: &Value| text(row, "project");
    sums_are_equal(sessions, &project, &database.ask("usage --by project"), &project);
}

fn sums_are_equal(
    sessions: &[Value],
    key: &dyn Fn(&Value) -> String,
    usage: &[Value],
    usage_key: &dyn Fn(&Value) -> String,
) {
    for column in ["input_tokens", "output_tokens", "cost_usd"] {
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        for row in sessions {
            *sums.entry(key(row)).or_default() += number(row, column);
        }
        for row in usage {
            *sums.entry(usage_key(row)).or_default() -= number(row, column);
        }
        let wrong: Vec<_> = sums.iter().filter(|(_, rest)| !is_close(**rest, 0.0)).collect();
        assert!(wrong.is_empty(), "{column}: {wrong:?}");
    }
}

fn the_server_lists_the_same(database: &Database<'_>, sessions: &[Value]) {
    let mut command = foldline();
    command.arg("serve").arg(database.logs).args(["--db", &database.path("db")]);
    let server = Server::of({
        command.args(["--listen", "127.0.0.1:0"]);
        command
    });
    let mut listed: Vec<Value> = Vec::new();
    for offset in (0..).step_by(200) {
        let page = server.body(&format!("/api/sessions?offset={offset}"));
        let page: Vec<Value> = serde_json::from_str(&page).unwrap();
        if page.is_empty() {
            break;
        }
        listed.extend(page);
    }
    // The server does not list a session without an entry.
    for session in sessions.iter().filter(|session| session["entries"] != 0) {
        let tokens = number(session, "input_tokens") + number(session, "output_tokens");
        let is_same = |row: &Value| {
            ["session", "agent", "model", "cwd", "cost_basis", "failures", "title"]
                .iter()
                .all(|name| row[name] == session[name])
                && is_close(number(row, "tokens"), tokens)
                && is_close(number(row, "cost_usd"), number(session, "cost_usd"))
        };
        let place = listed.iter().position(is_same);
        listed.swap_remove(place.unwrap_or_else(|| panic!("{session} is not among {listed:#?}")));
    }
    assert!(listed.is_empty(), "{listed:#?}");
}

fn a_transcript_says_the_same(database: &Database<'_>, session: &Value) {
    let number_of = session["number"].to_string();
    let shown = stdout(&["show", &number_of, "--width", "2000", "--db", &database.path("db")]);
    let fact = |name: &str| {
        let begin = format!("    {name:<10}");
        let found: Vec<_> = shown.lines().filter_map(|line| line.strip_prefix(&begin)).collect();
        assert!(found.len() < 2, "{name} of {session}: {found:?}");
        found.first().map(|found| (*found).to_owned()).unwrap_or_default()
    };
    let model = text(session, "model");
    assert!(shown.lines().next().unwrap_or_default().contains(&model), "{session}: {shown}");
    assert_eq!(fact("cwd"), text(session, "cwd"), "{session}");
    let tokens = fact("tokens");
    for (column, unit) in [("input_tokens", "in"), ("output_tokens", "out")] {
        let count = session[column].as_u64();
        let stated = count.map(|count| format!("{} {unit}", human::count(count)));
        assert!(tokens.contains(&stated.unwrap_or_default()), "{session}: {tokens}");
    }
    let cost = session["cost_usd"].as_f64().map(|cost| match &*text(session, "cost_basis") {
        "logged" => human::dollars(cost),
        _ => format!("≈{}", human::dollars(cost)),
    });
    assert_eq!(fact("cost"), cost.unwrap_or_default(), "{session}");
}

/// A stored session has the warnings of its log, in every document.
fn warnings_are_those_of_the_log(database: &Database<'_>, sessions: &[Value]) {
    let mut logs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for session in sessions {
        let (id, db) = (session["number"].to_string(), database.path("db"));
        let stored = stdout(&["export", &id, "-f", "json", "--db", &db]);
        let stored: Value = serde_json::from_str(&stored).unwrap();
        let counts = stored["warnings"].as_object().into_iter().flatten();
        let count: f64 = counts.map(|(_, count)| count.as_f64().unwrap()).sum();
        assert!(is_close(number(session, "warnings"), count), "{session}: {stored}");
        let source = text(session, "source");
        let log = logs.entry(source.clone()).or_insert_with(|| {
            let read = stdout(&["export", &source, "-f", "json"]);
            let read = serde_json::Deserializer::from_str(&read).into_iter();
            read.collect::<Result<_, _>>().unwrap()
        });
        // A session in two logs has the warnings of both.
        let of_log = log.iter().find(|of_log| {
            of_log["session"]["session_id"] == stored["session"]["session_id"]
                && of_log["entries"].as_array().map(Vec::len)
                    == stored["entries"].as_array().map(Vec::len)
        });
        let Some(of_log) = of_log else { continue };
        assert_eq!(of_log["warnings"], stored["warnings"], "{session}");
        if log.len() == 1 {
            let warnings = |shown: String| -> Vec<String> {
                let lines = shown.lines().filter(|line| line.starts_with("    warnings"));
                lines.map(str::to_owned).collect()
            };
            let shown = warnings(stdout(&["show", &id, "--db", &db]));
            assert_eq!(shown.len(), usize::from(count > 0.0), "{session}");
            assert_eq!(shown, warnings(stdout(&["show", &source])), "{session}");
        }
    }
}
