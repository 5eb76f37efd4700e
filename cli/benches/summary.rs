//! `cargo bench -p foldline-cli --bench summary`: the cost of the framework, of streamed text and of long lines, memory,
//! and latency, each with its target. Ratios are of medians of alternating runs; see `docs/performance.md`.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../benches/common/mod.rs"]
mod common;
#[path = "common/program.rs"]
mod program;

use std::{hint::black_box, time::Duration};

use self::common::{claude, droid, product, timing};

fn main() {
    println!("{:<62} {:>9}  target", "", "measured");
    framework();
    streamed_text();
    long_lines();
    memory();
    latency();
    println!("\nThe framework's cost round a step of 20 ns: cargo bench --bench transduce");
}

fn row(name: &str, measured: f64, unit: &str, target: &str) {
    println!("{name:<62} {measured:>8.2}{unit}  {target}");
}

fn framework() {
    let log = droid::log(20 << 20, 1);
    let times = timing::in_turns(
        21,
        &mut [&mut || product::by_hand(&log), &mut || product::through_transducer(&log)],
    );
    let name = "Droid, Transducer with two emitters / a loop by hand";
    row(name, timing::ratio(times[1], times[0]), "x", "<= 1.03x");
}

fn streamed_text() {
    let (small, length) = claude::one_answer(100_000);
    let (large, _) = claude::one_answer(200_000);
    let bytes = product::patches("claude-stream", small.as_bytes());
    let times = timing::in_turns(
        5,
        &mut [
            &mut || {
                black_box(product::patches("claude-stream", small.as_bytes()));
            },
            &mut || {
                black_box(product::patches("claude-stream", large.as_bytes()));
            },
        ],
    );
    row(
        "100,000 deltas: bytes of patches / final text",
        bytes as f64 / length as f64,
        "x",
        "<= 8.00x",
    );
    row("200,000 deltas / 100,000, time", timing::ratio(times[1], times[0]), "x", "< 2.30x");
}

fn long_lines() {
    let short = droid::log(64 << 20, 2);
    let text = common::Random(3).text(64 << 20);
    let long = serde_json::json!({"type":"message","role":"assistant","id":"m","text":text,"timestamp":1,"session_id":"s"});
    let long = format!("{long}\n");
    let times = timing::in_turns(
        3,
        &mut [
            &mut || {
                black_box(product::patches("droid", short.as_bytes()));
            },
            &mut || {
                black_box(product::patches("droid", long.as_bytes()));
            },
        ],
    );
    let per_byte = timing::ratio(times[1], times[0]) * short.len() as f64 / long.len() as f64;
    row("one line of 64 MB / lines of 1 KB, time per byte", per_byte, "x", "<= 1.50x");
}

fn memory() {
    let log = droid::log(10 << 20, 4);
    let small = program::peak_memory(log.as_bytes(), 1);
    let large = program::peak_memory(log.as_bytes(), 100);
    row("peak memory of replay, 1 GB / 10 MB", large as f64 / small.max(1) as f64, "x", "<= 1.25x");
    row("peak memory of replay, 1 GB, MiB", large as f64 / 1024.0, " ", "< 32");
}

fn latency() {
    let line = |number: usize| {
        format!(
            "{{\"type\":\"message\",\"role\":\"assistant\",\"id\":\"m{number}\",\"text\":\"<{number}>\",\"timestamp\":1,\"session_id\":\"s\"}}\n"
        )
    };
    let args = ["replay", "-", "-e", "droid", "--format", "patches"];
    let ours = program::latency(program::PROGRAM, &args, line);
    let theirs = program::latency("cat", &[], line);
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    row("5,000 lines/s, median / cat", timing::ratio(ours.0, theirs.0), "x", "<= 2.00x");
    row("5,000 lines/s, 99th percentile / cat", timing::ratio(ours.1, theirs.1), "x", "<= 2.00x");
    row("5,000 lines/s, median, microseconds", micros(ours.0), " ", "");

    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let follow = "replay \"$0\" -e droid --format patches --follow --idle-exit 1";
    let ours = program::follow_latency(&format!("{} {follow}", program::PROGRAM), &log, line);
    let theirs = program::follow_latency("timeout 3 tail -f \"$0\" | cat", &log, line);
    row("5,000 lines/s followed, median / tail", timing::ratio(ours.0, theirs.0), "x", "<= 2.00x");
    let name = "5,000 lines/s followed, 99th percentile / tail";
    row(name, timing::ratio(ours.1, theirs.1), "x", "<= 2.00x");
    row("5,000 lines/s followed, median, microseconds", micros(ours.0), " ", "");
}
