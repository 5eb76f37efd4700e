//! Formats are distinguished in whole logs and in logs without their beginning.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use foldline_agents::{Recogniser, Registry, Verdict, wire::Record};
use serde_json::value::RawValue;

fn recogniser() -> Recogniser {
    Registry::builtin().recogniser()
}

/// The name of a certain or likely format.
fn name(verdict: &Verdict) -> Option<&'static str> {
    verdict.format().map(|format| format.name)
}

/// The verdict on a log, and the line that decided it.
fn judge<'a>(lines: impl IntoIterator<Item = &'a str>) -> (Verdict, Option<usize>) {
    let mut recogniser = recogniser();
    let mut fell = None;
    for (number, line) in (1..).zip(lines) {
        Record::read(line, |_, record| recogniser.observe(&record));
        if fell.is_none() && recogniser.verdict() != Verdict::Undecided {
            fell = Some(number);
        }
    }
    (recogniser.verdict(), fell)
}

fn verdict(log: &str) -> Verdict {
    judge(log.lines()).0
}

/// A short log of each format, in which every line is evidence.
const LOGS: &[(&str, &str)] = &[
    (
        "droid",
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["Read"]}
{"type":"message","role":"user","id":"m1","text":"hello","timestamp":1,"session_id":"s"}
{"type":"reasoning","id":"m2","text":"well","timestamp":2,"session_id":"s"}
{"type":"tool_call","id":"c","messageId":"m2","toolId":"LS","toolName":"LS","parameters":{}}
{"type":"tool_result","id":"c","messageId":"m3","toolId":"LS","isError":false,"value":"v"}
{"type":"completion","finalText":"done","numTurns":1,"durationMs":9,"session_id":"s"}
{"type":"error","source":"cli","message":"Exec failed","timestamp":3}"#,
    ),
    (
        "droid",
        r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"num_turns":1,"result":"done","session_id":"s"}"#,
    ),
    (
        "droid-session",
        r#"{"type":"session_start","id":"s","title":"t","owner":"o","version":2,"cwd":"/w"}
{"type":"message","id":"m","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":[]}}
{"type":"todo_state","id":"t","timestamp":"2026-01-01T00:00:00Z","todos":{"todos":""},"messageIndex":1}"#,
    ),
    (
        "droid-settings",
        r#"{"assistantActiveTimeMs":9,"model":"m","reasoningEffort":"off","autonomyMode":"auto-low","tokenUsage":{}}
{"model":"m","reasoningEffort":"off","autonomyMode":"normal"}"#,
    ),
    (
        "droid-jsonrpc",
        r#"{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"response","id":"1","result":{}}
{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"notification","method":"droid.session_notification","params":{}}"#,
    ),
    (
        "claude-stream",
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":[],"model":"m","permissionMode":"default","slash_commands":[],"apiKeySource":"none","claude_code_version":"2.0.0","uuid":"u0"}
{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[]},"parent_tool_use_id":null,"session_id":"s","uuid":"u1"}
{"type":"user","message":{"role":"user","content":[]},"parent_tool_use_id":null,"session_id":"s","uuid":"u2","tool_use_result":"x"}
{"type":"rate_limit_event","rate_limit_info":{},"session_id":"s","uuid":"u3"}
{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"duration_api_ms":8,"num_turns":1,"result":"done","total_cost_usd":0,"session_id":"s","uuid":"u4"}"#,
    ),
    (
        "claude-session",
        r#"{"type":"summary","summary":"t","leafUuid":"u"}
{"type":"file-history-snapshot","messageId":"m","snapshot":{},"isSnapshotUpdate":false}
{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","isSidechain":false,"message":{"role":"user","content":"hello"}}
{"type":"progress","uuid":"u2","parentUuid":"u1","sessionId":"s","isSidechain":false,"data":{"type":"bash_progress"}}
{"type":"queue-operation","operation":"dequeue","timestamp":"2026-01-01T00:00:00Z","sessionId":"s"}"#,
    ),
    (
        "codex-exec",
        r#"{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"hello"}}
{"type":"error","message":"no"}
{"type":"turn.failed","error":{"message":"no"}}"#,
    ),
    (
        "codex-rollout",
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-01-01T00:00:00Z","type":"turn_context","payload":{"cwd":"/w"}}
{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"token_count"}}
{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message"}}"#,
    ),
    (
        "gemini",
        r#"{"type":"init","timestamp":"2026-01-01T00:00:00Z","session_id":"s","model":"auto"}
{"type":"message","timestamp":"2026-01-01T00:00:00Z","role":"user","content":"hello"}
{"type":"tool_use","timestamp":"2026-01-01T00:00:00Z","tool_name":"read_file","tool_id":"t","parameters":{}}
{"type":"tool_result","timestamp":"2026-01-01T00:00:00Z","tool_id":"t","status":"success"}
{"type":"error","timestamp":"2026-01-01T00:00:00Z","severity":"warning","message":"no"}
{"type":"result","timestamp":"2026-01-01T00:00:00Z","status":"success","stats":{}}"#,
    ),
    (
        "cursor",
        r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"s","model":"Auto","permissionMode":"default"}
{"type":"thinking","subtype":"delta","text":"well","session_id":"s","timestamp_ms":1}
{"type":"assistant","message":{"role":"assistant","content":[]},"session_id":"s","model_call_id":"m","timestamp_ms":2}
{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{}},"session_id":"s","timestamp_ms":3}
{"type":"result","subtype":"success","duration_ms":9,"duration_api_ms":8,"is_error":false,"result":"done","session_id":"s","request_id":"r"}"#,
    ),
    (
        "opencode",
        r#"{"type":"step_start","timestamp":1,"sessionID":"s","part":{"type":"step-start"}}
{"type":"reasoning","timestamp":2,"sessionID":"s","part":{"type":"reasoning","text":"well"}}
{"type":"tool_use","timestamp":3,"sessionID":"s","part":{"type":"tool"}}
{"type":"error","timestamp":4,"sessionID":"s","error":{"name":"n","data":{}}}"#,
    ),
    (
        "opencode-session",
        r#"{"info":{"id":"ses_1","directory":"/w","time":{"created":1}},"messages":[]}"#,
    ),
    (
        "amp",
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"T-1","tools":["Bash"],"mcp_servers":[]}
{"type":"user","message":{"role":"user","content":[]},"parent_tool_use_id":null,"session_id":"T-1"}
{"type":"result","subtype":"success","duration_ms":9,"is_error":false,"num_turns":1,"result":"done","session_id":"T-1"}"#,
    ),
    (
        "qwen",
        r#"{"type":"system","subtype":"init","uuid":"s","session_id":"s","cwd":"/w","tools":[],"permission_mode":"plan","qwen_code_version":"0.15.0"}
{"type":"assistant","uuid":"u1","session_id":"s","parent_tool_use_id":null,"message":{"id":"u1","role":"assistant","content":[]}}
{"type":"result","subtype":"success","uuid":"u2","session_id":"s","is_error":false,"duration_ms":9,"duration_api_ms":8,"num_turns":1,"result":"done","permission_denials":[]}"#,
    ),
    (
        "qwen-session",
        r#"{"uuid":"u1","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[]}}
{"uuid":"u2","parentUuid":"u1","sessionId":"s","type":"system","subtype":"ui_telemetry","systemPayload":{}}"#,
    ),
    (
        "copilot",
        r#"{"type":"session.start","data":{},"id":"1","timestamp":"2026-01-01T00:00:00Z","parentId":null}
{"type":"assistant.message","data":{},"id":"2","timestamp":"2026-01-01T00:00:00Z","parentId":"1"}"#,
    ),
    ("amp-thread", r#"{"v":1,"id":"T-1","created":1,"messages":[]}"#),
    (
        "cursor-transcript",
        r#"{"role":"user","message":{"content":[{"type":"text","text":"hi"}]}}
{"role":"assistant","message":{"content":[]}}"#,
    ),
    (
        "gemini-session",
        r#"{"sessionId":"s","projectHash":"p","startTime":"t","lastUpdated":"t","kind":"main"}
{"id":"m","timestamp":"2026-01-01T00:00:00Z","type":"gemini","content":"hi"}
{"$set":{"lastUpdated":"t"}}
{"$rewindTo":"m"}"#,
    ),
    (
        "kimi",
        r#"{"type":"metadata","protocol_version":"1.4","created_at":1}
{"type":"config.update","cwd":"/w","time":1}
{"type":"context.append_loop_event","event":{"type":"step.begin"},"time":1}
{"type":"usage.record","model":"m","usage":{},"time":1}"#,
    ),
    (
        "goose",
        r#"{"session_id":"1","working_dir":"/w","description":"d","session_type":"user"}
{"session_id":"1","id":"m","role":"user","created":1790150400,"content":[]}"#,
    ),
    (
        "pi",
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/w"}
{"type":"model_change","id":"1","parentId":null,"timestamp":"t","provider":"p","modelId":"m"}
{"type":"message","id":"2","parentId":"1","timestamp":"t","message":{"role":"assistant","content":[],"api":"a","provider":"p","model":"m","stopReason":"stop"}}
{"type":"custom","customType":"model-snapshot","data":{}}"#,
    ),
    (
        "cline",
        r#"{"clineTask":{"id":"1","agent":"cline"}}
{"clineMessage":{"ts":1,"type":"say","say":"task","text":"hi"}}
{"apiMessage":{"role":"user","content":[]}}"#,
    ),
    (
        "copilot-chat",
        r#"{"copilotChat":{"version":3,"sessionId":"s"}}
{"chatRequest":{"requestId":"r","message":{"text":"hi"}}}"#,
    ),
    (
        "zed",
        r#"{"zedThread":"t1","facts":{"title":"t"}}
{"zedThread":"t1","message":{"role":"user","content":[]}}"#,
    ),
    (
        "hermes",
        r#"{"hermesSession":"s1","facts":{"title":"t"}}
{"hermesSession":"s1","message":{"role":"user","content":"hi"}}"#,
    ),
    (
        "antigravity",
        r#"{"antigravity":"a1","facts":{"cwd":"/w"}}
{"antigravity":"a1","message":{"role":"user","content":"hi"}}"#,
    ),
    (
        "cursor-chat",
        r#"{"cursorChat":"c1","facts":{"title":"t"}}
{"cursorChat":"c1","message":{"role":"user","content":"hi"}}"#,
    ),
    (
        "grok",
        r#"{"grokLine":{"type":"session","id":"s"}}
{"grokLine":{"type":"user","content":[]}}
{"grokLine":{"role":"assistant","content":"hi"}}"#,
    ),
    (
        "atif",
        r#"{"schema_version":"ATIF-v1.8","session_id":"s","agent":{"name":"a","version":"1"},"steps":[]}
{"schema_version":"ATIF-v1.4","steps":[{"step_id":1,"source":"user","message":"hi"}]}"#,
    ),
    (
        "acp",
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}
{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
    ),
];

