//! Others read the same: readers that share no code with the library, in Python, count what is in every log; `promtool`
//! accepts the metrics; in a browser, nothing of a hostile page runs.

mod page;

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use foldline::transduce::Reducer;
use foldline_agents::{Registry, wire::Record};
use foldline_domain::{Conversation, DomainEvent};
use serde_json::{Value, json};

use crate::{
    captures,
    logs::{droid, foldline},
};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn conversation(format: &str, log: &Path) -> Conversation {
    let executor = Registry::builtin().named(format).cloned().unwrap();
    let (mut state, mut events) = (executor.init(), Vec::<DomainEvent>::new());
    let log = fs::read(log).unwrap();
    for line in log.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        let mut records = Vec::new();
        Record::read(&line, |_, record| records.push(record));
        for record in records {
            let (next, more) = executor.reduce(state, record);
            state = next;
            events.extend(more);
        }
    }
    events.extend(executor.finish(state).1);
    events.iter().collect()
}

/// The totals of a conversation, in the form of the readers. Zero and unknown values are the same here; money is
/// rounded.
fn counts(conversation: &Conversation) -> Value {
    let count = |name: &str| {
        conversation.entries.iter().filter(|entry| entry.entry_type.name() == name).count()
    };
    let mut by_status = BTreeMap::<_, u64>::new();
    for tool in conversation.entries.iter().filter_map(|entry| entry.tool()) {
        *by_status.entry(tool.status.name()).or_default() += 1;
    }
    json!({
        "calls": count("tool_use"),
        "by_status": by_status,
        "assistant_texts": count("assistant_message"),
        "user_texts": count("user_message"),
        "thinking": count("thinking"),
        "usage": conversation.summary.usage.unwrap_or_default(),
    })
}

fn without_zeros(mut counts: Value) -> Value {
    let usage = counts["usage"].as_object_mut().unwrap();
    usage.retain(|_, count| count.as_f64() != Some(0.0));
    if let Some(cost) = usage.get_mut("cost_usd") {
        *cost = json!((cost.as_f64().unwrap() * 1e9).round() / 1e9);
    }
    counts
}

/// Every log of a format counts the same for a reader.
fn agree(format: &str, logs: &[PathBuf], reader: &str, arguments: &[&str]) {
    assert!(!logs.is_empty(), "{format}");
    let script = root().join("tests/independent").join(reader);
    for log in logs {
        let mut python = Command::new("python3");
        let output = python.arg(&script).args(arguments).arg(log).output().expect("python3 runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", log.display());
        let theirs = serde_json::from_slice(&output.stdout).unwrap();
        let ours = counts(&conversation(format, log));
        assert_eq!(without_zeros(ours), without_zeros(theirs), "{}", log.display());
    }
}

fn all(folder: &str) -> Vec<PathBuf> {
    captures::fixtures(folder).into_iter().chain(captures::of(folder)).collect()
}

#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn readers_of_others_count_the_same() {
    for format in ["acp", "copilot", "cursor", "gemini", "opencode"] {
        agree(format, &all(format), &format!("{format}.py"), &[]);
    }
    for format in ["codex-exec", "codex-rollout", "droid-session"] {
        agree(format, &all(format), "codex.py", &[format]);
    }
    for format in ["claude-stream", "claude-session"] {
        agree(format, &all(format), "claude.py", &[format]);
    }
    // The captures of Qwen's two formats are in one folder.
    let is_tree = |log: &PathBuf| fs::read_to_string(log).unwrap().contains("parentUuid");
    let (trees, streams): (Vec<_>, Vec<_>) = all("qwen").into_iter().partition(is_tree);
    agree("qwen", &streams, "qwen.py", &[]);
    agree("qwen-session", &[trees, all("qwen-session")].concat(), "qwen.py", &[]);
}

#[test]
#[cfg_attr(not(has_promtool), ignore = "needs promtool")]
fn promtool_accepts_the_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    fs::write(&log, droid("s", 40, 7)).unwrap();
    let metrics = foldline().args(["replay", "--format", "metrics"]).arg(log).output().unwrap();
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut promtool = promtool.stderr(Stdio::piped()).spawn().expect("promtool runs");
    promtool.stdin.take().unwrap().write_all(&metrics.stdout).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success() && said.is_empty(), "{}", String::from_utf8_lossy(&said));
}
