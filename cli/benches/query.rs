//! Each answer from a database of a thousand sessions, compared with the same SQL in the `sqlite3` shell.
#![allow(missing_docs, clippy::expect_used)]

#[path = "../../benches/common/mod.rs"]
mod common;
#[path = "common/program.rs"]
mod program;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use self::{
    common::{droid, timing},
    program::PROGRAM,
};

const SESSIONS: u64 = 1_000;
const BYTES: usize = 40 << 10;

const QUESTIONS: [&[&str]; 10] = [
    &["task", "list"],
    &["task", "show", "500"],
    &["sessions"],
    &["show", "500", "--format", "json"],
    &["show", "500", "--format", "json", "--last", "20"],
    &["tools"],
    &["errors"],
    &["search", "return"],
    &["search", "\"a string\" return", "--limit", "0"],
    &["query", "sql", "SELECT kind, count(*), max(duration_ms) FROM tool_calls GROUP BY kind"],
];

fn ask(db: &Path, question: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(question).arg("--db").arg(db);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The statements of an answer, as the program logs them.
fn sql(db: &Path, question: &[&str]) -> String {
    let mut command = ask(db, question);
    command.env("RUST_LOG", "foldline=debug").env("NO_COLOR", "1").stderr(Stdio::piped());
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{question:?}");
    let log = String::from_utf8(output.stderr).expect("it logs text");
    // They are logged as Rust string literals.
    let statements = log.split(" sql=\"").skip(1).map(|rest| {
        let mut sql = String::new();
        let mut chars = rest.chars();
        while let Some(c) = chars.next().filter(|c| *c != '"') {
            let escaped = (c == '\\').then(|| chars.next()).flatten();
            match escaped {
                None => sql.push(c),
                Some('n') => sql.push('\n'),
                Some('u') => {
                    let digits: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    sql.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                Some(other) => sql.push(other),
            }
        }
        sql + ";\n"
    });
    let sql: String = statements.collect();
    assert!(!sql.is_empty(), "{question:?} was answered by some SQL: {log}");
    sql
}

fn shell(db: &Path, script: &Path) {
    let script = fs::File::open(script).expect("it was written");
    let mut command = Command::new("sqlite3");
    command.args(["-bail", "-readonly"]).arg(db).stdin(script).stdout(Stdio::null());
    assert!(command.status().expect("the shell runs").success());
}

fn main() {
    if Command::new("sqlite3").arg("--version").stdout(Stdio::null()).status().is_err() {
        return println!("queries: skipped, there is no `sqlite3` shell here");
    }
    let folder = tempfile::tempdir().expect("there is room");
    let (logs, db) = (folder.path().join("logs"), folder.path().join("db"));
    fs::create_dir(&logs).expect("there is room");
    for session in 0..SESSIONS {
        let log = droid::log(BYTES, session + 1);
        fs::write(logs.join(format!("{session}.jsonl")), log).expect("there is room");
    }
    let mut ingest = Command::new(PROGRAM);
    let status =
        ingest.arg("ingest").arg(&logs).arg("--db").arg(&db).stdout(Stdio::null()).status();
    assert!(status.expect("the program runs").success());
    for question in QUESTIONS {
        let script = folder.path().join("script");
        fs::write(&script, sql(&db, question)).expect("there is room");
        let times = timing::in_turns(
            15,
            &mut [&mut || shell(&db, &script), &mut || {
                assert!(ask(&db, question).status().expect("the program runs").success());
            }],
        );
        println!(
            "query {}: {:.1} ms; / sqlite3: {:.2} (target <= 2)",
            question.join(" "),
            times[1].as_secs_f64() * 1e3,
            timing::ratio(times[1], times[0])
        );
    }
}
