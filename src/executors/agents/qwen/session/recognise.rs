//! How Qwen Code's session files are told from others.

use crate::executors::{
    evidence::{Evidence, is_tree_record, nested},
    wire::Object,
};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    const OWN: [&str; 5] =
        ["systemPayload", "usageMetadata", "toolCallResult", "provenance", "contextWindowSize"];
    if !is_tree_record(object) {
        return Evidence::None;
    }
    let has_parts = nested(object, "message").is_some_and(|message| message.has("parts"));
    if has_parts || object.has_any(&OWN) { Evidence::Certain } else { Evidence::Possible }
}
