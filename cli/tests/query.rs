//! `foldline query` and `foldline prune`: the answers are compared with the raw lines.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    sync::OnceLock,
};

use crate::logs::{droid, dump, run, stdout, write_logs};
use serde_json::{Value, json};
use tempfile::TempDir;

/// One database for all tests that only read.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(count: u64, turns: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        write_logs(&place.logs(), count, turns);
        place.ingest();
        place
    }

    fn shared() -> &'static Self {
        static PLACE: OnceLock<Place> = OnceLock::new();
        PLACE.get_or_init(|| Self::new(8, 12))
    }

    fn logs(&self) -> PathBuf {
        self.folder.path().join("logs")
    }

    fn db(&self) -> PathBuf {
        self.folder.path().join("db")
    }

    fn ingest(&self) {
        let (logs, db) = (self.logs(), self.db());
        let arguments = ["ingest", logs.to_str().unwrap(), "--db", db.to_str().unwrap()];
        stdout(&[&arguments[..], &["--task-from", "dir"]].concat());
    }

    fn arguments<'a>(&'a self, db: &'a str, question: &[&'a str]) -> Vec<&'a str> {
        [question, &["--db", db]].concat()
    }

    fn ask(&self, question: &[&str]) -> String {
        let db = self.db();
        stdout(&self.arguments(db.to_str().unwrap(), question))
    }

    fn json(&self, question: &[&str]) -> Value {
        let question = [question, &["--format", "json", "--limit", "0"]].concat();
        serde_json::from_str(&self.ask(&question)).unwrap()
    }

    fn fails(&self, question: &[&str], code: i32) -> String {
        let db = self.db();
        let output = run(&self.arguments(db.to_str().unwrap(), question));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{error}");
        error
    }
}

/// The lines of every log, as they are: the folder, the log's name, the line.
fn lines(place: &Place) -> Vec<(String, String, Value)> {
    let mut lines = Vec::new();
    for folder in ["a", "b"] {
        for file in fs::read_dir(place.logs().join(folder)).unwrap() {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            for line in fs::read_to_string(file.path()).unwrap().lines() {
                lines.push((folder.to_owned(), name.clone(), serde_json::from_str(line).unwrap()));
            }
        }
    }
    lines
}

fn is(line: &Value, kind: &str) -> bool {
    line["type"] == kind
}

fn sum(rows: &Value, column: &str) -> i64 {
    rows.as_array().unwrap().iter().map(|row| row[column].as_i64().unwrap_or(0)).sum()
}

#[test]
fn tasks_and_sessions_add_up_to_the_logs() {
    let place = Place::shared();
    let lines = lines(place);
    let tasks = place.json(&["task", "list"]);
    let names: BTreeSet<_> =
        tasks.as_array().unwrap().iter().map(|task| task["task"].as_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(["a", "b"]));
    for task in tasks.as_array().unwrap() {
        let of_task = || lines.iter().filter(|line| task["task"] == line.0.as_str());
        let calls = of_task().filter(|line| is(&line.2, "tool_call")).count();
        let failures = of_task().filter(|line| line.2["isError"] == true).count();
        let output: i64 =
            of_task().filter_map(|line| line.2["usage"]["output_tokens"].as_i64()).sum();
        let sessions: BTreeSet<_> = of_task().map(|line| &line.1).collect();
        assert_eq!(task["calls"], calls);
        assert_eq!(task["failures"], failures);
        assert_eq!(task["output_tokens"], output);
        assert_eq!(task["sessions"], sessions.len());
    }
    let sessions = place.json(&["sessions"]);
    for column in ["calls", "failures", "entries", "input_tokens", "duration_ms"] {
        assert_eq!(sum(&sessions, column), sum(&tasks, column), "{column}");
    }
    // Said, thought and called, the model announced at the beginning, and the last words.
    let entries = lines.iter().filter(|line| {
        ["message", "reasoning", "tool_call", "system", "completion"]
            .iter()
            .any(|kind| is(&line.2, kind))
    });
    assert_eq!(sum(&sessions, "entries"), entries.count() as i64);
}

