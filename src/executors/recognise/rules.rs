//! What one record says about the format of its log.
//!
//! Most records bear a [signature](super::signatures). What is left are the shapes that several
//! formats share; each has a function here, which rules formats out by what they never print and
//! settles on one by what no other prints.

use super::{
    candidates::Candidates,
    signatures::{all, any, signed},
};
use crate::executors::{
    Format::{self, *},
    wire::{Object, value},
};

/// The formats that print `user`, `assistant` and `result` records in the manner of Claude Code.
const STREAMS: Candidates = Candidates::of(&[ClaudeStream, Cursor, Amp, Qwen]);

/// The formats that begin with a record of type `system`.
const WITH_INIT: Candidates = Candidates::of(&[Droid, ClaudeStream, Cursor, Amp, Qwen]);

/// The formats that the record may belong to.
pub(super) fn candidates(object: &Object<'_>) -> Candidates {
    if object.has("jsonrpc") {
        return json_rpc(object);
    }
    if object.has("parentUuid") || (object.has("sessionId") && any(object, &["uuid", "message"])) {
        return tree_record(object);
    }
    let Some(kind) = object.get_str("type") else { return Candidates::ALL };
    if let Some(format) = signed(&kind, object) {
        return format.into();
    }
    match &*kind {
        "system" => system(object),
        "user" | "assistant" => spoken(object),
        "stream_event" => partial(object),
        "result" => result(object),
        "message" => settled(Gemini, all_texts(object, &["role", "content", "timestamp"])),
        "error" => settled(CodexExec, is_lone_message(object)),
        kind => settled(Copilot, is_copilot(kind, object)),
    }
}

fn settled(format: Format, is_settled: bool) -> Candidates {
    if is_settled { format.into() } else { Candidates::ALL }
}

fn json_rpc(object: &Object<'_>) -> Candidates {
    const BOTH: Candidates = Candidates::of(&[DroidJsonRpc, Acp]);
    let method = object.get_str("method").unwrap_or_default();
    if any(object, &["factoryApiVersion", "factoryProtocolVersion"]) || method.starts_with("droid.")
    {
        return DroidJsonRpc.into();
    }
    let is_acp = match &*method {
        // Other protocols begin with `initialize` too; the Model Context Protocol counts its
        // versions by date.
        "initialize" => {
            nested(object, "params").is_some_and(|params| is_number(&params, "protocolVersion"))
        }
        "" => {
            let answers = ["stopReason", "agentCapabilities", "authMethods"];
            nested(object, "result").is_some_and(|result| any(&result, &answers))
        }
        method => ["session/", "fs/", "terminal/"].iter().any(|of| method.starts_with(of)),
    };
    if is_acp { Acp.into() } else { BOTH }
}

/// A record of a session kept as a tree.
fn tree_record(object: &Object<'_>) -> Candidates {
    const QWEN: &[&str] =
        &["systemPayload", "usageMetadata", "toolCallResult", "provenance", "contextWindowSize"];
    const CLAUDE: &[&str] = &["isSidechain", "userType", "requestId", "toolUseResult"];
    let message = nested(object, "message").unwrap_or_default();
    if message.has("parts") || any(object, QWEN) {
        QwenSession.into()
    } else if message.has("content") || any(object, CLAUDE) {
        ClaudeSession.into()
    } else {
        Candidates::of(&[ClaudeSession, QwenSession])
    }
}

fn system(object: &Object<'_>) -> Candidates {
    const CLAUDE_SUBTYPES: &[&str] = &[
        "task_started",
        "task_updated",
        "task_notification",
        "thinking_tokens",
        "hook_started",
        "hook_response",
        "compact_boundary",
        "api_retry",
    ];
    match object.get_str("subtype").as_deref() {
        Some("init") => init(object),
        Some(subtype) if CLAUDE_SUBTYPES.contains(&subtype) => ClaudeStream.into(),
        _ => WITH_INIT,
    }
}

fn init(object: &Object<'_>) -> Candidates {
    const CLAUDE: &[&str] = &["claude_code_version", "output_style", "fast_mode_state"];
    // Neither Droid nor Cursor prints these.
    const OTHERS: &[&str] = &["uuid", "mcp_servers", "slash_commands", "agents"];
    if any(object, &["qwen_code_version", "permission_mode"]) {
        Qwen.into()
    } else if is_thread(object) == Some(true) || object.has("agent_mode") {
        Amp.into()
    } else if any(object, CLAUDE) {
        ClaudeStream.into()
    } else if all(object, &["apiKeySource", "permissionMode"]) {
        let is_claude = any(object, OTHERS) || object.has("tools");
        if is_claude { ClaudeStream.into() } else { Cursor.into() }
    } else {
        let is_droid = all(object, &["cwd", "session_id"])
            && any(object, &["tools", "reasoning_effort"])
            && !any(object, OTHERS)
            && !any(object, &["apiKeySource", "permissionMode"]);
        if is_droid { Droid.into() } else { WITH_INIT }
    }
}

