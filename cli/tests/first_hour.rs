//! The first commands of a new user, on the logs of their own agents and without options.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use crate::logs::foldline;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home directory.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With the logs of two agents.
    pub(crate) fn new() -> Self {
        let home = Self::empty();
        let project = home.path().join(".claude/projects/-repo");
        fs::create_dir_all(&project).unwrap();
        let said = |uuid: &str, at: &str, kind: &str, content: Value| {
            let usage = serde_json::json!({"input_tokens": 100, "output_tokens": 8, "cache_read_input_tokens": 40});
            let usage = if kind == "user" { Value::Null } else { usage };
            serde_json::json!({
                "type": kind, "uuid": uuid, "parentUuid": null, "timestamp": at, "cwd": "/home/me/src/shop",
                "sessionId": "aaaaaaaa-1111-4111-8111-111111111111", "version": "2.0.0",
                "message": {"role": kind, "model": "claude-sonnet-4-5", "id": uuid, "content": content, "usage": usage},
            })
            .to_string()
        };
        let call = serde_json::json!([{"type": "tool_use", "id": "c1", "name": "Read",
            "input": {"file_path": "/home/me/src/shop/src/cart.rs"}}]);
        let result = serde_json::json!([{"type": "tool_result", "tool_use_id": "c1", "is_error": true,
            "content": "File does not exist."}]);
        let lines = [
            said("u1", "2026-01-31T10:00:00Z", "user", "Mend the cart\nplease".into()),
            said("u2", "2026-01-31T10:00:01Z", "assistant", call),
            said("u3", "2026-01-31T10:00:02Z", "user", result),
            said("u4", "2026-01-31T10:00:03Z", "assistant", "これは確認です: done.".into()),
        ];
        fs::write(project.join("a.jsonl"), lines.join("\n") + "\n").unwrap();
        let sessions = home.path().join(".factory/sessions/-repo");
        fs::create_dir_all(&sessions).unwrap();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/droid-session");
        let log = fs::read_dir(fixture).unwrap().map(|entry| entry.unwrap().path());
        let log =
            log.filter(|path| path.extension().is_some_and(|is| is == "jsonl")).min().unwrap();
        fs::copy(log, sessions.join("b.jsonl")).unwrap();
        home
    }

    /// The id of the session of Claude Code.
    pub(crate) fn claude(&self) -> &'static str {
        "aaaaaaaa-1111-4111-8111-111111111111"
    }

    /// Its log.
    pub(crate) fn log(&self) -> PathBuf {
        self.path().join(".claude/projects/-repo/a.jsonl")
    }

    /// Rewrites the log.
    pub(crate) fn change(&self, change: impl FnOnce(String) -> String) {
        let log = fs::read_to_string(self.log()).unwrap();
        fs::write(self.log(), change(log)).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn database(&self) -> PathBuf {
        self.path().join(".local/share/foldline/foldline.db")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        foldline().env("HOME", self.path()).args(arguments).output().unwrap()
    }

    pub(crate) fn ask(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ask(&[arguments, &["-f", "json"]].concat())).unwrap()
    }
}

