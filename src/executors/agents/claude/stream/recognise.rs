//! How Claude Code's stream is told from others.

use crate::executors::{
    evidence::{
        Evidence::{self, Certain, Possible},
        is_tree_record, message,
    },
    wire::Object,
};

const SUBTYPES: [&str; 8] = [
    "task_started",
    "task_updated",
    "task_notification",
    "thinking_tokens",
    "hook_started",
    "hook_response",
    "compact_boundary",
    "api_retry",
];

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    if is_tree_record(object) {
        return Evidence::None;
    }
    match &*object.get_str("type").unwrap_or_default() {
        "system" => {
            if is_own_system(object) {
                Certain
            } else {
                Possible
            }
        }
        "user" | "assistant" => spoken(object),
        "stream_event" => Evidence::possible_if(object.has("event")),
        "rate_limit_event" => Evidence::certain_if(object.has("rate_limit_info")),
        "result" => result(object),
        _ => Evidence::None,
    }
}

fn is_own_system(object: &Object<'_>) -> bool {
    match object.get_str("subtype").as_deref() {
        Some("init") => {
            object.has_any(&["claude_code_version", "output_style", "fast_mode_state"])
                || object.has_all(&["apiKeySource", "permissionMode"])
                    && object.has_any(&["tools", "uuid", "mcp_servers", "slash_commands", "agents"])
        }
        Some(subtype) => SUBTYPES.contains(&subtype),
        None => false,
    }
}

fn spoken(object: &Object<'_>) -> Evidence {
    const OWN: [&str; 6] = [
        "tool_use_result",
        "timestamp",
        "request_id",
        "wire_tool_inputs",
        "subagent_type",
        "is_api_error_message",
    ];
    let Some(message) = message(object) else { return Evidence::None };
    let is_own_id = message.get_str("id").is_some_and(|id| id.starts_with("msg_"));
    if is_own_id || object.has_any(&OWN) { Certain } else { Possible }
}

fn result(object: &Object<'_>) -> Evidence {
    const OWN: [&str; 4] = ["total_cost_usd", "modelUsage", "terminal_reason", "fast_mode_state"];
    if object.has_any(&OWN) {
        return Certain;
    }
    Evidence::possible_if(object.has_any(&["uuid", "duration_api_ms"]))
}
