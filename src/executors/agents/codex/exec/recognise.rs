//! How the stream of `codex exec --json` is told from others.

use crate::executors::{
    evidence::{Evidence, all_strings},
    wire::Object,
};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
        "thread.started" => object.has("thread_id"),
        "turn.started" => true,
        "turn.completed" => object.has("usage"),
        "turn.failed" => object.has("error"),
        "item.started" | "item.updated" | "item.completed" => object.has("item"),
        // An error has nothing but its text.
        "error" => all_strings(object, &["message"]) && object.clone().rest().len() == 2,
        _ => false,
    })
}
