//! Session files of Claude Code, for `foldline usage` and `ccusage`, which counts the same tokens.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

/// The total size of the logs, and their number.
const BYTES: usize = 128 << 20;
const FILES: usize = 256;

/// Writes the files as Claude Code does, below a configuration folder.
pub(crate) fn write(folder: &Path) {
    let project = folder.join("projects/shop");
    fs::create_dir_all(&project).unwrap();
    for file in 0..FILES {
        let path = project.join(format!("{file:08x}-0000-4000-8000-000000000000.jsonl"));
        fs::write(path, session(file)).unwrap();
    }
}

/// `ccusage`, if it is installed: `CCUSAGE` names it.
pub(crate) fn ccusage(folder: &Path) -> Option<impl Fn() -> Command> {
    let program = env::var_os("CCUSAGE").unwrap_or_else(|| "ccusage".into());
    let status = Command::new(&program).arg("--version").stdout(Stdio::null()).status();
    let folder = folder.to_owned();
    status.is_ok_and(|status| status.success()).then_some(move || {
        let mut command = Command::new(&program);
        command.args(["daily", "--offline", "--json"]).env("CLAUDE_CONFIG_DIR", &folder);
        command
    })
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
