//! The names of tools for people.

use std::borrow::Cow;

/// The name of a tool for a person: `mcp__desk__find` as `desk: find`.
pub(super) fn readable(tool: &str) -> Cow<'_, str> {
    let of_server = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    match of_server.filter(|(server, tool)| !server.is_empty() && !tool.is_empty()) {
        Some((server, tool)) => format!("{server}: {tool}").into(),
        None => tool.into(),
    }
}
