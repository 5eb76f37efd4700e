//! How Droid's session files are told from others.

use crate::executors::{evidence::Evidence, wire::Object};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
        "session_start" => object.has_all(&["id", "version", "cwd"]),
        "message" => object.has_all(&["id", "message"]),
        "todo_state" => object.has_all(&["id", "todos"]),
        "compaction_state" => object.has_all(&["id", "summaryText"]),
        _ => false,
    })
}
