//! Synthetic Droid logs, the program as a child, and databases compared by their contents.
// Each test program uses its part.

mod deadline;

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::json;

/// A log of one session with about `turns` turns: messages, thoughts, calls that succeed, fail, stay
/// open, overtake each other, and lines that are not records. The same for the same arguments.
pub(crate) fn droid(session: &str, turns: u64, seed: u64) -> String {
    let mut random = Random((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut log = String::new();
    let mut at = 1_760_000_000_000 + seed * 60_000;
    let mut say = |mut line: serde_json::Value| {
        at += 1_000;
        line["session_id"] = session.into();
        line["timestamp"] = at.into();
        writeln!(log, "{line}").unwrap();
    };
    say(json!({"type": "system", "subtype": "init", "cwd": "/repo", "tools": ["Read", "Execute"],
               "model": "model-a"}));
    for turn in 0..turns {
        say(json!({"type": "message", "role": "user", "id": format!("u{turn}"),
                   "text": format!("Please look at problem {turn} in façade_{}.rs", random.below(9))}));
        say(
            json!({"type": "reasoning", "id": format!("r{turn}"), "text": format!("Thinking {turn}\nhard")}),
        );
        let calls = random.below(4);
        let mut results = Vec::new();
        for call in 0..calls {
            let id = format!("call_{turn}_{call}");
            let (tool, parameters) = match random.below(3) {
                0 => ("Read", json!({"file_path": format!("/repo/src/f{turn}.rs")})),
                1 => ("Execute", json!({"command": format!("cargo test t{turn}")})),
                _ => (
                    "Create",
                    json!({"file_path": "/repo/new.txt", "content": "hello\n".repeat(turn as usize % 50)}),
                ),
            };
            let call = json!({"type": "tool_call", "id": id, "messageId": format!("m{turn}"),
                              "toolId": tool, "toolName": tool, "parameters": parameters});
            let fails = random.below(5) == 0;
            let value = match fails {
                true => "Error: connection refused".to_owned(),
                false => format!("output of {id}: {}", "line\n".repeat(random.below(40) as usize)),
            };
            let result = json!({"type": "tool_result", "id": id, "messageId": "x", "toolId": tool,
                                "isError": fails, "value": value});
            match random.below(8) {
                0 => say(call), // Never answered.
                1 => {
                    say(result); // Overtakes its call.
                    say(call);
                }
                _ => {
                    say(call);
                    results.push(result);
                }
            }
        }
        results.reverse();
        results.into_iter().for_each(&mut say);
        say(json!({"type": "message", "role": "assistant", "id": format!("a{turn}"),
                   "text": format!("Done with {turn}: it was the {}.", random.word())}));
    }
    say(
        json!({"type": "completion", "finalText": "All done.", "numTurns": turns, "durationMs": 1234,
               "usage": {"input_tokens": 100 + seed, "output_tokens": 7, "cache_read_input_tokens": 11}}),
    );
    log
}

/// Writes `count` logs into folders `a` and `b` below `folder`.
pub(crate) fn write_logs(folder: &Path, count: u64, turns: u64) {
    for number in 0..count {
        let name = if number % 2 == 0 { "a" } else { "b" };
        fs::create_dir_all(folder.join(name)).unwrap();
        let log = droid(&format!("session-{number}"), turns, number);
        fs::write(folder.join(name).join(format!("log-{number}.jsonl")), log).unwrap();
    }
}

/// The program, about to be run.
pub(crate) fn foldline() -> Command {
    deadline::begin();
    // Tests of the fleet have it under another name.
    let programs =
        [option_env!("CARGO_BIN_EXE_foldline"), option_env!("CARGO_BIN_EXE_one-machine")];
    let mut command = Command::new(programs.into_iter().flatten().next().unwrap());
    command.env_remove("RUST_LOG").env_remove("FOLDLINE_DB").env("TZ", "UTC");
    // The logs and the database of the current user are neither read nor written.
    command.env("HOME", "/nonexistent").env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME");
    command.env_remove("CODEX_HOME").env_remove("CLAUDE_CONFIG_DIR");
    command
}

/// Runs the program to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    foldline().args(arguments).output().unwrap()
}

/// Sends a signal to a process. The shell's own `kill` is everywhere; the program of this name is not.
pub(crate) fn signal(name: &str, id: u32) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "kill -\"$0\" \"$1\"", name, &id.to_string()]);
    assert!(shell.status().unwrap().success());
}

