//! `foldline usage` for session files of Claude Code, compared with `ccusage`, which counts the same tokens and reads
//! only those files.
#![allow(missing_docs, clippy::expect_used)]

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_foldline");

/// The total size of the logs, and their number.
const BYTES: usize = 128 << 20;
const FILES: usize = 256;

/// The number of runs of each program, which alternate. The fastest run counts, since others only make it slower.
const RUNS: usize = 15;

fn main() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let project = folder.path().join("projects/shop");
    fs::create_dir_all(&project).expect("it can be written");
    for file in 0..FILES {
        let path = project.join(format!("{file:08x}-0000-4000-8000-000000000000.jsonl"));
        fs::write(path, session(file)).expect("it can be written");
    }
    let mut ours = Command::new(PROGRAM);
    ours.arg("usage").arg(folder.path().join("projects"));
    // The path in the environment, or the path that npm installs it at.
    let ccusage = env::var_os("CCUSAGE").unwrap_or_else(|| "ccusage".into());
    let is_there = Command::new(&ccusage).arg("--version").stdout(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        println!("foldline usage  {:>6} ms", in_turns([&mut ours], folder.path())[0].as_millis());
        println!("ccusage         skipped: it is not installed (CCUSAGE names it)");
        return;
    }
    let mut theirs = Command::new(&ccusage);
    theirs.args(["daily", "--offline", "--json"]);
    let [ours, theirs] = in_turns([&mut ours, &mut theirs], folder.path());
    println!("foldline usage  {:>6} ms", ours.as_millis());
    println!("ccusage         {:>6} ms", theirs.as_millis());
    println!(
        "foldline usage / ccusage: {:.2} (target <= 0.5)",
        ours.as_secs_f64() / theirs.as_secs_f64()
    );
}

fn in_turns<const N: usize>(mut commands: [&mut Command; N], home: &Path) -> [Duration; N] {
    let mut fastest = [Duration::MAX; N];
    for _ in 0..RUNS {
        for (command, fastest) in commands.iter_mut().zip(&mut fastest) {
            command.env("CLAUDE_CONFIG_DIR", home).stdout(Stdio::null()).stderr(Stdio::null());
            let start = Instant::now();
            assert!(command.status().expect("the program starts").success());
            *fastest = start.elapsed().min(*fastest);
        }
    }
    fastest
}

/// A session file: prompts, answers with their usage, calls of tools with results of a few kilobytes.
fn session(file: usize) -> String {
    let mut log = String::new();
    let id = format!("{file:08x}-0000-4000-8000-000000000000");
    let mut record = 0;
    while log.len() < BYTES / FILES {
        record += 1;
        let (day, minute) = (1 + file % 28, record % 60);
        let common = format!(
            r#""parentUuid":null,"isSidechain":false,"cwd":"/repo/shop","gitBranch":"main","sessionId":"{id}","version":"2.1.0","userType":"external","timestamp":"2026-01-{day:02}T10:{minute:02}:00.000Z""#
        );
        let output = "a line of a file, as a tool gives it back\\n".repeat(50 + record % 100);
        log += &format!(
            r#"{{{common},"type":"assistant","uuid":"a{record}-{id}","requestId":"r{record}-{id}","message":{{"id":"msg_{record}_{file}","type":"message","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"tool_use","id":"t{record}","name":"Bash","input":{{"command":"cat file_{record}"}}}}],"stop_reason":null,"usage":{{"input_tokens":3,"cache_creation_input_tokens":{record},"cache_read_input_tokens":20000,"output_tokens":250,"service_tier":"standard"}}}}}}
{{{common},"type":"user","uuid":"u{record}-{id}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{record}","content":"{output}","is_error":false}}]}},"toolUseResult":{{"stdout":"{output}","stderr":"","interrupted":false}}}}
"#
        );
    }
    log
}
