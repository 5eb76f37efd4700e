//! The answers of the program on terminals of several widths, compared with files in `widths`.
//!
//! `FOLDLINE_RENEW=1` writes the files.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use unicode_width::UnicodeWidthStr;

use crate::{
    first_hour::Home,
    logs::foldline,
    readme::{copy, words},
};

const WIDTHS: [usize; 4] = [40, 80, 100, 200];

/// The commands of each file.
const FILES: &[(&str, &[&str])] = &[
    ("homes", &["foldline homes"]),
    (
        "sessions",
        &[
            "foldline sessions",
            "foldline sessions --sort failures",
            "foldline sessions --sort duration",
            "foldline sessions --project greeter",
        ],
    ),
    ("show", &["foldline show 7505c804", "foldline show aaaa --times", "foldline show 7505c804:3"]),
    ("search", &["foldline search name", "foldline search nothing-has-this-name"]),
    (
        "files",
        &[
            "foldline files",
            "foldline files --changed",
            "foldline files src/main.rs",
            "foldline files src",
        ],
    ),
    ("errors", &["foldline errors", "foldline errors --agent codex"]),
    ("tools", &["foldline tools", "foldline tools --sort slow"]),
    (
        "usage",
        &[
            "foldline usage",
            "foldline usage --by week",
            "foldline usage --by month",
            "foldline usage --by model",
            "foldline usage --by agent",
            "foldline usage --by project",
            "foldline usage --by session",
            "foldline usage --by task",
            "foldline usage --by branch",
            "foldline usage --by day,agent,model",
            "foldline usage --by session,model,project",
            "foldline usage --chart",
        ],
    ),
    ("blocks", &["foldline blocks", "foldline blocks --token-limit max --cost-limit 20"]),
    ("statusline", &["foldline statusline"]),
    (
        "task",
        &[
            "foldline task list",
            "foldline task show 7505c804-51d4-4d2e-9a0b-3f6f3a1c2b10",
            "foldline task show aaaaaaaa",
        ],
    ),
    ("doctor", &["foldline doctor .claude .codex .factory"]),
    ("check", &["foldline check --db logs.db --audit logs.audit", "foldline check --db one.db"]),
    ("verify", &["foldline verify logs.audit", "foldline verify one.audit --source one.jsonl"]),
    ("ingest", &["foldline ingest .claude .codex --db logs.db --audit logs.audit"]),
    ("prune", &["foldline prune --db logs.db --older-than 2026-06-01 --dry-run"]),
    ("forget", &["foldline forget --before 2026-06-01 --dry-run"]),
    ("keep", &["foldline keep", "foldline keep --db logs.db"]),
    (
        "query",
        &[
            "foldline query sql \"SELECT * FROM sessions\"",
            "foldline query sql \"SELECT session_id, agent, title FROM sessions\"",
            "foldline query sql \"SELECT count(*) AS n FROM entries\"",
            "foldline query schema",
        ],
    ),
    ("help", &["foldline help exit-codes"]),
];

/// Lines that may be wider than the terminal: the command, the beginning of the line, and the reason.
const MAY_BE_WIDER: &[(&str, &str, &str)] = &[
    ("foldline doctor", ".", "paths are printed whole, so that they can be copied"),
    ("foldline verify", "head: ", "hashes are printed whole, so that they can be copied"),
    ("foldline query schema", "", "SQL is printed as it was run"),
    ("foldline help", "Usage: ", "clap does not wrap this line"),
];

/// A home directory with the logs of four agents, and two databases with audit trails.
fn home() -> Home {
    let home = Home::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/home"), home.path());
    for folder in [".claude", ".codex", ".factory"] {
        age(&home.path().join(folder));
    }
    fs::copy(home.log(), home.path().join("one.jsonl")).unwrap();
    // Answers of the first run report the logs that they read.
    for command in [
        "foldline sessions",
        "foldline ingest .claude .codex --db logs.db --audit logs.audit",
        "foldline ingest one.jsonl --db one.db --audit one.audit",
    ] {
        printed(&home, command, 80);
    }
    home
}

