//! How Gemini's stream is told from others.

use crate::executors::{
    evidence::{Evidence, all_strings},
    wire::Object,
};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
        "init" => object.has_all(&["session_id", "model"]),
        "tool_use" => object.has_all(&["tool_id", "tool_name"]),
        "tool_result" => object.has_all(&["tool_id", "status"]),
        "error" => object.has_all(&["severity", "message"]),
        "result" => object.has_all(&["status", "stats"]),
        "message" => all_strings(object, &["role", "content", "timestamp"]),
        _ => false,
    })
}
