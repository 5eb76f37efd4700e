//! How Amp's stream is told from others.

use crate::executors::{
    evidence::{
        Evidence::{self, Certain, Possible},
        is_tree_record, message,
    },
    wire::Object,
};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    let kind = object.get_str("type").unwrap_or_default();
    if is_tree_record(object) || !["system", "user", "assistant", "result"].contains(&&*kind) {
        return Evidence::None;
    }
    // A session is a thread, and its id says so.
    let is_thread = object.get_str("session_id").map(|id| id.starts_with("T-"));
    if is_thread == Some(true) || (kind == "system" && object.has("agent_mode")) {
        return Certain;
    }
    match &*kind {
        // With another id where somebody replaced it.
        "system" => Possible,
        _ if is_thread.is_some() => Evidence::None,
        "result" => {
            let is_bare = !object.has_any(&["uuid", "duration_api_ms"]);
            Evidence::possible_if(is_bare && object.has_all(&["duration_ms", "num_turns"]))
        }
        _ => {
            let is_bare = message(object).is_some_and(|message| !message.has("id"));
            let is_child = object.has("parent_tool_use_id") && !object.has("uuid");
            Evidence::possible_if(is_bare && is_child)
        }
    }
}
