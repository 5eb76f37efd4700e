//! Names on a page, of agents, of tools, of files, and of the languages of code; and icons: references to the symbols of
//! [`SPRITE`], which a page contains once.

use std::borrow::Cow;

use foldline_domain::{ActionType, ToolKind, ToolStatus};
use maud::{Markup, html};

use super::text::line;

/// The family of an agent, for the attribute `data-agent` of the style sheet; `other` if it has no mark.
///
/// ```
/// use foldline_render::html::agent_family;
///
/// assert_eq!([agent_family("claude-code"), agent_family("amp")], ["claude", "other"]);
/// ```
pub fn agent_family(agent: &str) -> &'static str {
    let known = ["claude", "codex", "droid", "gemini", "cursor"];
    known.into_iter().find(|known| agent.starts_with(known)).unwrap_or("other")
}

/// A path, or any text that a tool uses as one.
pub(super) fn path(path: &str) -> Markup {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some((folder, name)) if !name.is_empty() => html! {
            span.dir { (line(folder)) "/" } span { (line(name)) }
        },
        _ => html! { span { (line(path)) } },
    }
}

/// The name of a tool for a person: `mcp__desk__find` as `desk: find`.
pub(super) fn readable(tool: &str) -> Cow<'_, str> {
    let of_server = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    match of_server.filter(|(server, tool)| !server.is_empty() && !tool.is_empty()) {
        Some((server, tool)) => format!("{server}: {tool}").into(),
        None => tool.into(),
    }
}

/// The language of a file, by which its lines are coloured: the ending of its name, or a name without one.
pub(super) fn language_of_path(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    language_named(name.rsplit('.').next()?)
}

/// The language of code that is named, as in a fence of Markdown.
pub(super) fn language_named(name: &str) -> Option<String> {
    let is_name =
        (1..=12).contains(&name.len()) && name.bytes().all(|it| it.is_ascii_alphanumeric());
    is_name.then(|| name.to_ascii_lowercase())
}

/// The symbols used by fragments, as one `<svg>` that a page contains once, before the fragments.
pub const SPRITE: &str = include_str!("sprite.svg");

/// An icon. The text next to it has the same meaning.
pub(super) fn icon(class: &str, symbol: &str) -> Markup {
    html! { svg class=(class) aria-hidden="true" { use href={ "#i-" (symbol) } {} } }
}

/// The symbol of an action.
pub(super) fn action_symbol(action: &ActionType) -> &'static str {
    match (action, action.kind()) {
        (ActionType::TodoManagement { .. } | ActionType::PlanPresentation { .. }, _) => "todo",
        (ActionType::Question { .. }, _) => "ask",
        (ActionType::TaskCreate { .. }, _) => "task",
        (_, ToolKind::Read) => "read",
        (_, ToolKind::Edit) => "edit",
        (_, ToolKind::Delete) => "delete",
        (_, ToolKind::Move) => "move",
        (_, ToolKind::Search) => "search",
        (_, ToolKind::Execute) => "execute",
        (_, ToolKind::Fetch) => "fetch",
        (_, ToolKind::Think | ToolKind::Other) => "tool",
    }
}

/// The symbol and the word for a call's status. Success has no symbol: the style sheet draws it.
pub(super) fn status_symbol(status: &ToolStatus) -> (Option<&'static str>, &'static str) {
    match status {
        ToolStatus::Created | ToolStatus::InProgress => (Some("run"), "running"),
        ToolStatus::PendingApproval => (Some("wait"), "waiting for permission"),
        ToolStatus::Success => (None, "ok"),
        ToolStatus::Failed => (Some("fail"), "failed"),
        ToolStatus::Denied { .. } => (Some("deny"), "denied"),
        ToolStatus::Cancelled => (Some("deny"), "cancelled"),
        ToolStatus::Unfinished => (Some("open"), "unfinished"),
        ToolStatus::Unknown => (Some("open"), "outcome not stated"),
    }
}
