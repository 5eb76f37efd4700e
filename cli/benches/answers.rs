//! `cargo bench --bench answers`: what an answer costs for each session, entry, failure and file, as their number grows.
//! Prints a row for each verb, and draws all to `answers.svg` in the target folder. A cost that grows with the number is
//! named at the end.
//!
//! `FOLDLINE_GROWTH=256` measures up to 256,000 of each (64 otherwise).
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "growth/plot.rs"]
mod plot;
#[path = "common/program.rs"]
mod program;

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use self::{
    plot::{Panel, Point},
    program::measured,
};

/// How often each run is repeated; the fastest counts.
const ROUNDS: usize = 3;

/// By this factor the cost of one thing may differ between the two largest numbers. Caches explain some of it.
const TOLERANCE: f64 = 2.0;

/// Verbs that ask the database.
const OF_DATABASE: [&str; 22] = [
    "sessions -n 0",
    "sessions --sort cost",
    "sessions --sort failures",
    "task list -n 0",
    "show latest",
    "show latest:5",
    "show latest -n 0 -f json",
    "show latest --only errors",
    "search please -n 0",
    "search leas -n 0",
    "errors",
    "errors -n 0",
    "files",
    "files -n 0",
    "files f5.rs -n 0",
    "tools",
    "usage --by session -n 0",
    "usage --by day,model,project -n 0",
    "export latest --format html",
    "export latest --format json",
    "prune --older-than 2100-01-01 --dry-run",
    "check",
];

/// Verbs that read the log.
const OF_LOG: [&str; 7] = [
    "usage LOG -n 0",
    "blocks LOG",
    "doctor LOG",
    "show LOG",
    "export LOG --format md",
    "replay LOG --format transcript",
    "replay LOG --format conversation",
];

/// Writes a log with so many things.
type Fill = fn(&mut Log, usize);

/// What grows.
const THINGS: [(&str, Fill); 5] = [
    ("sessions", |log, count| {
        for number in 0..count {
            log.session(number);
            log.says("user");
            log.call(number, &json!({"command": "make"}), number % 2 == 0);
            log.says("assistant");
            let usage = json!({"input_tokens": 100 + number, "output_tokens": 7});
            log.add(json!({"type": "completion", "finalText": "Done.", "usage": usage}));
        }
    }),
    ("entries", |log, count| {
        log.session(0);
        (0..count / 2).for_each(|_| ["user", "assistant"].iter().for_each(|role| log.says(role)));
    }),
    ("failures", |log, count| {
        log.session(0);
        (0..count).for_each(|number| log.call(number, &json!({"command": "make"}), true));
    }),
    ("resumed sessions", resumed),
    ("files", |log, count| {
        log.session(0);
        log.says("user");
        for number in 0..count {
            log.call(number, &json!({"file_path": format!("src/f{number}.rs")}), false);
        }
    }),
];

/// Sessions of Claude Code that all have the same message, as resumed sessions do.
fn resumed(log: &mut Log, count: usize) {
    for number in 0..count {
        let usage = json!({"input_tokens": 5, "output_tokens": 7});
        let message = json!({"id": "msg_1", "model": "claude-opus-4-5", "role": "assistant", "type": "message",
                             "content": [{"type": "text", "text": "please do it"}], "usage": usage});
        let record = json!({"type": "assistant", "sessionId": format!("session-{number}"), "version": "2.1.0",
                            "uuid": format!("u{number}"), "cwd": "/repo", "timestamp": "2026-01-01T00:00:00Z",
                            "message": message});
        writeln!(log.text, "{record}").unwrap();
    }
}

/// A log of Droid.
#[derive(Default)]
struct Log {
    text: String,
    session: String,
    records: u64,
}

impl Log {
    fn add(&mut self, mut record: Value) {
        self.records += 1;
        record["session_id"] = self.session.as_str().into();
        record["timestamp"] = (1_760_000_000_000 + 1_000 * self.records).into();
        writeln!(self.text, "{record}").unwrap();
    }

    fn session(&mut self, number: usize) {
        self.session = format!("session-{number}");
        let folder = format!("/repo/{number}");
        self.add(
            json!({"type": "system", "subtype": "init", "cwd": folder, "model": "claude-opus-4-5"}),
        );
    }

    fn says(&mut self, role: &str) {
        let id = format!("m{}", self.records);
        self.add(json!({"type": "message", "role": role, "id": id, "text": "please do it"}));
    }

    fn call(&mut self, number: usize, parameters: &Value, is_error: bool) {
        let (tool, id) = ("Read", format!("c{number}"));
        let tool = if parameters["command"].is_null() { tool } else { "Execute" };
        self.add(
            json!({"type": "tool_call", "id": id, "messageId": id, "toolId": tool, "toolName": tool,
                        "parameters": parameters}),
        );
        self.add(json!({"type": "tool_result", "id": id, "messageId": id, "toolId": tool,
                        "isError": is_error, "value": "done"}));
    }
}

fn main() {
    let most = env::var("FOLDLINE_GROWTH").ok().and_then(|most| most.parse().ok()).unwrap_or(64);
    let counts: Vec<usize> =
        [1, 4, 16, 64, 256].into_iter().filter(|count| *count <= most).map(|n| n * 1_000).collect();
    let folder = tempfile::tempdir().unwrap();
    let (mut panels, mut growing) = (Vec::new(), Vec::new());
    for (thing, fill) in THINGS {
        println!("\n{thing}: microseconds for each of {counts:?}");
        let stored: Vec<_> =
            counts.iter().map(|count| Stored::new(folder.path(), *count, fill)).collect();
        for verb in OF_DATABASE.iter().chain(&OF_LOG) {
            let points: Vec<_> = stored.iter().map(|stored| stored.point(verb)).collect();
            let costs: Vec<_> =
                points.iter().map(|point| format!("{:>8.2}", point.nanoseconds / 1e3)).collect();
            println!("{verb:<42}{}", costs.join(""));
            if let [.., before, last] = points.as_slice()
                && last.nanoseconds > TOLERANCE * before.nanoseconds
            {
                growing.push(format!("{verb}, by {thing}"));
            }
            panels.push(Panel { title: format!("{verb}, by {thing}"), points });
        }
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("answers.svg");
    fs::write(&path, plot::svg(&panels)).unwrap();
    println!("\ndrawn to {}\nmore than linear: {growing:?}", path.display());
}

/// A log and its database.
struct Stored {
    count: usize,
    log: String,
    db: String,
}

impl Stored {
    fn new(folder: &Path, count: usize, fill: Fill) -> Self {
        let path = |name: &str| folder.join(format!("{count}-{name}")).display().to_string();
        let (log, db) = (path("log.jsonl"), path("db"));
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{db}{ending}"));
        }
        let mut text = Log::default();
        fill(&mut text, count);
        fs::write(&log, text.text).unwrap();
        measured(&["ingest", &log, "--db", &db]);
        Self { count, log, db }
    }

    /// What a verb costs for one of the things.
    fn point(&self, verb: &str) -> Point {
        let mut arguments: Vec<&str> =
            verb.split(' ').map(|word| if word == "LOG" { &*self.log } else { word }).collect();
        if !verb.contains("LOG") {
            arguments.extend(["--db", &self.db]);
        }
        let runs = (0..ROUNDS).map(|_| measured(&arguments));
        let (time, peak): (Duration, u64) = runs.min().unwrap();
        Point {
            x: self.count as f64,
            nanoseconds: time.as_secs_f64() * 1e9 / self.count as f64,
            mebibytes: peak as f64 / 1024.0,
        }
    }
}