#[test]
fn alone_it_says_what_there_is_and_what_to_do_next() {
    let home = Home::new();
    let said = home.ask(&["homes"]);
    for part in ["Claude Code", "Factory Droid", "~/.claude/projects"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Looking makes nothing.
    assert!(!home.database().exists());
    let said = home.ask(&[]);
    for part in ["today      no sessions", "Mend the cart", "foldline --help"] {
        assert!(said.replace('\u{a0}', " ").contains(part), "{part}: {said}");
    }

    for arguments in [&[][..], &["homes"]] {
        let said = Home::empty().ask(arguments);
        assert!(said.contains("No logs") && said.contains("~/.codex/sessions"), "{said}");
    }
}

/// On a terminal of 24 lines.
#[test]
fn alone_it_says_what_runs_what_waits_and_what_today_cost() {
    let home = Home::empty();
    let folder = home.path().join(".claude/projects/shop");
    fs::create_dir_all(&folder).unwrap();
    let now = Timestamp::now();
    let line = |session: &str, kind: &str, content: Value| {
        json!({"type": kind, "sessionId": session, "uuid": format!("{session}-{kind}"), "version": "2.1.62",
            "cwd": "/srv/shop", "timestamp": now.to_string(),
            "message": {"role": kind, "id": format!("m-{session}"), "model": "claude-opus-4-6", "content": content,
                "usage": {"input_tokens": 1_000_000, "output_tokens": 0}}})
        .to_string()
            + "\n"
    };
    let tool = |name: &str, input: Value| json!([{"type": "tool_use", "id": "c", "name": name, "input": input}]);
    let calls = [
        ("one", tool("Bash", json!({"command": "cargo test"}))),
        (
            "two",
            tool(
                "AskUserQuestion",
                json!({"questions": [{"question": "Which colour?", "options": []}]}),
            ),
        ),
    ];
    for (session, call) in calls {
        let log = line(session, "user", json!(format!("Do {session}")))
            + &line(session, "assistant", call);
        fs::write(folder.join(session).with_extension("jsonl"), log).unwrap();
    }
    let said = home.ask(&[]);
    let rows: Vec<_> =
        said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(rows[1], "waiting Do two shop AskUserQuestion asks: Which colour?", "{said}");
    assert_eq!(rows[2], "running Do one shop Bash: cargo test", "{said}");
    assert_eq!(rows[4], "today 2 sessions, 2.0M tokens, ≈$10.00", "{said}");
    assert!(rows.len() <= 24, "{said}");
}

#[test]
fn sessions_are_found_named_and_shown() {
    let home = Home::new();
    let sessions = home.json(&["sessions"]);
    assert_eq!(sessions.as_array().unwrap().len(), 2);
    assert_eq!(home.json(&["sessions", "--agent", "claude"])[0]["title"], "Mend the cart");
    assert_eq!(home.json(&["sessions", "--project", "shop"]).as_array().unwrap().len(), 1);
    assert_eq!(home.json(&["sessions", "--project", "sho"]).as_array().unwrap().len(), 0);
    assert_eq!(home.json(&["sessions", "--model", "CLAUDE-SONNET"]).as_array().unwrap().len(), 1);
    let table = home.ask(&["sessions", "--project", "/home/me/src/shop", "--width", "100"]);
    assert!(table.contains("aaaaaaaa") && table.contains("shop  "), "{table}");
    assert!(table.contains("2026-01-31 10:00"), "{table}");
    let paris = home.ask(&["sessions", "--timezone", "Europe/Paris", "--project", "shop"]);
    assert!(paris.contains("2026-01-31 11:00"), "{paris}");

    let log = home.path().join(".claude/projects/-repo/a.jsonl");
    let shown = home.ask(&["show", "aaaa"]);
    assert!(shown.contains("Mend the cart") && shown.contains("✗ failed"), "{shown}");
    for name in ["aaaaaaaa-1111-4111-8111-111111111111", "the cart"] {
        assert_eq!(home.ask(&["show", name]), shown, "{name}");
    }
    let replayed = home.ask(&["replay", log.to_str().unwrap(), "--width", "100"]);
    let whole = home.ask(&["show", log.to_str().unwrap(), "--width", "100"]);
    let more = whole.strip_prefix(&*replayed).unwrap();
    assert_eq!(more, "    cost      ≈$0.0009\n    date      2026-01-31 10:00\n");
    let latest = home.json(&["show", "latest"])["session"][0]["number"].clone();
    let before = home.json(&["show", "latest~1"])["session"][0]["number"].clone();
    assert_ne!(latest, before);
    assert_eq!(home.run(&["show", "latest~2"]).status.code(), Some(4));

    let page = home.ask(&["export", "aaaa"]);
    assert!(page.contains("Mend the cart") && page.ends_with("</html>"));
    assert!(home.ask(&["export", "the cart", "--format", "md"]).contains("確認"));

    let prompts = home.ask(&["show", "aaaa", "--only", "prompts"]);
    assert!(prompts.contains("Mend") && !prompts.contains("確認"), "{prompts}");
    let errors = home.ask(&["show", "aaaa", "--only", "errors", "--times"]);
    assert!(errors.contains("Read") && errors.contains("2026-01-31 10:00"), "{errors}");
    assert!(!errors.contains("Mend"), "{errors}");
}

#[test]
fn words_parts_of_words_files_and_errors_are_found() {
    let home = Home::new();
    for text in ["確認", "cart", "MEND THE", "ease"] {
        let found = home.json(&["search", text]);
        assert!(!found.as_array().unwrap().is_empty(), "{text}");
        assert_eq!(found[0]["title"], "Mend the cart", "{text}");
    }
    assert_eq!(home.ask(&["search", "nowhere-to-be-found"]), "nothing was found\n");
    let touched = home.json(&["files", "cart.rs"]);
    assert_eq!(touched[0]["changes"], "read");
    assert_eq!(touched[0]["title"], "Mend the cart");
    assert_eq!(home.json(&["files", "art.rs"]).as_array().unwrap().len(), 0);
    assert_eq!(home.json(&["files", "shop/src"]).as_array().unwrap().len(), 1);
    let errors = home.ask(&["errors"]);
    assert!(errors.contains("Read failed") && errors.contains("File does not exist."), "{errors}");
    assert!(home.ask(&["query", "schema"]).contains("CREATE TABLE sessions"));
}

#[test]
fn what_is_new_is_read_before_an_answer() {
    let home = Home::new();
    let count = |arguments: &[&str]| home.json(arguments).as_array().unwrap().len();
    assert_eq!(count(&["sessions"]), 2);
    let log = fs::read_to_string(home.path().join(".claude/projects/-repo/a.jsonl")).unwrap();
    let other = log.replace("aaaaaaaa", "bbbbbbbb");
    fs::write(home.path().join(".claude/projects/-repo/c.jsonl"), other).unwrap();
    assert_eq!(count(&["sessions", "--no-refresh"]), 2);
    assert_eq!(count(&["sessions"]), 3);
    // A named database has only the logs that were ingested into it.
    let db = home.path().join("mine.db");
    home.ask(&[
        "ingest",
        home.path().join(".factory").to_str().unwrap(),
        "--db",
        db.to_str().unwrap(),
    ]);
    assert_eq!(count(&["sessions", "--db", db.to_str().unwrap()]), 1);
}

/// Another program, such as a server, may hold the write lock for long.
#[test]
fn a_busy_database_answers_from_what_is_stored() {
    let home = Home::new();
    home.ask(&["sessions"]);
    let holder = rusqlite::Connection::open(home.database()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    for has_news in [false, true] {
        if has_news {
            let line = |log: &str| log.lines().last().unwrap().replace("u4", "u5");
            home.change(|log| log.clone() + &line(&log).replace("done", "cleaned") + "\n");
        }
        for verb in [&["sessions"][..], &["usage"], &["show", home.claude()], &["search", "cart"]] {
            let output = home.run(verb);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && !output.stdout.is_empty(), "{verb:?}: {said}");
            if has_news {
                assert!(said.contains("the answer may be out of date"), "{verb:?}: {said}");
            }
        }
    }
    holder.execute_batch("ROLLBACK").unwrap();
    assert!(home.ask(&["show", home.claude()]).contains("cleaned"));
}

#[test]
fn the_environment_names_other_places() {
    let home = Home::new();
    let elsewhere = home.path().join("elsewhere");
    fs::rename(home.path().join(".claude"), &elsewhere).unwrap();
    let db = home.path().join("other.db");
    let mut command = foldline();
    command.env("HOME", home.path()).env("CLAUDE_CONFIG_DIR", &elsewhere).env("FOLDLINE_DB", &db);
    let output = command.args(["sessions", "-f", "json"]).output().unwrap();
    let sessions: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(sessions.as_array().unwrap().len(), 2);
    assert!(db.exists() && !home.database().exists());
}

#[test]
fn without_a_path_the_homes_are_read_and_a_home_directory_has_them() {
    let home = Home::new();
    let db = home.path().join("db");
    let db = db.to_str().unwrap();
    let said = home.ask(&["ingest", home.path().to_str().unwrap(), "--db", db]);
    assert!(said.contains("2 read (2 new"), "{said}");
    let said = home.ask(&["ingest", "--db", db]);
    assert!(said.contains("2 unchanged"), "{said}");
    assert!(home.ask(&["doctor"]).contains("Claude Code"));

    let nothing = Home::empty().run(&["sessions"]);
    assert_eq!(nothing.status.code(), Some(4));
    let error = String::from_utf8(nothing.stderr).unwrap();
    assert!(error.contains("~/.claude/projects") && error.contains("name a log"), "{error}");
}

#[cfg(unix)]
#[test]
fn the_default_database_is_the_owners() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.ask(&["sessions"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.database()), 0o600);
    assert_eq!(mode(home.database().parent().unwrap()), 0o700);
}