/// The output of the program, which must succeed.
pub(crate) fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{arguments:?}: {printed}{error}");
    printed
}

/// Everything that a sound database says, without the numbers that depend on the order of ingestion.
pub(crate) fn dump(db: &Path) -> String {
    let sources =
        "SELECT name, path, format, size, read_length, hex(read_sha256), line, offset, state,
                          complete
                   FROM sources ORDER BY name";
    dump_with(db, sources)
}

/// The same, with this of the sources.
pub(crate) fn dump_with(db: &Path, sources: &str) -> String {
    stdout(&["check", "--db", db.to_str().unwrap()]);
    let connection = rusqlite::Connection::open(db).unwrap();
    let from = "FROM sources s JOIN sessions n ON n.source = s.id";
    let entries = format!("{from} JOIN entries e ON e.session = n.id");
    let queries = [
        sources.to_owned(),
        format!(
            "SELECT name, session_id, task, agent, version, model, cwd, title, tools, outcome,
                    outcome_reason, turns, duration_ms, active_ms, started_at, ended_at, first_at, last_at,
                    entries, pruned_to {from} ORDER BY name, n.id"
        ),
        format!(
            "SELECT name, idx, type, code, e.timestamp, e.line, e.offset, parent_corr_id, metadata,
                    content, output {entries} ORDER BY name, n.id, idx"
        ),
        format!(
            "SELECT name, idx, corr_id, kind, action_name, tool_name, status, reason,
                    t.duration_ms, exit_code, output_json, action
             {entries} JOIN tool_calls t ON t.entry = e.id ORDER BY name, n.id, idx"
        ),
        format!(
            "SELECT name, idx, p.path, change {entries} JOIN tool_paths p ON p.entry = e.id
             ORDER BY name, n.id, idx, p.path, change"
        ),
        // A message of several logs counts in any one of them.
        format!(
            "SELECT CASE WHEN u.message_id <> '' THEN '' ELSE name END AS log, u.*
             {from} JOIN usage u ON u.session = n.id ORDER BY log, u.message_id, u.model"
        ),
        format!(
            "SELECT name, kind, subject, count, w.line, w.offset, message, corr_id, sample
             {from} JOIN warnings w ON w.session = n.id ORDER BY name, n.id, kind, subject"
        ),
    ];
    let mut dump = String::new();
    for query in queries {
        let mut statement = connection.prepare(&query).unwrap();
        let columns = statement.column_count();
        let skip = statement.column_names().position(|name| name == "session");
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in (0..columns).filter(|column| Some(*column) != skip) {
                let value: rusqlite::types::Value = row.get(column).unwrap();
                write!(dump, "{value:?} ").unwrap();
            }
            dump.push('\n');
        }
    }
    dump
}

/// The contents of an audit trail, without its random identity and the hashes that depend on it.
pub(crate) fn said(trail: &Path) -> String {
    let mut said = String::new();
    for line in fs::read_to_string(trail).unwrap().split_inclusive('\n') {
        let line: serde_json::Value = serde_json::from_str(line).expect("a whole record");
        let mut record = line["record"].clone();
        for random in ["ledger", "trail", "prev"] {
            record.as_object_mut().unwrap().remove(random);
        }
        writeln!(said, "{record}").unwrap();
    }
    said
}

/// Compares two dumps, and shows the first line that differs.
pub(crate) fn assert_same(is: &str, should: &str, what: &str) {
    for (is, should) in is.lines().zip(should.lines()) {
        assert_eq!(is, should, "{what}");
    }
    assert_eq!(is.len(), should.len(), "{what}");
}

/// Small and the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn word(&mut self) -> &'static str {
        ["lexer", "parser", "scheduler", "cache"][self.below(4) as usize]
    }
}
