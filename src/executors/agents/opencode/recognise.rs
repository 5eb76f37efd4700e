//! How opencode's stream is told from others.

use crate::executors::{evidence::Evidence, wire::Object};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
        "step_start" | "step_finish" | "text" | "reasoning" | "tool_use" => {
            object.has_all(&["sessionID", "part"])
        }
        "error" => object.has_all(&["sessionID", "error"]),
        _ => false,
    })
}