#[test]
fn each_of_these_records_decides_alone() {
    for (format, log) in LOGS {
        for line in log.lines() {
            assert_eq!(name(&verdict(line)), Some(*format), "{line}");
        }
    }
    let is_here = |name: &str| LOGS.iter().any(|(of, _)| *of == name);
    assert!(Registry::builtin().formats().all(|format| is_here(format.name)));
}

#[test]
fn the_order_of_keys_does_not_matter() {
    for (format, log) in LOGS {
        for line in log.lines() {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(line).unwrap();
            let fields = fields.iter().rev().map(|(name, raw)| format!("\"{name}\":{raw}"));
            let reversed = format!("{{{}}}", fields.collect::<Vec<_>>().join(","));
            assert_eq!(name(&verdict(&reversed)), Some(*format), "{reversed}");
        }
    }
}

#[test]
fn what_is_no_record_does_not_matter() {
    for (format, log) in LOGS {
        let (first, _) = log.split_once('\n').unwrap_or((log, ""));
        let noisy = format!("Warning: old\n\n{{\"type\":\"sys\n[1, null]\n{{\"level\":3}}\n{log}");
        let (verdict_on_noisy, fell) = judge(noisy.lines());
        assert_eq!((name(&verdict_on_noisy), fell), (Some(*format), Some(6)), "{first}");
        assert_eq!(name(&verdict(&format!("{first}{first}"))), Some(*format), "{first}");
        let array = format!("[{}]", log.replace('\n', ","));
        assert_eq!(name(&judge([&*array]).0), Some(*format), "{first}");
    }
}