#[test]
fn a_damaged_default_database_does_not_stop_an_answer() {
    let home = Home::new();
    let sound = home.ask(&["sessions"]);
    let bytes = fs::read(home.database()).unwrap();
    let mut torn = bytes.clone();
    torn.truncate(bytes.len() / 2);
    let foreign = [b"no database", &bytes[11..]].concat();
    for damaged in [torn, foreign] {
        fs::write(home.database(), &damaged).unwrap();
        for arguments in [["sessions", "--width=100"], ["show", "aaaa"], ["export", "aaaa"]] {
            let output = home.run(&arguments);
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success() && !output.stdout.is_empty(), "{said}");
            assert!(said.starts_with("foldline: the database ~/.local/share/"), "{said}");
            assert!(said.contains("is damaged") && said.contains("foldline check --repair"));
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        assert_eq!(home.ask(&["sessions"]), sound);
        // It is as it was, and one that is named is not replaced by another.
        assert_eq!(fs::read(home.database()).unwrap(), damaged);
        let named = home.run(&["sessions", "--db", home.database().to_str().unwrap()]);
        assert_eq!(named.status.code(), Some(1));
    }
    // A missing database is rebuilt.
    fs::remove_file(home.database()).unwrap();
    assert_eq!(home.ask(&["sessions"]), sound);
    assert!(home.database().exists());
}

