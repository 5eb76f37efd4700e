//! Recognition of single records.

use foldline_agents::{
    Evidence, Format, Registry, Verdict,
    wire::{Object, Record},
};

/// The sorted names of the formats that remain after a record.
fn read(line: &str) -> Vec<&'static str> {
    let mut recogniser = Registry::builtin().recogniser();
    recogniser.observe(&Record::Object(Object::parse(line).unwrap()));
    names(recogniser.candidates())
}

fn names(formats: impl Iterator<Item = &'static Format>) -> Vec<&'static str> {
    let mut names: Vec<_> = formats.map(|format| format.name).collect();
    names.sort_unstable();
    names
}

fn all() -> Vec<&'static str> {
    names(Registry::builtin().formats())
}

#[test]
fn a_record_that_any_log_may_hold_says_nothing() {
    for line in [
        "{}",
        r#"{"type":"shrug","session_id":"s"}"#,
        r#"{"type":7,"text":"t"}"#,
        // Documents that are not logs, and parts of them.
        r#"{"type":"text","text":"t"}"#,
        r#"{"type":"tool_use","id":"TU-1","name":"Bash","input":{}}"#,
        r#"{"type":"tool_result","tool_use_id":"t","content":"c"}"#,
        r#"{"type":"thinking","thinking":"t","signature":"s"}"#,
        r#"{"id":"m","type":"user","timestamp":"2026-01-01T00:00:00Z","content":"c"}"#,
    ] {
        assert_eq!(read(line), all(), "{line}");
    }
}