/// Sets the age of logs to two and a half hours, which is printed.
fn age(path: &Path) {
    if path.is_dir() {
        return fs::read_dir(path).unwrap().for_each(|entry| age(&entry.unwrap().path()));
    }
    let at = SystemTime::now() - Duration::from_secs(150 * 60);
    fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
}

fn printed(home: &Home, command: &str, width: usize) -> String {
    let mut program = foldline();
    program.env("HOME", home.path()).env("COLUMNS", width.to_string()).current_dir(home.path());
    let output = program.args(&words(command)[1..]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {errors}");
    without_hashes(&String::from_utf8(output.stdout).unwrap())
}

/// Replaces hashes and random ids, which differ between databases.
fn without_hashes(text: &str) -> String {
    let is_hash =
        |word: &str| word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let words =
        words.map(|word| match word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()) {
            hash if is_hash(hash) => word.replace(hash, &"0".repeat(hash.len())),
            _ => word.to_owned(),
        });
    words.collect()
}

fn assert_fits(command: &str, width: usize, text: &str) {
    for line in text.lines() {
        let may_be_wider = MAY_BE_WIDER
            .iter()
            .any(|(wider, begin, _)| command.starts_with(wider) && line.starts_with(begin));
        assert!(may_be_wider || line.width() <= width, "{command}, {width} columns:\n{line}");
    }
}

#[test]
fn answers_fit_the_terminal() {
    let home = home();
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/widths"));
    for (name, commands) in FILES {
        let mut text = String::new();
        for command in *commands {
            for width in WIDTHS {
                let answer = printed(&home, command, width);
                text += &format!("{}\n$ {command}\n", "=".repeat(width));
                text += &answer;
                text.push('\n');
                if std::env::var_os("FOLDLINE_RENEW").is_none() {
                    assert_fits(command, width, &answer);
                }
            }
        }
        let path = folder.join(name).with_extension("txt");
        if std::env::var_os("FOLDLINE_RENEW").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &text).unwrap();
            continue;
        }
        let golden = fs::read_to_string(&path).unwrap_or_default();
        for (is, should) in text.lines().zip(golden.lines()) {
            assert_eq!(is, should, "{name}: FOLDLINE_RENEW=1 renews {}", path.display());
        }
        assert_eq!(text.len(), golden.len(), "FOLDLINE_RENEW=1 renews {}", path.display());
    }
}

#[test]
fn help_texts_fit_the_terminal() {
    let home = Home::empty();
    let verbs = FILES.iter().map(|(verb, _)| *verb).filter(|verb| !["help"].contains(verb));
    for verb in verbs.chain([
        "resume",
        "run",
        "replay",
        "export",
        "serve",
        "schema",
        "audit-key",
        "completions",
        "man",
    ]) {
        let command = format!("foldline help {verb}");
        for width in WIDTHS {
            assert_fits(&command, width, &printed(&home, &command, width));
        }
    }
}

/// The figures of the active window change every minute, so that only their width is checked.
#[test]
fn the_active_window_fits_the_terminal() {
    let home = Home::new();
    let began = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(30);
    let began = began.strftime("%Y-%m-%dT%H:%M").to_string();
    home.change(|log| log.replace("2026-01-31T10:00", &began));
    for width in WIDTHS {
        let command = "foldline blocks --token-limit 1000000 --cost-limit 20";
        let answer = printed(&home, command, width);
        assert!(answer.contains("active until") && answer.contains("burn rate"), "{answer}");
        assert_fits(command, width, &answer);
    }
}

#[test]
fn notes_about_costs_fit_the_terminal() {
    let home = Home::new();
    home.change(|log| log.replace("claude-sonnet-4-5", "a-model-that-has-no-price"));
    for width in WIDTHS {
        for command in ["foldline usage --by model", "foldline usage --chart --since 2026-01"] {
            let answer = printed(&home, command, width);
            assert!(answer.contains("the cost excludes"), "{answer}");
            assert_fits(command, width, &answer);
        }
    }
}
