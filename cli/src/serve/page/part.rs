//! The row of a session in another one, of which it is a part.

use foldline_database::query::SessionRow;
use foldline_render::human;
use maud::{Markup, html};

use super::frame::{icon, line, money, spent};
use crate::serve::status::Status;

/// The row of a part, in the entry of the call that started it. Its entries are loaded when it is opened.
pub(in crate::serve) fn part(row: &SessionRow, path: &str, status: Status) -> Markup {
    let title = row.title.as_deref().filter(|title| !title.trim().is_empty());
    let is_estimated = row.cost_basis.as_deref().is_some_and(|basis| basis != "logged");
    let millis = |millis: Option<i64>| millis.and_then(|millis| u64::try_from(millis).ok());
    html! {
        div.part data-path=(path) data-state=(status.as_str()) {
            details {
                summary.line {
                    (icon("i kind", "task"))
                    span.name { "Agent" }
                    span class="title prose" dir="auto" { span { (line(title.unwrap_or("Agent"))) } }
                    span.facts {
                        span { (human::number_of(row.calls, "call")) }
                        @if row.failures > 0 { span.exit { (human::grouped(row.failures.unsigned_abs())) " failed" } }
                        @if let Some(cost) = row.cost_usd { span { (money(cost, is_estimated)) } }
                    }
                    span.dur { (spent(millis(row.active_ms), millis(row.duration_ms))) }
                    span.state {
                        @if let Some(symbol) = status.symbol() {
                            (icon(if status == Status::Running { "i spin" } else { "i" }, symbol))
                        }
                        span.vh { (status.as_str()) }
                    }
                }
                div.feed {}
            }
            a href=(path) { "Open" span.vh { " the session of this agent" } }
        }
    }
}

/// The link of a part to the session that it belongs to.
pub(in crate::serve) fn whole(row: &SessionRow, path: &str) -> Markup {
    let title = row.title.as_deref().filter(|title| !title.trim().is_empty());
    html! { "part of " a href=(path) { (line(title.unwrap_or("a session"))) } }
}
