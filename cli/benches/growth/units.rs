//! What grows: the units of logs.

use std::{fmt::Write as _, fs, path::Path};

use serde_json::{Value, json};

use crate::common::droid;

/// A kind of unit.
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    /// A log with so many of them.
    pub(crate) log: fn(usize) -> String,
    /// Whether each line is a log of its own, in one folder.
    pub(crate) is_folder: bool,
}

impl Unit {
    const fn new(name: &'static str, log: fn(usize) -> String) -> Self {
        Self { name, log, is_folder: false }
    }

    /// Writes so many of them to a file, or to a folder.
    pub(crate) fn write(&self, count: usize, path: &Path) {
        let text = (self.log)(count);
        if !self.is_folder {
            return fs::write(path, text).unwrap();
        }
        fs::create_dir(path).unwrap();
        for (number, line) in text.lines().enumerate() {
            fs::write(path.join(format!("{number}.jsonl")), format!("{line}\n")).unwrap();
        }
    }
}

pub(crate) const UNITS: [Unit; 8] = [
    Unit::new("kilobytes", |count| droid::log(count << 10, 1)),
    Unit::new("entries", |count| {
        filled(|log| {
            log.session(0);
            (0..count).for_each(|number| log.says(["user", "assistant"][number % 2]));
        })
    }),
    Unit::new("sessions", |count| {
        filled(|log| {
            for number in 0..count {
                log.session(number);
                log.says("user");
                log.call(number, &json!({"command": "make"}));
                log.ends(number, number % 2 == 0);
                log.says("assistant");
                let usage = json!({"input_tokens": 100 + number, "output_tokens": 7});
                log.add(json!({"type": "completion", "finalText": "Done.", "usage": usage}));
            }
        })
    }),
    Unit::new("failures", |count| {
        filled(|log| {
            log.session(0);
            for number in 0..count {
                log.call(number, &json!({"command": "make"}));
                log.ends(number, true);
            }
        })
    }),
    Unit::new("files", |count| {
        filled(|log| {
            log.session(0);
            log.says("user");
            for number in 0..count {
                log.call(number, &json!({"file_path": format!("src/f{number}.rs")}));
                log.ends(number, false);
            }
        })
    }),
    Unit::new("open calls", |count| {
        filled(|log| {
            log.session(0);
            (0..count).for_each(|number| log.call(number, &json!({"command": "make"})));
            (0..count).for_each(|number| log.ends(number, false));
        })
    }),
    Unit::new("sessions that repeat", |count| repeated(count, |_| 1)),
    Unit { is_folder: true, ..Unit::new("logs", |count| repeated(count, |number| number)) },
];

/// Sessions of Claude Code with a message each; if all have the same, as resumed sessions do.
fn repeated(count: usize, message: fn(usize) -> usize) -> String {
    let mut log = String::new();
    for number in 0..count {
        let usage = json!({"input_tokens": 5, "output_tokens": 7});
        let message = json!({"id": format!("msg_{}", message(number)), "model": "claude-opus-4-5", "role": "assistant", "type": "message",
                             "content": [{"type": "text", "text": "please do it"}], "usage": usage});
        let record = json!({"type": "assistant", "sessionId": format!("session-{number}"), "version": "2.1.0",
                            "uuid": format!("u{number}"), "cwd": "/repo", "timestamp": "2026-01-01T00:00:00Z",
                            "message": message});
        writeln!(log, "{record}").unwrap();
    }
    log
}

fn filled(fill: impl FnOnce(&mut Log)) -> String {
    let mut log = Log::default();
    fill(&mut log);
    log.text
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

    fn call(&mut self, number: usize, parameters: &Value) {
        let (id, tool) = (
            format!("c{number}"),
            if parameters["command"].is_null() { "Read" } else { "Execute" },
        );
        self.add(
            json!({"type": "tool_call", "id": id, "messageId": id, "toolId": tool, "toolName": tool,
                        "parameters": parameters}),
        );
    }

    fn ends(&mut self, number: usize, is_error: bool) {
        let id = format!("c{number}");
        self.add(json!({"type": "tool_result", "id": id, "messageId": id, "toolId": "",
                        "isError": is_error, "value": "done"}));
    }
}
