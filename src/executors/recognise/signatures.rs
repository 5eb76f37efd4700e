//! The shapes of record that one format alone prints: a type, and fields that go with it.

use crate::executors::{
    Format::{self, *},
    wire::Object,
};

/// The format whose signature the record bears.
pub(super) fn signed(kind: &str, object: &Object<'_>) -> Option<Format> {
    let bears = |(of, fields, _): &&Signature| *of == kind && all(object, fields);
    SIGNATURES.iter().find(bears).map(|(_, _, format)| *format)
}

/// Whether the record has all of these fields.
pub(super) fn all(object: &Object<'_>, fields: &[&str]) -> bool {
    fields.iter().all(|field| object.has(field))
}

/// Whether the record has one of these fields.
pub(super) fn any(object: &Object<'_>, fields: &[&str]) -> bool {
    fields.iter().any(|field| object.has(field))
}

type Signature = (&'static str, &'static [&'static str], Format);

/// A type that several formats have stands here once for each, with fields that the others lack.
const SIGNATURES: &[Signature] = &[
    ("message", &["role", "text"], Droid),
    ("reasoning", &["id", "text", "timestamp"], Droid),
    ("tool_call", &["toolName", "parameters"], Droid),
    ("tool_result", &["isError"], Droid),
    ("completion", &["finalText"], Droid),
    ("error", &["source", "message"], Droid),
    ("session_start", &["id", "version", "cwd"], DroidSession),
    ("message", &["id", "message"], DroidSession),
    ("todo_state", &["id", "todos"], DroidSession),
    ("compaction_state", &["id", "summaryText"], DroidSession),
    ("rate_limit_event", &["rate_limit_info"], ClaudeStream),
    ("summary", &["summary", "leafUuid"], ClaudeSession),
    ("file-history-snapshot", &["messageId", "snapshot"], ClaudeSession),
    ("file-history-delta", &["messageId", "trackingPath"], ClaudeSession),
    ("queue-operation", &["operation", "sessionId"], ClaudeSession),
    ("last-prompt", &["sessionId"], ClaudeSession),
    ("ai-title", &["sessionId"], ClaudeSession),
    ("permission-mode", &["permissionMode", "sessionId"], ClaudeSession),
    ("mode", &["mode", "sessionId"], ClaudeSession),
    ("pr-link", &["prNumber", "sessionId"], ClaudeSession),
    ("thread.started", &["thread_id"], CodexExec),
    ("turn.started", &[], CodexExec),
    ("turn.completed", &["usage"], CodexExec),
    ("turn.failed", &["error"], CodexExec),
    ("item.started", &["item"], CodexExec),
    ("item.updated", &["item"], CodexExec),
    ("item.completed", &["item"], CodexExec),
    ("session_meta", &["payload"], CodexRollout),
    ("turn_context", &["payload"], CodexRollout),
    ("response_item", &["payload"], CodexRollout),
    ("event_msg", &["payload"], CodexRollout),
    ("compacted", &["payload"], CodexRollout),
    ("world_state", &["payload"], CodexRollout),
    ("inter_agent_communication_metadata", &["payload"], CodexRollout),
    ("init", &["session_id", "model"], Gemini),
    ("tool_use", &["tool_id", "tool_name"], Gemini),
    ("tool_result", &["tool_id", "status"], Gemini),
    ("error", &["severity", "message"], Gemini),
    ("result", &["status", "stats"], Gemini),
    ("thinking", &["subtype", "timestamp_ms"], Cursor),
    ("tool_call", &["subtype", "call_id", "tool_call"], Cursor),
    ("step_start", &["sessionID", "part"], Opencode),
    ("step_finish", &["sessionID", "part"], Opencode),
    ("text", &["sessionID", "part"], Opencode),
    ("reasoning", &["sessionID", "part"], Opencode),
    ("tool_use", &["sessionID", "part"], Opencode),
    ("error", &["sessionID", "error"], Opencode),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn object_with(fields: &[&str]) -> String {
        let fields: Vec<_> = fields.iter().map(|field| format!("\"{field}\":0")).collect();
        format!("{{{}}}", fields.join(","))
    }

    #[test]
    fn no_signature_contains_another() {
        for (kind, fields, format) in SIGNATURES {
            let line = object_with(fields);
            let object = Object::parse(&line).unwrap();
            let matching =
                SIGNATURES.iter().filter(|(of, keys, _)| of == kind && all(&object, keys));
            assert_eq!(matching.count(), 1, "{kind} {fields:?}");
            assert_eq!(signed(kind, &object), Some(*format));
        }
    }

    #[test]
    fn a_signature_wants_every_field() {
        for (kind, fields, _) in SIGNATURES {
            for missing in 0..fields.len() {
                let mut fields = fields.to_vec();
                fields.remove(missing);
                let line = object_with(&fields);
                assert_eq!(signed(kind, &Object::parse(&line).unwrap()), None, "{kind} {fields:?}");
            }
        }
    }
}