/// A `user` or `assistant` record that holds a message of content blocks.
fn spoken(object: &Object<'_>) -> Candidates {
    const CURSOR: &[&str] = &["model_call_id", "timestamp_ms"];
    const CLAUDE: &[&str] = &[
        "tool_use_result",
        "timestamp",
        "request_id",
        "wire_tool_inputs",
        "subagent_type",
        "is_api_error_message",
    ];
    let Some(message) = nested(object, "message").filter(|message| message.has("content")) else {
        return Candidates::ALL;
    };
    let is_thread = is_thread(object);
    if is_thread == Some(true) {
        return Amp.into();
    }
    if any(object, CURSOR) {
        return Cursor.into();
    }
    let (uuid, id) = (object.get_str("uuid"), message.get_str("id"));
    if id.is_some() && id == uuid {
        return Qwen.into();
    }
    if any(object, CLAUDE) || id.as_deref().is_some_and(|id| id.starts_with("msg_")) {
        return ClaudeStream.into();
    }
    let mut left = STREAMS;
    if is_thread.is_some() {
        left = left.without(Amp.into());
    }
    if uuid.is_some() || id.is_some() {
        left = left.without(Candidates::of(&[Amp, Cursor]));
    }
    left.without(if object.has("parent_tool_use_id") {
        Cursor.into()
    } else {
        Candidates::of(&[Amp, Qwen])
    })
}

/// A part of a message, as the model's interface streams it.
fn partial(object: &Object<'_>) -> Candidates {
    if object.has("goal_state") {
        Qwen.into()
    } else if object.has("event") {
        Candidates::of(&[ClaudeStream, Qwen])
    } else {
        Candidates::ALL
    }
}

fn result(object: &Object<'_>) -> Candidates {
    const CLAUDE: &[&str] = &["total_cost_usd", "modelUsage", "terminal_reason", "fast_mode_state"];
    let is_thread = is_thread(object);
    if is_thread == Some(true) {
        Amp.into()
    } else if any(object, CLAUDE) {
        ClaudeStream.into()
    } else if object.has("uuid") {
        // Claude Code never leaves out what a run cost.
        let is_whole = all(object, &["num_turns", "permission_denials"]);
        if is_whole { Qwen.into() } else { Candidates::of(&[ClaudeStream, Qwen]) }
    } else if object.has("duration_api_ms") {
        let is_cursor = object.has("request_id") && !object.has("num_turns");
        if is_cursor { Cursor.into() } else { STREAMS.without(Amp.into()) }
    } else if all(object, &["duration_ms", "num_turns"]) {
        // `droid exec -o json`. Amp's has the same fields; only the session tells them apart.
        if is_thread.is_some() { Droid.into() } else { Candidates::of(&[Droid, Amp]) }
    } else {
        Candidates::ALL
    }
}

/// An error of `codex exec`, which has nothing but its text.
fn is_lone_message(object: &Object<'_>) -> bool {
    all_texts(object, &["message"]) && object.clone().rest().len() == 2
}

fn is_copilot(kind: &str, object: &Object<'_>) -> bool {
    (kind.contains('.') || kind == "abort") && all(object, &["data", "id", "parentId", "timestamp"])
}

/// Whether the session is a thread of Amp's, as its id tells; nothing where there is no id.
fn is_thread(object: &Object<'_>) -> Option<bool> {
    object.get_str("session_id").map(|id| id.starts_with("T-"))
}

fn is_number(object: &Object<'_>, field: &str) -> bool {
    object.get(field).is_some_and(|raw| raw.get().starts_with(|c: char| c.is_ascii_digit()))
}

fn all_texts(object: &Object<'_>, fields: &[&str]) -> bool {
    let is_text = |field: &&str| object.get(field).is_some_and(|raw| raw.get().starts_with('"'));
    fields.iter().all(is_text)
}

