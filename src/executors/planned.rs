//! Formats that are recognised, and that no executor reads yet.
//!
//! An agent that gets an executor moves its judge into its own folder.

use super::{
    evidence::{
        Evidence::{self, Certain, Possible},
        Judge, is_tree_record, message, nested,
    },
    format::Format,
    wire::Object,
};

const fn format(name: &'static str, title: &'static str, agent: &'static str) -> Format {
    Format { name, title, agent, homes: &[] }
}

/// The formats, each with what it says of a record.
pub(super) const FORMATS: [(&Format, Judge); 6] = [
    (&format("droid-jsonrpc", "Factory Droid, stream-jsonrpc", "droid"), droid_jsonrpc),
    (&format("cursor", "Cursor agent, stream-json", "cursor"), cursor),
    (&format("qwen", "Qwen Code, stream-json", "qwen"), qwen),
    (&format("qwen-session", "Qwen Code, session file", "qwen"), qwen_session),
    (&format("copilot", "GitHub Copilot CLI, session events", "copilot"), copilot),
    (&format("acp", "Agent Client Protocol", "acp"), acp),
];

fn droid_jsonrpc(object: &Object<'_>) -> Evidence {
    if !object.has("jsonrpc") {
        return Evidence::None;
    }
    let method = object.get_str("method").unwrap_or_default();
    let versioned = object.has_any(&["factoryApiVersion", "factoryProtocolVersion"]);
    if versioned || method.starts_with("droid.") { Certain } else { Possible }
}

fn acp(object: &Object<'_>) -> Evidence {
    if !object.has("jsonrpc") {
        return Evidence::None;
    }
    let is_own = match &*object.get_str("method").unwrap_or_default() {
        // Other protocols begin with `initialize` too; the Model Context Protocol counts its
        // versions by date.
        "initialize" => nested(object, "params")
            .and_then(|params| params.get("protocolVersion"))
            .is_some_and(|raw| raw.get().starts_with(|c: char| c.is_ascii_digit())),
        "" => {
            let answers = ["stopReason", "agentCapabilities", "authMethods"];
            nested(object, "result").is_some_and(|result| result.has_any(&answers))
        }
        method => ["session/", "fs/", "terminal/"].iter().any(|of| method.starts_with(of)),
    };
    if is_own { Certain } else { Possible }
}

fn cursor(object: &Object<'_>) -> Evidence {
    match &*object.get_str("type").unwrap_or_default() {
        "thinking" => Evidence::certain_if(object.has_all(&["subtype", "timestamp_ms"])),
        "tool_call" => Evidence::certain_if(object.has_all(&["subtype", "call_id", "tool_call"])),
        "system" if is_tree_record(object) => Evidence::None,
        "system" => {
            let is_init = object.get_str("subtype").as_deref() == Some("init");
            // What it has in common with others, and nothing beside it.
            let is_bare = object.has_all(&["apiKeySource", "permissionMode"])
                && !object.has_any(&["tools", "uuid", "mcp_servers", "slash_commands", "agents"])
                && !object.has_any(&["claude_code_version", "output_style", "fast_mode_state"]);
            if is_init && is_bare { Certain } else { Possible }
        }
        "user" | "assistant" => {
            let Some(message) = message(object) else { return Evidence::None };
            if object.has_any(&["model_call_id", "timestamp_ms"]) {
                return Certain;
            }
            let is_bare = !object.has_any(&["parent_tool_use_id", "uuid"]) && !message.has("id");
            Evidence::possible_if(is_bare)
        }
        "result" => {
            let is_own = object.has_all(&["duration_api_ms", "request_id"]);
            if is_own && !object.has_any(&["num_turns", "uuid"]) {
                return Certain;
            }
            Evidence::possible_if(object.has("duration_api_ms") && !object.has("uuid"))
        }
        _ => Evidence::None,
    }
}

fn qwen(object: &Object<'_>) -> Evidence {
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

fn qwen_session(object: &Object<'_>) -> Evidence {
    const OWN: [&str; 5] =
        ["systemPayload", "usageMetadata", "toolCallResult", "provenance", "contextWindowSize"];
    if !is_tree_record(object) {
        return Evidence::None;
    }
    let has_parts = nested(object, "message").is_some_and(|message| message.has("parts"));
    if has_parts || object.has_any(&OWN) { Certain } else { Possible }
}

fn copilot(object: &Object<'_>) -> Evidence {
    let kind = object.get_str("type").unwrap_or_default();
    let is_event = kind.contains('.') || kind == "abort";
    Evidence::certain_if(is_event && object.has_all(&["data", "id", "parentId", "timestamp"]))
}
