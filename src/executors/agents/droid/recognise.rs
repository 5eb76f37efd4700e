//! How Droid's stream is told from others.

use crate::executors::{
    evidence::{
        Evidence::{self, Certain, Possible},
        is_tree_record,
    },
    wire::Object,
};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
        "system" if is_tree_record(object) => false,
        "system" => return if is_init(object) { Certain } else { Possible },
        "message" => object.has_all(&["role", "text"]),
        "reasoning" => object.has_all(&["id", "text", "timestamp"]),
        "tool_call" => object.has_all(&["toolName", "parameters"]),
        "tool_result" => object.has("isError"),
        "completion" => object.has("finalText"),
        "error" => object.has_all(&["source", "message"]),
        // The only record of `-o json`. Others have the same fields and more.
        "result" => {
            let is_bare = !object.has_any(&["uuid", "duration_api_ms"]);
            return Evidence::possible_if(is_bare && object.has_all(&["duration_ms", "num_turns"]));
        }
        _ => false,
    })
}

fn is_init(object: &Object<'_>) -> bool {
    object.get_str("subtype").as_deref() == Some("init")
        && object.has_all(&["cwd", "session_id"])
        && object.has_any(&["tools", "reasoning_effort"])
        // Others begin with the same fields, and go on with these.
        && !object.has_any(&["uuid", "mcp_servers", "slash_commands", "agents", "agent_mode"])
        && !object.has_any(&["apiKeySource", "permissionMode", "permission_mode"])
        && !object.has_any(&["claude_code_version", "qwen_code_version"])
        && !object.has_any(&["output_style", "fast_mode_state"])
}
