//! `cargo bench -p foldline-cli --bench whole`: whole runs of the program, from start to exit, with discarded output,
//! compared with a flat parse of the same lines in memory: the parse floor of [`foldline::performance`].
//!
//! `FOLDLINE_DROID_LOG` and `FOLDLINE_CLAUDE_LOG` name logs that replace the generated ones.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../benches/common/mod.rs"]
mod common;
#[path = "common/program.rs"]
mod program;

use std::{
    cell::Cell,
    env, fs,
    hint::black_box,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use serde::Deserialize;

use self::{
    common::{claude, droid, timing},
    program::PROGRAM,
};

/// The number of runs of each, which alternate.
const ROUNDS: usize = 25;

/// The size of the generated logs.
const BYTES: usize = 100 << 20;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    println!("{:<58} {:>8}  target", "", "measured");
    let [patches, _] = replayed::<droid::Flat>(
        "Droid",
        "droid",
        &log(folder.path(), "FOLDLINE_DROID_LOG", || droid::log(BYTES, 9)),
        ["1.00x", "1.30x"],
    );
    println!("{:<58} {:>7.0}", "Droid, bytes to patches, MB/s", patches);
    replayed::<claude::Flat>(
        "Claude Code with partial messages",
        "claude-stream",
        &log(folder.path(), "FOLDLINE_CLAUDE_LOG", || claude::log(BYTES, 9)),
        ["1.00x", ""],
    );
}

/// The log that a variable names, or a generated log.
fn log(folder: &Path, variable: &str, make: impl Fn() -> String) -> String {
    env::var(variable).unwrap_or_else(|_| written(folder, variable, &make()))
}

fn written(folder: &Path, name: &str, log: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, log).unwrap();
    path.to_str().unwrap().to_owned()
}

fn row(name: &str, measured: f64, target: &str) {
    println!("{name:<58} {measured:>7.2}x  {target}");
}

/// Runs the program over a log.
fn replay(format: &str, output: &str, log: &str) {
    let arguments = ["replay", "--executor", format, "--format", output, log];
    let mut command = Command::new(PROGRAM);
    let status = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.unwrap().success());
}

/// Compares patches and the transcript of a log with the parse floor. Returns the megabytes per second of patches and
/// of the transcript.
fn replayed<Flat: for<'de> Deserialize<'de>>(
    name: &str,
    format: &str,
    path: &str,
    [wall_target, used_target]: [&str; 2],
) -> [f64; 2] {
    let log = fs::read_to_string(path).unwrap();
    let used = Cell::new(Duration::ZERO);
    let times = timing::in_turns(
        ROUNDS,
        &mut [
            &mut || {
                for line in log.lines() {
                    black_box(serde_json::from_str::<Flat>(line).unwrap());
                }
            },
            &mut || {
                let before = used_by_children();
                replay(format, "patches", path);
                used.set(used.get() + (used_by_children() - before));
            },
            &mut || replay(format, "transcript", path),
        ],
    );
    // The warm-up run counts, too.
    let used = used.get() / (ROUNDS as u32 + 1);
    let target = |target: &str| match target {
        "" => String::new(),
        target => format!("<= {target}"),
    };
    let row =
        |what: &str, measured, target: &str| row(&format!("{name}, {what}"), measured, target);
    row("patches, time / parse floor", timing::ratio(times[1], times[0]), &target(wall_target));
    if !used.is_zero() {
        row("patches, CPU time / parse floor", timing::ratio(used, times[0]), &target(used_target));
    }
    row("transcript / patches", timing::ratio(times[2], times[1]), "<= 1.30x");
    let rate = |time: Duration| log.len() as f64 / 1e6 / time.as_secs_f64();
    [rate(times[1]), rate(times[2])]
}

/// The CPU time of all finished child processes, in clock ticks of 10 ms. Linux only; 0 elsewhere.
fn used_by_children() -> Duration {
    let status = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = status.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}
