//! The parse floor of a stream of Claude Code with partial messages: structs that fit it, with owned strings.
#![allow(dead_code)]

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub(crate) struct Line {
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