#[test]
fn a_command_to_the_program_is_no_title_and_folders_are_told_apart() {
    let home = Home::new();
    let log = fs::read_to_string(home.path().join(".claude/projects/-repo/a.jsonl")).unwrap();
    let command =
        log.lines().next().unwrap().replace("Mend the cart\\nplease", "/ide").replace("u1", "u0");
    let other = format!("{command}\n{log}").replace("aaaaaaaa", "bbbbbbbb");
    let other = other.replace("/home/me/src/shop", "/home/me/old/shop");
    fs::write(home.path().join(".claude/projects/-repo/b.jsonl"), other).unwrap();
    let sessions = home.ask(&["sessions", "--agent", "claude", "--width", "120"]);
    assert_eq!(sessions.matches("Mend the cart").count(), 2, "{sessions}");
    assert!(sessions.contains("src/shop ") && sessions.contains("old/shop "), "{sessions}");
    let document = home.ask(&["export", "bbbb", "--format", "md"]);
    assert!(document.starts_with("# Mend the cart\n"), "{document}");
}

#[test]
fn nothing_found_is_said() {
    let home = Home::new();
    assert_eq!(home.ask(&["sessions", "--since", "2030-01-01"]), "nothing was found\n");
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = empty.to_str().unwrap();
    let doctor = home.run(&["doctor", empty]);
    assert_eq!(doctor.status.code(), Some(4));
    assert!(String::from_utf8(doctor.stderr).unwrap().contains("there are no logs in"));
    let ingest = home.run(&["ingest", empty, "--db", home.path().join("db").to_str().unwrap()]);
    assert!(String::from_utf8(ingest.stderr).unwrap().contains("--hidden"));
    home.ask(&["sessions"]);
    let replay = home.run(&["replay", home.database().to_str().unwrap()]);
    assert_eq!(replay.status.code(), Some(2));
    assert!(String::from_utf8(replay.stderr).unwrap().contains("foldline sessions --db"));
}

