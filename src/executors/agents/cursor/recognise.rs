//! How Cursor's stream is told from others.

use crate::executors::{
    evidence::{
        Evidence::{self, Certain, Possible},
        is_tree_record, message,
    },
    wire::Object,
};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    match &*object.get_str("type").unwrap_or_default() {
        "thinking" => Evidence::certain_if(object.has_all(&["subtype", "timestamp_ms"])),
        "tool_call" => Evidence::certain_if(object.has_all(&["subtype", "call_id", "tool_call"])),
        "system" if is_tree_record(object) => Evidence::None,
        "system" => {
            // What it has in common with others, and nothing beside it.
            let is_own = object.get_str("subtype").as_deref() == Some("init")
                && object.has_all(&["apiKeySource", "permissionMode"])
                && !object.has_any(&["tools", "uuid", "mcp_servers", "slash_commands", "agents"])
                && !object.has_any(&["claude_code_version", "output_style", "fast_mode_state"]);
            if is_own { Certain } else { Possible }
        }
        "user" | "assistant" => {
            let Some(message) = message(object) else { return Evidence::None };
            if object.has_any(&["model_call_id", "timestamp_ms"]) {
                return Certain;
            }
            let is_bare = !object.has_any(&["parent_tool_use_id", "uuid"]) && !message.has("id");
            Evidence::possible_if(is_bare)
        }
        "result" => {
            let is_own = object.has_all(&["duration_api_ms", "request_id"]);
            if is_own && !object.has_any(&["num_turns", "uuid"]) {
                return Certain;
            }
            Evidence::possible_if(object.has("duration_api_ms") && !object.has("uuid"))
        }
        _ => Evidence::None,
    }
}
