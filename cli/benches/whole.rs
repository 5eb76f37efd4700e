//! `cargo bench -p foldline-cli --bench whole`: what whole runs of the program cost, from start to exit, beside what
//! others need for the same. The first column is CPU time on one core (on Linux); the second is time on all cores.
//!
//! The floor is a parse of the same lines in memory with `serde_json`, into structs with owned strings: what others pay
//! before they have done anything. See `docs/performance.md`.
//!
//! `FOLDLINE_DROID_LOG` and `FOLDLINE_CLAUDE_LOG` name logs that replace the generated ones; `CCUSAGE` names `ccusage`.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../benches/common/mod.rs"]
mod common;
#[path = "whole/cost.rs"]
mod cost;
#[path = "whole/inserts.rs"]
mod inserts;
#[path = "common/program.rs"]
mod program;
#[path = "whole/usage.rs"]
mod usage;

use std::{
    env, fs,
    hint::black_box,
    path::Path,
    process::{Command, Stdio},
};

use foldline_domain::Digest;
use serde::Deserialize;

use self::{
    common::{claude, droid},
    cost::{Cost, in_turns},
    program::PROGRAM,
};

/// The number of runs of each work, on one core and on all.
const ROUNDS: usize = 15;

/// The size of the generated logs.
const BYTES: usize = 100 << 20;

/// The number of logs of an ingest, and the size of each.
const LOGS: usize = 119;
const LOG_BYTES: usize = (128 << 20) / LOGS;

/// As many bytes of logs as a transaction of an ingest has.
const TRANSACTION: usize = 16 << 20;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    println!("{:<50} {:>8} {:>9} {:>7}", "", "one core", "all cores", "wanted");
    println!("{:<50} {:>8} {:>9}", "", "CPU", "time");
    droid_log(&log(folder, "FOLDLINE_DROID_LOG", || droid::log(BYTES, 9)), folder);
    claude_log(&log(folder, "FOLDLINE_CLAUDE_LOG", || claude::log(BYTES, 9)));
    ingest(folder);
    usage_of_claude(folder);
    start(folder);
}

/// The log that a variable names, or a generated log.
fn log(folder: &Path, variable: &str, make: impl Fn() -> String) -> String {
    env::var(variable).unwrap_or_else(|_| {
        let path = folder.join(variable).display().to_string();
        fs::write(&path, make()).unwrap();
        path
    })
}

fn row(name: &str, work: Cost, other: Cost, wanted: &str) {
    let cpu = work.cpu.as_secs_f64() / other.cpu.as_secs_f64();
    let time = work.time.as_secs_f64() / other.time.as_secs_f64();
    println!("{name:<50} {cpu:>7.2}x {time:>8.2}x {wanted:>7}");
}

fn milliseconds(name: &str, work: Cost, wanted: &str) {
    let [cpu, time] = [work.cpu, work.time].map(|time| time.as_secs_f64() * 1e3);
    println!("{name:<50} {cpu:>5.1} ms {time:>6.1} ms {wanted:>7}");
}

/// Runs the program, which must succeed.
fn run(arguments: &[&str]) {
    finish(Command::new(PROGRAM).args(arguments));
}

fn finish(command: &mut Command) {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.unwrap().success(), "{command:?}");
}

/// Parses each line of a log.
fn floor<Line: for<'de> Deserialize<'de>>(log: &str) {
    for line in log.lines() {
        black_box(serde_json::from_str::<Line>(line).unwrap());
    }
}

fn droid_log(path: &str, folder: &Path) {
    let log = fs::read_to_string(path).unwrap();
    let trail = folder.join("trail").display().to_string();
    let audit = format!("audit={trail}");
    let replay = |format, sink: &[&str]| {
        run(&[&["replay", "--executor", "droid", "--format", format, path], sink].concat());
    };
    let audited = || {
        let _ = fs::remove_file(&trail);
        replay("patches", &["--sink", &audit]);
    };
    audited();
    let records = fs::read_to_string(&trail).unwrap();
    let [floor, patches, transcript, document, audited, digests] = in_turns(
        ROUNDS,
        [
            &mut || floor::<droid::Flat>(&log),
            &mut || replay("patches", &[]),
            &mut || replay("transcript", &[]),
            &mut || replay("conversation", &[]),
            &mut || audited(),
            &mut || {
                for line in log.lines().chain(records.lines()) {
                    black_box(Digest::of(line.as_bytes()));
                }
            },
        ],
    );
    milliseconds("Droid, floor", floor, "");
    milliseconds("Droid, patches", patches, "");
    row("Droid, patches / floor", patches, floor, "1.50x");
    row("Droid, transcript / patches", transcript, patches, "1.25x");
    row("Droid, one conversation document / floor", document, floor, "2.00x");
    row("Droid, patches with an audit trail / patches", audited, patches, "1.50x");
    row("  SHA-256 of its lines and records alone / patches", digests, patches, "");
}

fn claude_log(path: &str) {
    let log = fs::read_to_string(path).unwrap();
    let [floor, patches] = in_turns(
        ROUNDS,
        [&mut || floor::<claude::Line>(&log), &mut || {
            run(&["replay", "--executor", "claude-stream", "--format", "patches", path]);
        }],
    );
    row("Claude Code, partial messages, patches / floor", patches, floor, "1.50x");
}

fn ingest(folder: &Path) {
    let logs = folder.join("logs");
    fs::create_dir(&logs).unwrap();
    for number in 0..LOGS {
        let log = droid::log(LOG_BYTES, number as u64 + 1);
        let log = log.replace("608a704f", &format!("{number:08x}"));
        fs::write(logs.join(format!("{number}.jsonl")), log).unwrap();
    }
    let db = folder.join("db");
    let (from, to) = (logs.to_str().unwrap(), db.to_str().unwrap());
    let ingest = || {
        inserts::remove(&db);
        run(&["ingest", from, "--db", to, "--jobs", "2"]);
    };
    ingest();
    let rows = inserts::rows(&db);
    let transactions = (LOGS * LOG_BYTES).div_ceil(TRANSACTION);
    let [inserted, ingested] =
        in_turns(ROUNDS / 2, [&mut || inserts::insert(&db, &rows, transactions), &mut || ingest()]);
    row("ingest, two jobs / inserts as durable", ingested, inserted, "1.10x");
}

fn usage_of_claude(folder: &Path) {
    let claude = folder.join("claude");
    usage::write(&claude);
    let projects = claude.join("projects");
    let ours = || run(&["usage", projects.to_str().unwrap()]);
    let Some(ccusage) = usage::ccusage(&claude) else {
        println!("usage / ccusage: skipped, as ccusage is not installed (CCUSAGE names it)");
        return;
    };
    let [ours, theirs] = in_turns(ROUNDS, [&mut || ours(), &mut || finish(&mut ccusage())]);
    milliseconds("usage of 128 MB in 256 files", ours, "");
    row("usage / ccusage", ours, theirs, "0.35x");
}

fn start(folder: &Path) {
    let empty = program::empty_program(folder).unwrap();
    let [nothing, version] = in_turns(
        10 * ROUNDS,
        [&mut || finish(&mut Command::new(&empty)), &mut || run(&["--version"])],
    );
    milliseconds("an empty program", nothing, "");
    milliseconds("foldline --version", version, "2 ms");
    let size = fs::metadata(PROGRAM).unwrap().len() as f64 / 1e6;
    println!("{:<50} {size:>5.1} MB", "the program");
}