#[test]
fn weak_signs_add_up() {
    let spoken = r#"{"type":"user","message":{"role":"user","content":[]},"session_id":"s"}"#;
    let partial = r#"{"type":"stream_event","event":{"type":"ping"},"session_id":"s"}"#;
    let mut recogniser = recogniser();
    assert_eq!(recogniser.candidates().count(), Registry::builtin().formats().count());
    Record::read(spoken, |_, record| recogniser.observe(&record));
    assert_eq!(recogniser.verdict(), Verdict::Undecided);
    let left: BTreeSet<_> = recogniser.candidates().map(|format| format.name).collect();
    assert!(left.into_iter().eq(["claude-stream", "cursor"]));
    Record::read(partial, |_, record| recogniser.observe(&record));
    assert!(
        matches!(recogniser.verdict(), Verdict::Likely(format) if format.name == "claude-stream")
    );
}

/// Logs without the ids that agents add.
#[test]
fn messages_alone_are_recognised() {
    let log = r#"{"type":"user","message":{"role":"user","content":"Hello"}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hi"}]}}"#;
    assert_eq!(name(&verdict(log)), Some("claude-stream"));
    let log = r#"{"type":"user","message":{"role":"user","parts":[{"text":"Hello"}]}}"#;
    assert_eq!(name(&verdict(log)), Some("qwen-session"));
}

