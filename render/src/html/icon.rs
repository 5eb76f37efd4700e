//! Icons: references to the symbols of [`SPRITE`], which a page contains once.

use foldline_domain::{ActionType, ToolKind, ToolStatus};
use maud::{Markup, html};

/// The symbols used by fragments, as one `<svg>` that a page contains once, before the fragments.
pub const SPRITE: &str = include_str!("sprite.svg");

/// An icon. The text next to it has the same meaning.
pub(super) fn icon(class: &str, symbol: &str) -> Markup {
    html! { svg class=(class) aria-hidden="true" { use href={ "#i-" (symbol) } {} } }
}

/// The symbol of an action.
pub(super) fn of_action(action: &ActionType) -> &'static str {
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
pub(super) fn of_status(status: &ToolStatus) -> (Option<&'static str>, &'static str) {
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