fn nested<'a>(object: &Object<'a>, field: &str) -> Option<Object<'a>> {
    value::parse(object.get(field)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<Format> {
        candidates(&Object::parse(line).unwrap()).iter().collect()
    }

    #[test]
    fn a_record_that_any_log_may_hold_says_nothing() {
        for line in [
            "{}",
            r#"{"type":"shrug","session_id":"s"}"#,
            r#"{"type":7,"text":"t"}"#,
            // Parts of documents that are no logs, and the documents themselves.
            r#"{"type":"text","text":"t"}"#,
            r#"{"type":"tool_use","id":"TU-1","name":"Bash","input":{}}"#,
            r#"{"type":"tool_result","tool_use_id":"t","content":"c"}"#,
            r#"{"type":"thinking","thinking":"t","signature":"s"}"#,
            r#"{"id":"m","type":"user","timestamp":"2026-01-01T00:00:00Z","content":"c"}"#,
            r#"{"sessionId":"s","projectHash":"p","startTime":"t","messages":[]}"#,
            r#"{"v":1,"id":"T-1","created":1,"messages":[]}"#,
            r#"{"model":"m","autonomyMode":"a","tokenUsage":{"inputTokens":1}}"#,
        ] {
            assert_eq!(read(line), Format::ALL, "{line}");
        }
    }

    #[test]
    fn every_agent_introduces_itself() {
        let init =
            |fields: &str| read(&format!(r#"{{"type":"system","subtype":"init",{fields}}}"#));
        let claude = r#""session_id":"s","model":"m","apiKeySource":"none","permissionMode":"p""#;
        assert_eq!(init(r#""cwd":"/","session_id":"s","tools":[]"#), [Droid]);
        assert_eq!(init(r#""cwd":"/","session_id":"s","reasoning_effort":"high""#), [Droid]);
        assert_eq!(init(claude), [Cursor]);
        assert_eq!(init(&format!(r#"{claude},"tools":[]"#)), [ClaudeStream]);
        assert_eq!(init(&format!(r#"{claude},"slash_commands":[]"#)), [ClaudeStream]);
        assert_eq!(init(r#""claude_code_version":"2""#), [ClaudeStream]);
        assert_eq!(init(r#""cwd":"/","session_id":"T-1","tools":[],"mcp_servers":[]"#), [Amp]);
        assert_eq!(init(r#""uuid":"s","session_id":"s","permission_mode":"plan""#), [Qwen]);
        assert_eq!(init(r#""session_id":"s","tools":[],"qwen_code_version":"0""#), [Qwen]);
        // Amp's with its ids replaced.
        let replaced = init(r#""cwd":"/","session_id":"s","tools":[],"mcp_servers":[]"#);
        assert_eq!(replaced, [Droid, ClaudeStream, Cursor, Amp, Qwen]);
    }

    #[test]
    fn later_records_of_type_system() {
        let system = |subtype: &str| read(&format!(r#"{{"type":"system","subtype":"{subtype}"}}"#));
        assert_eq!(system("thinking_tokens"), [ClaudeStream]);
        assert_eq!(system("compact_boundary"), [ClaudeStream]);
        assert_eq!(system("shrug"), [Droid, ClaudeStream, Cursor, Amp, Qwen]);
    }

    #[test]
    fn messages_in_the_manner_of_claude_code() {
        let spoken = |fields: &str, message: &str| {
            let message = format!(r#"{{"role":"assistant","content":[]{message}}}"#);
            read(&format!(r#"{{"type":"assistant","message":{message}{fields}}}"#))
        };
        let child = r#","parent_tool_use_id":null,"session_id":"s""#;
        let with_uuid = format!(r#"{child},"uuid":"u""#);
        assert_eq!(spoken(&with_uuid, ""), [ClaudeStream, Qwen]);
        assert_eq!(spoken(&with_uuid, r#","id":"msg_1""#), [ClaudeStream]);
        assert_eq!(spoken(&with_uuid, r#","id":"other""#), [ClaudeStream, Qwen]);
        assert_eq!(spoken(&with_uuid, r#","id":"u""#), [Qwen]);
        assert_eq!(spoken(r#","uuid":"u","session_id":"s""#, ""), [ClaudeStream]);
        assert_eq!(spoken(&format!(r#"{child},"tool_use_result":"x""#), ""), [ClaudeStream]);
        assert_eq!(spoken(&format!(r#"{child},"timestamp":"x""#), ""), [ClaudeStream]);
        assert_eq!(spoken(r#","parent_tool_use_id":null,"session_id":"T-1""#, ""), [Amp]);
        assert_eq!(spoken(r#","parent_tool_use_id":null"#, ""), [ClaudeStream, Amp, Qwen]);
        assert_eq!(spoken(r#","session_id":"s""#, ""), [ClaudeStream, Cursor]);
        assert_eq!(spoken(r#","session_id":"s","timestamp_ms":1"#, ""), [Cursor]);
        assert_eq!(spoken(r#","session_id":"s","model_call_id":"1""#, ""), [Cursor]);
        let partial = r#"{"type":"stream_event","uuid":"u","event":{"type":"ping"}}"#;
        assert_eq!(read(partial), [ClaudeStream, Qwen]);
        assert_eq!(read(&partial.replace("uuid", "goal_state")), [Qwen]);
    }

    #[test]
    fn sessions_kept_as_a_tree() {
        let record = |fields: &str| {
            read(&format!(
                r#"{{"uuid":"u","parentUuid":null,"sessionId":"s","type":"user"{fields}}}"#
            ))
        };
        assert_eq!(record(r#","message":{"role":"user","content":"c"}"#), [ClaudeSession]);
        assert_eq!(record(r#","isSidechain":false"#), [ClaudeSession]);
        assert_eq!(record(r#","message":{"role":"user","parts":[]}"#), [QwenSession]);
        assert_eq!(record(r#","systemPayload":{}"#), [QwenSession]);
        assert_eq!(record(""), [ClaudeSession, QwenSession]);
        let untyped = r#"{"uuid":"u","sessionId":"s","message":{"parts":[]}}"#;
        assert_eq!(read(untyped), [QwenSession]);
    }

    #[test]
    fn results_by_their_fields() {
        let result = |fields: &str| {
            read(&format!(r#"{{"type":"result","subtype":"success","duration_ms":1{fields}}}"#))
        };
        let droid = r#","num_turns":1,"session_id":"s""#;
        let qwen = r#","num_turns":1,"session_id":"s","uuid":"u","permission_denials":[]"#;
        assert_eq!(result(droid), [Droid]);
        assert_eq!(result(&droid.replace("\"s\"", "\"T-s\"")), [Amp]);
        assert_eq!(result(r#","num_turns":1"#), [Droid, Amp]);
        assert_eq!(result(qwen), [Qwen]);
        assert_eq!(result(&format!(r#"{qwen},"total_cost_usd":0"#)), [ClaudeStream]);
        assert_eq!(result(r#","session_id":"s","uuid":"u""#), [ClaudeStream, Qwen]);
        assert_eq!(result(r#","duration_api_ms":1,"request_id":"r""#), [Cursor]);
        assert_eq!(result(r#","duration_api_ms":1"#), [ClaudeStream, Cursor, Qwen]);
        assert_eq!(result(""), Format::ALL);
    }

    #[test]
    fn errors_by_their_fields() {
        assert_eq!(read(r#"{"type":"error","message":"m"}"#), [CodexExec]);
        assert_eq!(read(r#"{"type":"error","message":"m","code":1}"#), Format::ALL);
        assert_eq!(read(r#"{"type":"error","message":"m","source":"cli"}"#), [Droid]);
        assert_eq!(read(r#"{"type":"error","message":"m","severity":"warning"}"#), [Gemini]);
        assert_eq!(read(r#"{"type":"error","error":{},"sessionID":"s"}"#), [Opencode]);
        assert_eq!(read(r#"{"type":"error","error":{"type":"t"}}"#), Format::ALL);
    }

    #[test]
    fn messages_by_their_fields() {
        let message =
            |fields: &str| read(&format!(r#"{{"type":"message","role":"user"{fields}}}"#));
        let at = r#","timestamp":"2026-01-01T00:00:00Z""#;
        assert_eq!(message(r#","text":"t","timestamp":1"#), [Droid]);
        assert_eq!(message(&format!(r#","content":"c"{at}"#)), [Gemini]);
        assert_eq!(message(&format!(r#","content":[]{at}"#)), Format::ALL);
        assert_eq!(message(r#","id":"m","message":{"role":"user"}"#), [DroidSession]);
    }

    #[test]
    fn protocols() {
        let rpc = |fields: &str| read(&format!(r#"{{"jsonrpc":"2.0"{fields}}}"#));
        assert_eq!(rpc(r#","factoryApiVersion":"1.0.0","type":"response""#), [DroidJsonRpc]);
        assert_eq!(rpc(r#","method":"droid.list_tools""#), [DroidJsonRpc]);
        assert_eq!(rpc(r#","method":"session/update""#), [Acp]);
        assert_eq!(rpc(r#","method":"initialize","params":{"protocolVersion":1}"#), [Acp]);
        assert_eq!(rpc(r#","id":3,"result":{"stopReason":"end_turn"}"#), [Acp]);
        let other = r#","method":"initialize","params":{"protocolVersion":"2025-06-18"}"#;
        assert_eq!(rpc(other), [DroidJsonRpc, Acp]);
        assert_eq!(rpc(r#","id":3,"result":{}"#), [DroidJsonRpc, Acp]);
    }

    #[test]
    fn events_of_copilot() {
        let rest = r#""data":{},"id":"1","parentId":null,"timestamp":"t"}"#;
        assert_eq!(read(&format!(r#"{{"type":"session.shrug",{rest}"#)), [Copilot]);
        assert_eq!(read(&format!(r#"{{"type":"abort",{rest}"#)), [Copilot]);
        assert_eq!(read(&format!(r#"{{"type":"custom",{rest}"#)), Format::ALL);
    }
}