#[test]
fn a_certain_verdict_stays() {
    let codex = r#"{"type":"turn.started"}"#;
    let gemini = r#"{"type":"init","session_id":"s","model":"auto"}"#;
    let verdict = verdict(&format!("{codex}\n{gemini}"));
    assert!(matches!(verdict, Verdict::Certain(format) if format.name == "codex-exec"));
}

#[test]
fn records_of_different_agents_are_a_contradiction() {
    let claude_or_cursor =
        r#"{"type":"user","message":{"role":"user","content":[]},"session_id":"s"}"#;
    let codex = r#"{"type":"turn.started"}"#;
    let log = format!("{claude_or_cursor}\n{codex}\n{codex}");
    assert_eq!(judge(log.lines()), (Verdict::Contradictory, Some(2)));
}

#[test]
fn documents_are_no_logs() {
    let pretty = r#"{
  "sessionId": "s",
  "messages": [
    {
      "type": "user",
      "content": [
        { "type": "text", "text": "hello" },
        { "type": "tool_use", "id": "TU-1", "name": "Bash", "input": {} }
      ]
    },
    { "type": "error", "content": "no", "timestamp": "2026-01-01T00:00:00Z" }
  ]
}"#;
    for document in [pretty, &pretty.replace('\n', "")] {
        assert_eq!(verdict(document), Verdict::Undecided, "{document}");
    }
}

#[test]
fn documents_of_agents_are_logs() {
    for (document, format) in [
        (r#"{"v":1,"id":"T-1","created":1,"messages":[],"agentMode":"smart"}"#, "amp-thread"),
        (
            r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00Z","messages":[]}"#,
            "gemini-session",
        ),
        (
            r#"{"info":{"id":"ses_1","directory":"/w","time":{"created":1}},"messages":[]}"#,
            "opencode-session",
        ),
    ] {
        assert_eq!(name(&verdict(document)), Some(format), "{document}");
    }
}

/// Files that agents keep are recognised whole.
#[test]
fn captures_of_kept_files_are_recognised() {
    for format in
        ["amp-thread", "cursor-transcript", "gemini-session", "kimi", "opencode-session", "pi"]
    {
        for path in crate::captures::of(format) {
            let content = fs::read_to_string(&path).unwrap();
            // A reader joins the lines of a document.
            let is_document = path.extension().is_some_and(|extension| extension == "json");
            let content = if is_document { content.replace('\n', " ") } else { content };
            assert_eq!(name(&verdict(&content)), Some(format), "{path:?}");
        }
    }
}

/// The captures of all formats, and other files among them.
fn captures() -> Vec<PathBuf> {
    let list = |folder: PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let folders = crate::captures::folder().into_iter().flat_map(list);
    let mut files: Vec<_> = folders.filter(|path| path.is_dir()).flat_map(list).collect();
    files.sort();
    files
}

/// The format of a capture; `None` if it is not a log.
fn format_of(path: &Path, content: &str) -> Option<&'static str> {
    let folder = path.parent()?.file_name()?.to_str()?;
    let is_log = path.extension().is_some_and(|extension| extension == "jsonl");
    let is_tree = content.contains("\"parentUuid\":");
    match folder {
        "qwen" if is_tree => Some("qwen-session"),
        folder => {
            let registry = Registry::builtin();
            let format = registry.formats().find(|format| format.name == folder);
            format.map(|format| format.name).filter(|_| is_log)
        }
    }
}

#[test]
fn captures_are_recognised_whole_and_cut() {
    for path in captures() {
        let content = fs::read_to_string(&path).unwrap();
        let whole = format_of(&path, &content);
        let found = verdict(&content);
        assert_eq!(name(&found), whole, "{path:?}");
        assert!(whole.is_some() || found == Verdict::Undecided, "{path:?}: {found:?}");
        let lines: Vec<_> = content.lines().collect();
        for cut in [1, 2, 3, 5, lines.len() / 2] {
            let (verdict, _) = judge(lines.iter().skip(cut).copied());
            let is_right = name(&verdict) == whole || verdict == Verdict::Undecided;
            assert!(is_right, "{path:?} without its first {cut} lines: {verdict:?}");
        }
    }
}

#[test]
fn no_record_of_a_capture_rules_out_its_format() {
    for path in captures() {
        let content = fs::read_to_string(&path).unwrap();
        let Some(format) = format_of(&path, &content) else { continue };
        for (number, line) in (1..).zip(content.lines()) {
            Record::read(line, |_, record| {
                let mut recogniser = recogniser();
                recogniser.observe(&record);
                let mut candidates = recogniser.candidates();
                assert!(
                    candidates.any(|candidate| candidate.name == format),
                    "{path:?}, line {number}"
                );
            });
        }
    }
}
