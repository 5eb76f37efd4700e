//! How Claude Code's session files are told from others.

use crate::executors::{
    Evidence,
    evidence::{is_tree_record, nested},
    wire::Object,
};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    if is_tree_record(object) {
        return tree_record(object);
    }
    Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
        "summary" => object.has_all(&["summary", "leafUuid"]),
        "file-history-snapshot" => object.has_all(&["messageId", "snapshot"]),
        "file-history-delta" => object.has_all(&["messageId", "trackingPath"]),
        "queue-operation" => object.has_all(&["operation", "sessionId"]),
        "last-prompt" | "ai-title" => object.has("sessionId"),
        "permission-mode" => object.has_all(&["permissionMode", "sessionId"]),
        "mode" => object.has_all(&["mode", "sessionId"]),
        "pr-link" => object.has_all(&["prNumber", "sessionId"]),
        _ => false,
    })
}

fn tree_record(object: &Object<'_>) -> Evidence {
    const OWN: [&str; 4] = ["isSidechain", "userType", "requestId", "toolUseResult"];
    // Descendants of Gemini CLI keep such files too; their messages have parts.
    let message = nested(object, "message").unwrap_or_default();
    let is_theirs = message.has("parts") || object.has("systemPayload");
    let is_own = message.has("content") || object.has_any(&OWN);
    if is_own && !is_theirs { Evidence::Certain } else { Evidence::Possible }
}