#[test]
fn shells_man_and_a_file_of_defaults() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(home.ask(&["completions", shell]).contains("FOLDLINE_COMPLETE"), "{shell}");
    }
    // What the script asks: the values of the database, and of the command line.
    home.ask(&["sessions"]);
    let complete = |words: &[&str]| {
        let mut asked = foldline();
        asked
            .env("HOME", home.path())
            .args(["--", "foldline"])
            .args(words)
            .env("FOLDLINE_COMPLETE", "bash");
        asked.env("_CLAP_COMPLETE_INDEX", words.len().to_string()).env("_CLAP_IFS", "\n");
        String::from_utf8(asked.output().unwrap().stdout).unwrap()
    };
    assert!(complete(&["show", "--no-th"]).contains("--no-thinking"));
    assert_eq!(complete(&["prom"]).trim(), "prompts");
    let rows: Vec<Value> = serde_json::from_str(&home.ask(&["sessions", "-f", "json"])).unwrap();
    let text = |key: &str| rows[0][key].as_str().unwrap().to_owned();
    assert!(complete(&["show", ""]).lines().any(|line| line == text("session")));
    assert!(complete(&["sessions", "--agent", ""]).lines().any(|line| line == text("agent")));
    assert!(complete(&["sessions", "--project", ""]).contains(&text("project")));
    assert!(home.ask(&["man"]).contains(".TH foldline"));
    let pages = home.path().join("man");
    home.ask(&["man", pages.to_str().unwrap()]);
    assert!(pages.join("foldline-show.1").exists());
    assert!(home.ask(&["--version"]).starts_with("foldline 0."));

    let config = home.path().join(".config/foldline");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "format = 'json'\n[sessions]\nlimit = 1\n").unwrap();
    let sessions: Value = serde_json::from_str(&home.ask(&["sessions"])).unwrap();
    assert_eq!(sessions.as_array().unwrap().len(), 1);
    fs::write(config.join("config.toml"), "farmat = 'json'\n").unwrap();
    let wrong = home.run(&["sessions"]);
    assert_eq!(wrong.status.code(), Some(2));
    let error = String::from_utf8(wrong.stderr).unwrap();
    assert!(error.contains("config.toml: there is no option --farmat"), "{error}");
}

#[test]
fn a_session_is_a_text_for_a_pull_request() {
    let home = Home::new();
    let text = home.ask(&["report", "--agent", "claude", "latest"]);
    assert!(text.starts_with("## Mend the cart\n\nclaude-code, "), "{text}");
    assert!(!text.contains("<details>") && text.contains("failure**"), "{text}");
    let folded = home.ask(&["report", "Mend the cart", "--format", "md"]);
    assert!(folded.contains("<details><summary>"), "{folded}");
    assert!(home.ask(&["errors", "Mend the cart"]).contains("Read"));
    // A whole task, the first session first.
    let task = home.json(&["task", "list"])[0]["task"].as_str().unwrap().to_owned();
    assert!(home.ask(&["report", &task]).contains("## "));
}

/// As agents do it: `latest` is of the project of the folder, if it has any session.
#[test]
fn the_latest_session_is_that_of_the_project_one_stands_in() {
    let home = Home::empty();
    let logs = home.path().join(".claude/projects/x");
    fs::create_dir_all(&logs).unwrap();
    let folder = |name: &str| {
        let folder = fs::canonicalize(home.path()).unwrap().join(name);
        fs::create_dir_all(folder.join(".git")).unwrap();
        folder
    };
    let (shop, other) = (folder("shop"), folder("other"));
    for (at, cwd) in [("2026-01-01T10:00:00Z", &shop), ("2026-01-02T10:00:00Z", &other)] {
        let name = cwd.file_name().unwrap().to_str().unwrap();
        let line = json!({"type": "user", "sessionId": name, "uuid": name, "version": "2.1.62", "cwd": cwd, "timestamp": at,
            "message": {"role": "user", "content": format!("Do {name}")}});
        fs::write(logs.join(name).with_extension("jsonl"), format!("{line}\n")).unwrap();
    }
    let latest = |folder: &Path| {
        let output = foldline()
            .env("HOME", home.path())
            .current_dir(folder)
            .args(["show"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(latest(&shop).contains("Do shop"), "{}", latest(&shop));
    assert!(latest(home.path()).contains("Do other"));
}
