//! A generated Claude Code stream with partial messages, and the cost of merely parsing it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Random;

/// A run with streamed answers: a line per delta, then the complete message, a call and its result, up to about
/// `bytes` bytes.
pub fn log(bytes: usize, seed: u64) -> String {
    let mut random = Random(seed);
    let mut log = String::with_capacity(bytes + 8192);
    let session = "adde8b56-97d9-4889-a391-bd4eda88fd46";
    let mut number = 0;
    push(
        &mut log,
        &json!({"type":"system","subtype":"init","cwd":"/home/me/project","session_id":session,"tools":["Bash","Read","Edit"],"mcp_servers":[],"model":"claude-opus-4-8","permissionMode":"default","slash_commands":[],"apiKeySource":"none","claude_code_version":"2.1.281","uuid":"u-0"}),
    );
    while log.len() < bytes {
        number += 1;
        let id = format!("msg_{number:024}");
        let size = 400 + random.below(2_400);
        streamed(&mut log, &mut random, session, &id, size);
        let call = format!("toolu_{number:024}");
        push(
            &mut log,
            &json!({"type":"assistant","message":{"model":"claude-opus-4-8","id":id,"type":"message","role":"assistant","content":[{"type":"tool_use","id":call,"name":"Bash","input":{"command":"cargo test","description":"Runs the tests"}}],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":8}},"parent_tool_use_id":null,"session_id":session,"uuid":format!("a-{number}")}),
        );
        let size = 100 + random.below(2_000);
        let output = random.text(size);
        push(
            &mut log,
            &json!({"type":"user","message":{"role":"user","content":[{"tool_use_id":call,"type":"tool_result","content":output,"is_error":false}]},"parent_tool_use_id":null,"session_id":session,"uuid":format!("r-{number}"),"tool_use_result":{"stdout":output,"stderr":"","interrupted":false,"isImage":false}}),
        );
    }
    log
}

/// One answer of `size` bytes in deltas of some words.
fn streamed(log: &mut String, random: &mut Random, session: &str, id: &str, size: u64) {
    let event = |log: &mut String, event: Value| {
        push(
            log,
            &json!({"type":"stream_event","event":event,"session_id":session,"parent_tool_use_id":null,"uuid":"e"}),
        );
    };
    event(
        log,
        json!({"type":"message_start","message":{"model":"claude-opus-4-8","id":id,"type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}}),
    );
    event(
        log,
        json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}),
    );
    let mut text = String::new();
    while (text.len() as u64) < size {
        let delta = random.text(24);
        event(
            log,
            json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":delta}}),
        );
        text.push_str(&delta);
    }
    push(
        log,
        &json!({"type":"assistant","message":{"model":"claude-opus-4-8","id":id,"type":"message","role":"assistant","content":[{"type":"text","text":text}],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}},"parent_tool_use_id":null,"session_id":session,"uuid":format!("t-{id}")}),
    );
    event(log, json!({"type":"content_block_stop","index":0}));
    event(
        log,
        json!({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":50}}),
    );
    event(log, json!({"type":"message_stop"}));
}

/// One answer in `deltas` deltas, with its beginning and its end; and the length of the answer.
pub fn one_answer(deltas: usize) -> (String, usize) {
    let mut log = String::new();
    let event = |log: &mut String, event: Value| {
        push(
            log,
            &json!({"type":"stream_event","event":event,"session_id":"s","parent_tool_use_id":null,"uuid":"e"}),
        );
    };
    event(
        &mut log,
        json!({"type":"message_start","message":{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[]}}),
    );
    event(
        &mut log,
        json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}),
    );
    let delta = "one more piece of text, ";
    for _ in 0..deltas {
        event(
            &mut log,
            json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":delta}}),
        );
    }
    event(&mut log, json!({"type":"content_block_stop","index":0}));
    event(&mut log, json!({"type":"message_stop"}));
    (log, deltas * delta.len())
}

fn push(log: &mut String, value: &Value) {
    log.push_str(&value.to_string());
    log.push('\n');
}

/// The parse floor: each line into structs that fit it, with owned strings.
#[derive(Deserialize)]
pub struct Line {
    r#type: String,
    subtype: Option<String>,
    session_id: Option<String>,
    uuid: Option<String>,
    parent_tool_use_id: Option<String>,
    message: Option<Message>,
    event: Option<Event>,
    tool_use_result: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    role: Option<String>,
    model: Option<String>,
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    text: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Value>,
    tool_use_id: Option<String>,
    content: Option<Value>,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Event {
    r#type: String,
    index: Option<u64>,
    message: Option<Message>,
    content_block: Option<Block>,
    delta: Option<Delta>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Delta {
    r#type: Option<String>,
    text: Option<String>,
    partial_json: Option<String>,
    thinking: Option<String>,
    stop_reason: Option<String>,
}