#[test]
fn tools_are_counted_and_timed() {
    let place = Place::shared();
    let mut expected: BTreeMap<String, (i64, i64, i64, Vec<i64>)> = BTreeMap::new();
    let lines = lines(place);
    for (_, log, line) in lines.iter().filter(|line| is(&line.2, "tool_call")) {
        let result = lines.iter().find(|other| {
            other.1 == *log && is(&other.2, "tool_result") && other.2["id"] == line["id"]
        });
        let tool = expected.entry(line["toolName"].as_str().unwrap().to_owned()).or_default();
        tool.0 += 1;
        let Some((_, _, result)) = result else {
            tool.1 += 1;
            continue;
        };
        tool.2 += i64::from(result["isError"] == true);
        let took = result["timestamp"].as_i64().unwrap() - line["timestamp"].as_i64().unwrap();
        // A result that overtook its call says nothing of how long it took.
        tool.3.extend((took >= 0).then_some(took));
    }
    let tools = place.json(&["tools"]);
    assert_eq!(tools.as_array().unwrap().len(), expected.len());
    for tool in tools.as_array().unwrap() {
        let (calls, open, failures, mut durations) =
            expected.remove(tool["tool"].as_str().unwrap()).unwrap();
        durations.sort_unstable();
        let rank = |percent: f64| durations[(durations.len() as f64 * percent).ceil() as usize - 1];
        let rate = tool["failure_rate"].as_f64().unwrap();
        assert!((rate - failures as f64 / (calls - open) as f64).abs() < 1e-9);
        assert_eq!(
            *tool,
            json!({"tool": tool["tool"], "calls": calls, "open": open, "failures": failures,
                   "failure_rate": tool["failure_rate"],
                   "p50_ms": rank(0.5), "p95_ms": rank(0.95)})
        );
        assert!(open > 0 && failures > 0, "the logs are to have all cases");
    }
}

#[test]
fn errors_are_the_calls_that_failed() {
    let place = Place::shared();
    let failures = lines(place).iter().filter(|line| line.2["isError"] == true).count();
    let errors = place.json(&["errors"]);
    assert_eq!(errors.as_array().unwrap().len(), failures);
    for error in errors.as_array().unwrap() {
        assert_eq!(error["status"], "failed");
        assert_eq!(error["message"], "Error: connection refused");
    }
    let at: Vec<_> = errors.as_array().unwrap().iter().map(|error| error["at"].as_str()).collect();
    assert!(at.is_sorted_by(|a, b| a >= b));
}