#[test]
fn every_agent_introduces_itself() {
    let init = |fields: &str| read(&format!(r#"{{"type":"system","subtype":"init",{fields}}}"#));
    let claude = r#""session_id":"s","model":"m","apiKeySource":"none","permissionMode":"p""#;
    assert_eq!(init(r#""cwd":"/","session_id":"s","tools":[]"#), ["droid"]);
    assert_eq!(init(r#""cwd":"/","session_id":"s","reasoning_effort":"high""#), ["droid"]);
    assert_eq!(init(claude), ["cursor"]);
    assert_eq!(init(&format!(r#"{claude},"tools":[]"#)), ["claude-stream"]);
    assert_eq!(init(&format!(r#"{claude},"slash_commands":[]"#)), ["claude-stream"]);
    assert_eq!(init(r#""claude_code_version":"2""#), ["claude-stream"]);
    assert_eq!(init(r#""cwd":"/","session_id":"T-1","tools":[],"mcp_servers":[]"#), ["amp"]);
    assert_eq!(init(r#""uuid":"s","session_id":"s","permission_mode":"plan""#), ["qwen"]);
    assert_eq!(init(r#""session_id":"s","tools":[],"qwen_code_version":"0""#), ["qwen"]);
    // A record of Amp with replaced ids.
    let replaced = init(r#""cwd":"/","session_id":"s","tools":[],"mcp_servers":[]"#);
    assert_eq!(replaced, ["amp", "claude-stream", "cursor", "droid", "qwen"]);
}

#[test]
fn later_records_of_type_system() {
    let system = |subtype: &str| read(&format!(r#"{{"type":"system","subtype":"{subtype}"}}"#));
    assert_eq!(system("thinking_tokens"), ["claude-stream"]);
    assert_eq!(system("compact_boundary"), ["claude-stream"]);
    assert_eq!(system("shrug"), ["amp", "claude-stream", "cursor", "droid", "qwen"]);
}

#[test]
fn messages_in_the_manner_of_claude_code() {
    let spoken = |fields: &str, message: &str| {
        let message = format!(r#"{{"role":"assistant","content":[]{message}}}"#);
        read(&format!(r#"{{"type":"assistant","message":{message}{fields}}}"#))
    };
    let child = r#","parent_tool_use_id":null,"session_id":"s""#;
    let with_uuid = format!(r#"{child},"uuid":"u""#);
    assert_eq!(spoken(&with_uuid, ""), ["claude-stream", "qwen"]);
    assert_eq!(spoken(&with_uuid, r#","id":"msg_1""#), ["claude-stream"]);
    assert_eq!(spoken(&with_uuid, r#","id":"other""#), ["claude-stream", "qwen"]);
    assert_eq!(spoken(&with_uuid, r#","id":"u""#), ["qwen"]);
    assert_eq!(spoken(r#","uuid":"u","session_id":"s""#, ""), ["claude-stream"]);
    assert_eq!(spoken(&format!(r#"{child},"tool_use_result":"x""#), ""), ["claude-stream"]);
    assert_eq!(spoken(&format!(r#"{child},"timestamp":"x""#), ""), ["claude-stream"]);
    assert_eq!(spoken(r#","parent_tool_use_id":null,"session_id":"T-1""#, ""), ["amp"]);
    assert_eq!(spoken(r#","parent_tool_use_id":null"#, ""), ["amp", "claude-stream", "qwen"]);
    assert_eq!(spoken(r#","session_id":"s""#, ""), ["claude-stream", "cursor"]);
    assert_eq!(spoken(r#","session_id":"s","timestamp_ms":1"#, ""), ["cursor"]);
    assert_eq!(spoken(r#","session_id":"s","model_call_id":"1""#, ""), ["cursor"]);
    let partial = r#"{"type":"stream_event","uuid":"u","event":{"type":"ping"}}"#;
    assert_eq!(read(partial), ["claude-stream", "qwen"]);
    assert_eq!(read(&partial.replace("uuid", "goal_state")), ["qwen"]);
}

#[test]
fn sessions_kept_as_a_tree() {
    let record = |fields: &str| {
        read(&format!(r#"{{"uuid":"u","parentUuid":null,"sessionId":"s","type":"user"{fields}}}"#))
    };
    assert_eq!(record(r#","message":{"role":"user","content":"c"}"#), ["claude-session"]);
    assert_eq!(record(r#","isSidechain":false"#), ["claude-session"]);
    assert_eq!(record(r#","message":{"role":"user","parts":[]}"#), ["qwen-session"]);
    assert_eq!(record(r#","systemPayload":{}"#), ["qwen-session"]);
    assert_eq!(record(""), ["claude-session", "qwen-session"]);
    let untyped = r#"{"uuid":"u","sessionId":"s","message":{"parts":[]}}"#;
    assert_eq!(read(untyped), ["qwen-session"]);
}

#[test]
fn results_by_their_fields() {
    let result = |fields: &str| {
        read(&format!(r#"{{"type":"result","subtype":"success","duration_ms":1{fields}}}"#))
    };
    let droid = r#","num_turns":1,"session_id":"s""#;
    let qwen = r#","num_turns":1,"session_id":"s","uuid":"u","permission_denials":[]"#;
    assert_eq!(result(droid), ["droid"]);
    assert_eq!(result(&droid.replace("\"s\"", "\"T-s\"")), ["amp"]);
    assert_eq!(result(r#","num_turns":1"#), ["amp", "droid"]);
    assert_eq!(result(qwen), ["qwen"]);
    assert_eq!(result(&format!(r#"{qwen},"total_cost_usd":0"#)), ["claude-stream"]);
    assert_eq!(result(r#","session_id":"s","uuid":"u""#), ["claude-stream", "qwen"]);
    assert_eq!(result(r#","duration_api_ms":1,"request_id":"r""#), ["cursor"]);
    assert_eq!(result(r#","duration_api_ms":1"#), ["claude-stream", "cursor", "qwen"]);
    assert_eq!(result(""), all());
}

#[test]
fn errors_by_their_fields() {
    assert_eq!(read(r#"{"type":"error","message":"m"}"#), ["codex-exec"]);
    assert_eq!(read(r#"{"type":"error","message":"m","code":1}"#), all());
    assert_eq!(read(r#"{"type":"error","message":"m","source":"cli"}"#), ["droid"]);
    assert_eq!(read(r#"{"type":"error","message":"m","severity":"warning"}"#), ["gemini"]);
    assert_eq!(read(r#"{"type":"error","error":{},"sessionID":"s"}"#), ["opencode"]);
    assert_eq!(read(r#"{"type":"error","error":{"type":"t"}}"#), all());
}

#[test]
fn messages_by_their_fields() {
    let message = |fields: &str| read(&format!(r#"{{"type":"message","role":"user"{fields}}}"#));
    let at = r#","timestamp":"2026-01-01T00:00:00Z""#;
    assert_eq!(message(r#","text":"t","timestamp":1"#), ["droid"]);
    assert_eq!(message(&format!(r#","content":"c"{at}"#)), ["gemini"]);
    assert_eq!(message(&format!(r#","content":[]{at}"#)), all());
    assert_eq!(message(r#","id":"m","message":{"role":"user"}"#), ["droid-session"]);
}

#[test]
fn protocols() {
    let rpc = |fields: &str| read(&format!(r#"{{"jsonrpc":"2.0"{fields}}}"#));
    assert_eq!(rpc(r#","factoryApiVersion":"1.0.0","type":"response""#), ["droid-jsonrpc"]);
    assert_eq!(rpc(r#","method":"droid.list_tools""#), ["droid-jsonrpc"]);
    assert_eq!(rpc(r#","method":"session/update""#), ["acp"]);
    assert_eq!(rpc(r#","method":"initialize","params":{"protocolVersion":1}"#), ["acp"]);
    assert_eq!(rpc(r#","id":3,"result":{"stopReason":"end_turn"}"#), ["acp"]);
    let other = r#","method":"initialize","params":{"protocolVersion":"2025-06-18"}"#;
    assert_eq!(rpc(other), ["acp", "droid-jsonrpc"]);
    assert_eq!(rpc(r#","id":3,"result":{}"#), ["acp", "droid-jsonrpc"]);
}

#[test]
fn events_of_copilot() {
    let rest = r#""data":{},"id":"1","parentId":null,"timestamp":"t"}"#;
    assert_eq!(read(&format!(r#"{{"type":"session.shrug",{rest}"#)), ["copilot"]);
    assert_eq!(read(&format!(r#"{{"type":"abort",{rest}"#)), ["copilot"]);
    assert_eq!(read(&format!(r#"{{"type":"custom",{rest}"#)), all());
}
const A: Format = Format::new("a", "A", "a");
const B: Format = Format::new("b", "B", "b");

fn verdict(registry: &Registry, log: &str) -> Verdict {
    let mut recogniser = registry.recogniser();
    for line in log.lines() {
        Record::read(line, |_, record| recogniser.observe(&record));
    }
    recogniser.verdict()
}

#[test]
fn two_formats_that_are_certain_of_one_record_are_both_named() {
    let registry = Registry::default()
        .with_format(&A, |object| Evidence::certain_if(object.has("a")))
        .with_format(&B, |object| Evidence::certain_if(object.has("b")));
    assert_eq!(verdict(&registry, r#"{"a":1}"#), Verdict::Certain(&A));
    assert_eq!(verdict(&registry, r#"{"a":1,"b":1}"#), Verdict::Disputed(vec![&A, &B]));
    assert_eq!(verdict(&registry, "{\"a\":1}\n{\"b\":1}"), Verdict::Certain(&A));
}

#[test]
fn a_lone_possible_format_is_likely_until_a_record_proves_it() {
    let registry = Registry::default()
        .with_format(&A, |object| match object.has("proof") {
            true => Evidence::Certain,
            false => Evidence::possible_if(object.has("a")),
        })
        .with_format(&B, |object| Evidence::possible_if(object.has("b")));
    assert_eq!(verdict(&registry, r#"{"a":1}"#), Verdict::Likely(&A));
    assert_eq!(verdict(&registry, "{\"a\":1}\n{\"proof\":1}"), Verdict::Certain(&A));
    assert_eq!(verdict(&registry, r#"{"a":1,"b":1}"#), Verdict::Undecided);
    assert_eq!(verdict(&registry, "{\"a\":1,\"b\":1}\n{\"b\":1}"), Verdict::Likely(&B));
    assert_eq!(verdict(&registry, "{\"a\":1}\n{\"b\":1}"), Verdict::Contradictory);
    assert_eq!(verdict(&registry, r#"{"c":1}"#), Verdict::Undecided);
}
