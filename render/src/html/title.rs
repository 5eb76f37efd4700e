//! The title in the row of a call.

use std::borrow::Cow;

use foldline_domain::{ActionType, NormalizedEntry, ToolUse};
use maud::{Markup, html};

use super::{
    path::path,
    text::{first_line, line},
};
use crate::text::{call_text, human};

/// The maximum length of a title in characters. A collapsed row shows fewer; an expanded one shows all of them.
const MOST_TITLE: usize = 400;

pub(super) fn title(entry: &NormalizedEntry, tool: &ToolUse) -> Markup {
    let title = match &tool.action_type {
        ActionType::FileRead { path: file, .. } if !file.is_empty() => {
            return html! { span.title { (path(&file.decode())) } };
        }
        ActionType::FileEdit { path: file, changes, .. } if !file.is_empty() => {
            let more = changes.len().saturating_sub(1);
            return html! {
                span.title {
                    (path(&file.decode()))
                    @if more > 0 { span { ", " (human::number_of(more, "more change")) } }
                }
            };
        }
        ActionType::TodoManagement { todos, .. } if !todos.is_empty() => {
            let done = todos.iter().filter(|item| item.status == "completed").count();
            let now = todos.iter().find(|item| item.status == "in_progress");
            let now = now.map(|now| format!(": {}", first_line(&now.content.decode()).0));
            let now = now.unwrap_or_default();
            return prose(&format!("{done} of {} done{now}", todos.len()));
        }
        ActionType::Question { questions, .. } => {
            return prose(first_line(&questions.first().map_or("".into(), |q| q.decode())).0);
        }
        ActionType::TaskCreate { description, .. } if !description.is_empty() => {
            return prose(first_line(&description.decode()).0);
        }
        ActionType::PlanPresentation { plan, .. } => {
            let plan = plan.decode();
            return prose(first_line(&plan).0.trim_start_matches(['#', ' ']));
        }
        ActionType::WebFetch { url, .. } if !url.is_empty() => url.decode(),
        ActionType::Search { query, .. } if !query.is_empty() => query.decode(),
        _ => call_text::title(entry, tool, MOST_TITLE),
    };
    html! { span.title { span { (line(short(first_line(&title)))) } } }
}

fn prose(words: &str) -> Markup {
    html! { span class="title prose" { span { (line(short((words, true)))) } } }
}

/// As much of a line as fits a row; `…` if it was truncated.
fn short((text, is_all): (&str, bool)) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_TITLE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)).into(),
        None if is_all => text.into(),
        None => format!("{text} …").into(),
    }
}

/// Whether the title is the complete command, so that the body need not repeat it.
pub(super) fn is_title_of(command: &str) -> bool {
    let (first, is_all) = first_line(command);
    is_all && first.chars().nth(MOST_TITLE).is_none()
}