#[test]
fn a_task_is_told_completely() {
    let place = Place::shared();
    let answer = place.json(&["task", "show", "a"]);
    let lines = lines(place);
    let of_task = || lines.iter().filter(|line| line.0 == "a").map(|line| &line.2);
    let calls = of_task().filter(|line| is(line, "tool_call")).count();
    assert_eq!(sum(&answer["tools"], "calls"), calls as i64);
    assert_eq!(
        answer["timeline"].as_array().unwrap().len() as i64,
        sum(&answer["task"], "entries")
    );
    let read: BTreeSet<_> = of_task()
        .filter_map(|line| line["parameters"]["file_path"].as_str())
        .map(|path| path.trim_start_matches("/repo/"))
        .collect();
    let files = answer["files"].as_array().unwrap();
    assert_eq!(
        files.iter().map(|file| file["path"].as_str().unwrap()).collect::<BTreeSet<_>>(),
        read
    );
    assert_eq!(answer["usage"][0]["model"], "model-a");
    assert_eq!(
        sum(&answer["usage"], "cache_read_tokens"),
        11 * answer["sessions"].as_array().unwrap().len() as i64
    );
    let table = place.ask(&["task", "show", "a", "--width", "80"]);
    for part in ["SESSIONS", "TOKENS", "TOOLS", "FAILURES", "FILES", "TIMELINE"] {
        assert!(table.contains(part), "{part}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn a_session_is_read_from_either_end() {
    let place = Place::shared();
    let whole = place.json(&["show", "session-3"]);
    let entries = whole["entries"].as_array().unwrap();
    let last = place.json(&["show", "session-3", "--last", "4"]);
    assert_eq!(last["entries"].as_array().unwrap()[..], entries[entries.len() - 4..]);
    let many = place.json(&["show", "session-3", "--last", "1000000"]);
    assert_eq!(many["entries"], whole["entries"]);

    // The same conversation as the log itself gives.
    let log = place.logs().join("b/log-3.jsonl");
    let replay = stdout(&["replay", log.to_str().unwrap(), "--format", "events"]);
    let mut said = Vec::new();
    for event in replay.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        if ["new_entry", "new_tool_call"].contains(&event["event"].as_str().unwrap()) {
            said.push(json!([event["position"], event["data"]["entry"]["content"]]));
        }
    }
    let stored: Vec<_> =
        entries.iter().map(|entry| json!([entry["position"], entry["entry"]["content"]])).collect();
    assert_eq!(stored, said);

    let number = whole["session"][0]["number"].to_string();
    assert_eq!(place.json(&["show", &number]), whole);
    let several = place.fails(&["show", "session-"], 2);
    assert!(several.contains("\"session-\" matches 8 sessions"), "{several}");
}

#[test]
fn words_are_found_and_never_syntax() {
    let place = Place::shared();
    let lines = lines(place);
    let refused =
        lines.iter().filter(|line| line.2["value"] == "Error: connection refused").count();
    let found = place.json(&["search", "connection refused"]);
    assert_eq!(found.as_array().unwrap().len(), refused);
    assert_eq!(found[0]["matches"], "connection\nrefused");
    assert!(found[0]["snippet"].as_str().unwrap().contains("connection refused"));
    let facade = lines
        .iter()
        .filter(|line| line.2["text"].as_str().is_some_and(|text| text.contains("façade")));
    let found = place.json(&["search", "FACADE"]);
    assert_eq!(found.as_array().unwrap().len(), facade.count());

    for text in
        ["AND", "a OR", "NEAR(", "\"", "col:x", "x*", "^a", "-b", "(", "{a}", "a\"b", "'", "+"]
    {
        let output = run(&["search", "--db", place.db().to_str().unwrap(), "--", text]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let has_word = text.contains(char::is_alphanumeric);
        assert_eq!(output.status.code(), Some(if has_word { 0 } else { 2 }), "{text}: {error}");
    }
    let raw = place.json(&["search", "--raw", "connect* NOT nothing"]);
    assert_eq!(raw.as_array().unwrap().len(), refused);
    assert!(place.fails(&["search", "--raw", "AND"], 2).contains("cannot search for"));
    let table = place.ask(&["search", "refused"]);
    assert!(table.contains("«refused»"), "{table}");
}

#[test]
fn a_question_without_an_answer_is_relaxed_and_says_so() {
    let place = Place::shared();
    let refused = place.json(&["search", "connection refused"]);
    let question = ["search", "why were conections refused by quokkas", "-f", "json", "-n", "0"];
    let output = run(&place.arguments(place.db().to_str().unwrap(), &question));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(
        said,
        "foldline: entries with some of the words, in any form; left out why were by; asked for \"conections\", \
         near word \"connection\"; nowhere: \"quokkas\"\n"
    );
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let places = |found: &Value| -> BTreeSet<String> {
        let found = found.as_array().unwrap().iter();
        found.map(|hit| format!("{}:{}", hit["session"], hit["index"])).collect()
    };
    assert!(places(&found).is_superset(&places(&refused)), "{found}");
    assert_eq!(place.ask(&["search", "why quokkas"]), "nothing was found\n");
}

#[test]
fn sql_reads_and_nothing_else() {
    let place = Place::shared();
    let rows = place.json(&[
        "query",
        "sql",
        "SELECT count(*) AS n, NULL AS unknown, 1.5 AS half FROM sessions",
    ]);
    assert_eq!(rows, json!([{"n": 8, "unknown": null, "half": 1.5}]));
    let before = dump(&place.db());
    let elsewhere = place.folder.path().join("elsewhere");
    for statement in [
        "DELETE FROM entries".to_owned(),
        "PRAGMA user_version = 7".to_owned(),
        "SELECT 1; DELETE FROM entries".to_owned(),
        format!("VACUUM INTO '{}'", elsewhere.display()),
        format!("ATTACH '{}' AS other", elsewhere.display()),
        "no sql".to_owned(),
    ] {
        place.fails(&["query", "sql", &statement], 2);
    }
    assert!(!elsewhere.exists());
    assert_eq!(dump(&place.db()), before);
}

#[test]
fn time_can_be_chosen() {
    let place = Place::shared();
    let stamps = lines(place);
    let stamps: Vec<i64> = stamps
        .iter()
        .filter(|line| line.2["isError"] == true)
        .map(|line| line.2["timestamp"].as_i64().unwrap())
        .collect();
    let count = |question: &[&str]| place.json(question).as_array().unwrap().len();
    // The logs are of 2025-10-09, between 08:53 and 09:10.
    assert_eq!(count(&["errors", "--since", "2025-10-09", "--until", "2025-10-09"]), stamps.len());
    assert_eq!(count(&["errors", "--until", "2025-10-08"]), 0);
    assert_eq!(count(&["task", "list", "--since", "2025-10-10"]), 0);
    assert_eq!(count(&["tools", "--since", "7d"]), 0);
    let middle = "2025-10-09T08:57:00Z";
    let early = count(&["errors", "--until", middle]);
    assert!(early > 0 && early < stamps.len());
    assert!(run(&["errors", "--since", "someday"]).status.code() == Some(2));
}

#[test]
fn a_narrow_table_shows_what_it_is_sorted_by() {
    let place = Place::shared();
    for (sort, heading) in [("cost", "cost"), ("tokens", "input"), ("duration", "duration")] {
        let table = place.ask(&["sessions", "--sort", sort, "--width", "72"]);
        let headings = table.lines().next().unwrap();
        assert!(headings.contains(heading), "{headings}");
        assert!(headings.contains("title"), "{headings}");
        let other = place.ask(&["sessions", "--width", "72"]);
        let has_it = other.lines().next().unwrap().contains(heading);
        assert_eq!(has_it, sort == "cost", "what it costs is always there: {other}");
    }
}

#[test]
fn what_would_be_ignored_is_refused() {
    let place = Place::shared();
    let log = place.logs().join("b/log-3.jsonl");
    for question in [
        &["query", "sql", "SELECT 1", "--agent", "droid"][..],
        &["query", "sql", "SELECT 1", "--since", "today"],
        &["show", "session-3", "--project", "a"],
        &["show", log.to_str().unwrap(), "--task", "b"],
        &["show", "session-3", "--last", "1"],
        &["task", "set", "session-3", "t", "--format", "json"],
        &["task", "set", "session-3", "t", "--model", "m"],
    ] {
        let error = place.fails(question, 2);
        assert!(error.contains(question[question.len() - 2]), "{error}");
    }
    // They choose which is the latest, and the time chooses entries.
    for task in ["a", "b"] {
        let latest = place.json(&["show", "latest", "--task", task]);
        assert_eq!(latest["session"][0]["task"], task);
    }
    let all = place.ask(&["show", "session-3", "--only", "prompts"]);
    let none = place.ask(&["show", "session-3", "--only", "prompts", "--since", "2100-01-01"]);
    assert!(none.lines().count() < all.lines().count(), "{none}");
}

#[test]
fn an_unknown_name_is_its_own_exit_code_with_suggestions() {
    let place = Place::shared();
    let error = place.fails(&["show", "sesion-3"], 4);
    assert!(error.contains("did you mean") && error.contains("session-3"), "{error}");
    let error = place.fails(&["task", "show", "nothing like it"], 4);
    assert!(error.contains("there is no task") && !error.contains("did you mean"), "{error}");
}

#[test]
fn what_a_log_says_acts_on_neither_terminal_nor_spreadsheet() {
    let folder = tempfile::tempdir().unwrap();
    let log = droid("evil", 1, 1)
        .replace("All done.", "=cmd|' /C calc'!A1")
        .replace("Please look", "\\u001b]0;owned\\u0007\\u001b[2J\\u202ePlease look");
    fs::create_dir(folder.path().join("logs")).unwrap();
    fs::write(folder.path().join("logs/evil.jsonl"), log).unwrap();
    let place = Place { folder };
    place.ingest();
    for question in [&["show", "evil"][..], &["task", "show", "logs"], &["search", "look"]] {
        let table = place.ask(&[question, &["--width", "300"]].concat());
        assert!(table.contains("Please") || table.contains("«look»"), "{table}");
        assert!(
            !table.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{table}"
        );
    }
    let csv = place.ask(&["show", "evil", "--format", "csv"]);
    assert!(csv.contains("'=cmd|'") && !csv.contains(",=cmd"), "{csv}");
    // A pipe may end at a terminal.
    assert!(csv.contains('␛') && !csv.contains(|c: char| c.is_control() && c != '\n'), "{csv}");
}

#[test]
fn a_missing_or_unreadable_database_is_a_clear_sentence() {
    let output = run(&["sessions", "--db", "/no/such/file"]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("there is no database at /no/such/file"), "{error}");
    let output = run(&["prune", "--db", "/no/such/file", "--older-than", "1d"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn readers_do_not_wait_for_a_writer() {
    let place = Place::new(2, 2);
    let writer = rusqlite::Connection::open(place.db()).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE; DELETE FROM message_usage").unwrap();
    assert_eq!(place.json(&["sessions"])[0]["output_tokens"], 7);
    writer.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn pruning_forgets_what_was_said_and_keeps_what_it_cost() {
    let place = Place::new(6, 5);
    let db = place.db();
    let prune = |more: &[&str]| {
        stdout(&[&["prune", "--db", db.to_str().unwrap(), "--older-than"][..], more].concat())
    };
    let (tasks, before) = (place.json(&["task", "list"]), dump(&db));
    let old = place.json(&["sessions", "--until", "2025-10-09T08:56:00Z"]);
    let old: Vec<_> = old
        .as_array()
        .unwrap()
        .iter()
        .filter(|session| session["ended"].as_str().unwrap() < "2025-10-09T08:56:00")
        .collect();
    assert!(!old.is_empty() && old.len() < 6);
    let entries: i64 = old.iter().map(|session| session["entries"].as_i64().unwrap()).sum();

    let said = prune(&["2025-10-09T08:56:00Z", "--dry-run"]);
    assert!(said.starts_with(&format!("would remove {entries} entries")), "{said}");
    assert_eq!(dump(&db), before);
    let said = prune(&["2025-10-09T08:56:00Z", "--compact"]);
    assert!(said.starts_with(&format!("removed {entries} entries")), "{said}");
    assert!(said.contains(&format!("of {} sessions", old.len())), "{said}");

    // The dump also compares the search index with the entries that are left.
    let after = dump(&db);
    assert!(after.len() < before.len());
    let number = |row: &Value| row["number"].to_string();
    let emptied = place.json(&["show", &number(old[0])]);
    assert_eq!(emptied["entries"], json!([]));
    for column in ["input_tokens", "output_tokens", "sessions", "entries"] {
        assert_eq!(sum(&place.json(&["task", "list"]), column), sum(&tasks, column), "{column}");
    }
    // Nothing is restored.
    place.ingest();
    assert_eq!(dump(&db), after);
    assert!(prune(&["2025-10-09T08:56:00Z"]).starts_with("removed 0 entries"));
}

#[test]
fn pruning_by_size_removes_the_oldest_sessions() {
    let place = Place::new(20, 40);
    let db = place.db();
    let prune = |more: &[&str]| {
        let output =
            run(&[&["prune", "--db", db.to_str().unwrap(), "--larger-than"][..], more].concat());
        let said = String::from_utf8(output.stdout).unwrap();
        let left = said.split("; ").last().unwrap().replace(',', "");
        let left = left.split_whitespace().find_map(|word| word.parse::<u64>().ok()).unwrap();
        (output.status.code(), said, left)
    };
    let (code, said, whole) = prune(&["10GB", "--dry-run"]);
    assert!(code == Some(0) && said.starts_with("would remove 0 entries"), "{said}");
    let before = dump(&db);
    // What is kept of the sessions is larger.
    let (code, said, least) = prune(&["1K", "--dry-run"]);
    assert!(code == Some(1) && said.contains("of 20 sessions"), "{said}");
    assert_eq!(dump(&db), before);

    let limit = whole.midpoint(least);
    let (code, said, left) = prune(&[&limit.to_string(), "--compact"]);
    assert!(code == Some(0) && left <= limit, "{said}");
    // Pages of the file have some free space.
    let file = db.metadata().unwrap().len();
    assert!(file < limit + limit / 5, "{file}, {limit}");
    let mut sessions = place.json(&["sessions"]).as_array().unwrap().clone();
    sessions.sort_by_key(|session| session["ended"].to_string());
    let is_kept = |session: &Value| {
        place.json(&["show", &session["number"].to_string()])["entries"] != json!([])
    };
    let kept: Vec<_> = sessions.iter().map(is_kept).collect();
    assert!(kept.is_sorted() && kept.iter().any(|kept| *kept) && !kept[0], "{kept:?}");
    let (_, said, _) = prune(&[&limit.to_string()]);
    assert!(said.starts_with("removed 0 entries"), "{said}");
    for wrong in
        [&["--larger-than", "ten"][..], &["--larger-than", "1G", "--older-than", "1d"], &[]]
    {
        let output = run(&[&["prune", "--db", db.to_str().unwrap()][..], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_reference_opens_the_entry_with_what_is_around_it() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("log"), crate::logs::droid("session", 30, 3)).unwrap();
    let db = path("db");
    stdout(&["ingest", &path("log"), "--db", &db]);
    let found = stdout(&["search", "problem 17", "--db", &db, "-n", "1"]);
    let reference = found.split_whitespace().next().unwrap();
    let (session, entry) = reference.split_once(':').unwrap();
    assert_eq!(session, "session");
    let entry: usize = entry.parse().unwrap();
    for shown in [
        stdout(&["show", reference, "--db", &db]),
        stdout(&["show", &format!("{}:{entry}", path("log"))]),
    ] {
        let (before, after) = shown.split_once(&format!("── entry {entry} ──")).unwrap();
        assert!(after.contains("problem 17") && !before.contains("problem 17"), "{shown}");
        assert!(!shown.contains("problem 15") && !shown.contains("problem 20"), "{shown}");
    }
    let json = stdout(&["show", reference, "--db", &db, "-f", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let indices: Vec<_> =
        json["entries"].as_array().unwrap().iter().map(|it| &it["index"]).collect();
    assert_eq!((indices.len(), indices[5].as_u64()), (11, Some(entry as u64)));
}

/// Tables leave columns out by importance, and say which.
#[test]
fn a_narrow_table_has_the_columns_that_matter_and_says_which_are_hidden() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("log"), crate::logs::droid("session", 30, 3)).unwrap();
    let db = path("db");
    stdout(&["ingest", &path("log"), "--db", &db]);
    for (verb, always) in [
        (&["sessions"][..], &["session", "title"][..]),
        (&["usage", "--by", "day,model"], &["day"]),
        (&["tools"], &["tool", "calls"]),
        (&["files"], &["path"]),
        (&["task", "list"], &["task"]),
    ] {
        for width in [40, 80, 100, 200] {
            let width_option = width.to_string();
            let options = [verb, &["--db", &db, "--width", &width_option]].concat();
            let table = stdout(&options);
            let head = table.lines().next().unwrap();
            assert!(always.iter().all(|name| head.contains(name)), "{width}: {table}");
            for row in table.lines().take_while(|line| !line.starts_with("hidden column")) {
                assert!(unicode_width::UnicodeWidthStr::width(row) <= width, "{width}: {row}");
            }
        }
    }
    let narrow = stdout(&["sessions", "--db", &db, "--width", "80"]);
    assert!(narrow.contains("agent") && narrow.contains("droid"), "{narrow}");
    let (_, hidden) = narrow.split_once("hidden columns: ").unwrap();
    let needed = hidden.split_once("(--width ").unwrap().1.split(' ').next().unwrap();
    let wide = stdout(&["sessions", "--db", &db, "--width", needed]);
    assert!(!wide.contains("hidden columns"), "{wide}");
}
