//! How Qwen Code's stream is told from others.

use crate::executors::{
    evidence::{
        Evidence::{self, Certain, Possible},
        is_tree_record, message,
    },
    wire::Object,
};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    match &*object.get_str("type").unwrap_or_default() {
        "system" if is_tree_record(object) => Evidence::None,
        "system" if object.has_any(&["qwen_code_version", "permission_mode"]) => Certain,
        "system" => Possible,
        "user" | "assistant" => {
            let Some(message) = message(object) else { return Evidence::None };
            let id = message.get_str("id");
            if id.is_some() && id == object.get_str("uuid") {
                return Certain;
            }
            Evidence::possible_if(object.has("parent_tool_use_id"))
        }
        "stream_event" if object.has("goal_state") => Certain,
        "stream_event" => Evidence::possible_if(object.has("event")),
        // It never states a cost.
        "result" if object.has("total_cost_usd") => Evidence::None,
        "result" if object.has_all(&["uuid", "num_turns", "permission_denials"]) => Certain,
        "result" => Evidence::possible_if(object.has_any(&["uuid", "duration_api_ms"])),
        _ => Evidence::None,
    }
}
