//! A tool call: one row of a table, which opens.

use std::borrow::Cow;

use maud::{Markup, html};

use super::{
    body::body,
    diff,
    entry::{Rendered, Setting, at},
    found::Found,
    icon::{icon, of_action, of_status},
    path::path,
    text::{first_line, line},
    time,
};
use crate::{
    conversation::{
        ActionType, CommandExitStatus, EntryIdx, NormalizedEntry, Spelling, ToolResult, ToolStatus,
        ToolUse,
    },
    emitters::{call_text, changes::ChangedLines, human},
};

/// Characters of a title. A row shows fewer; an open one shows as many.
const MOST_TITLE: usize = 400;

pub(super) fn render(
    index: EntryIdx,
    entry: &NormalizedEntry,
    tool: &ToolUse,
    setting: &Setting,
) -> Rendered {
    const END: &str = "</div></details></article>";
    const ANSWER: &str = "<div class=\"answer\">";
    let (symbol, status) = of_status(&tool.status);
    let is_running = matches!(tool.status, ToolStatus::Created | ToolStatus::InProgress);
    let name = call_text::name(tool);
    let together = match (setting.with_last, setting.with_next) {
        (false, false) => None,
        (false, true) => Some("first"),
        (true, true) => Some("mid"),
        (true, false) => Some("last"),
    };
    let action = &tool.action_type;
    let html = html! {
        article.entry id={ "e" (index.get()) } data-type="tool_use" data-action=(action.name())
            data-kind=(action.kind().as_str()) data-status=(tool.status.name())
            data-bad[tool.status.is_failure()] data-bad-within[setting.bad > 0]
            data-par=[together] tabindex="-1" aria-label={ (line(&*name)) ", " (status) }
        {
            (at(index, entry))
            details.call open[is_open(tool)] {
                summary.line {
                    (icon("i kind", of_action(action)))
                    span.name { (line(&*name)) }
                    (title(entry, tool))
                    (facts(entry, tool, setting))
                    (time::duration(tool.duration_ms))
                    span.state {
                        @if let Some(symbol) = symbol {
                            (icon(if is_running { "i spin" } else { "i" }, symbol))
                        }
                        span.vh { (status) }
                    }
                }
                div.body { (body(entry, tool)) }
            }
        }
    };
    let html = html.into_string();
    // Text is escaped, so that only the template can have written it.
    let inside = html.rfind(ANSWER).or_else(|| html.strip_suffix(END).map(str::len));
    Rendered { html, inside }
}

/// What went wrong, still runs, waits, asks or is short is open.
fn is_open(tool: &ToolUse) -> bool {
    if tool.status != ToolStatus::Success {
        return true;
    }
    match &tool.action_type {
        ActionType::FileEdit { changes, .. } => diff::are_short(changes),
        ActionType::Question { .. } | ActionType::PlanPresentation { .. } => true,
        _ => false,
    }
}

fn title(entry: &NormalizedEntry, tool: &ToolUse) -> Markup {
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

/// As much of a line as a row has use for; `…` where there is more.
fn short((text, is_all): (&str, bool)) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_TITLE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)).into(),
        None if is_all => text.into(),
        None => format!("{text} …").into(),
    }
}

/// Whether the title is all of a command, so that the body need not repeat it.
pub(super) fn is_title_of(command: &str) -> bool {
    let (first, is_all) = first_line(command);
    is_all && first.chars().nth(MOST_TITLE).is_none()
}

fn facts(entry: &NormalizedEntry, tool: &ToolUse, setting: &Setting) -> Markup {
    let is_inferred = entry.metadata.as_ref().is_some_and(|metadata| metadata.inferred);
    html! {
        span.facts {
            @match &tool.action_type {
                ActionType::FileEdit { changes, .. } => (diff::counts(ChangedLines::of(changes))),
                ActionType::TaskCreate { subagent_type, .. } => {
                    @if let Some(kind) = subagent_type { span { (line(kind.decode())) } }
                    @if setting.entries > 0 {
                        span { (number_of(setting.entries, "entry", "entries")) }
                    }
                    @if setting.bad > 0 { span.exit { (setting.bad) " failed" } }
                },
                ActionType::CommandRun { result: Some(result), .. } => {
                    @if let Some(output) = &result.output { (lines(&Spelling::of(output))) }
                    @if let Some(CommandExitStatus::ExitCode { code }) = result.exit_status
                        && code != 0 { span.exit { "exit " (code) } }
                },
                ActionType::FileRead { result: Some(ToolResult::Text(result)), .. }
                | ActionType::WebFetch { result: Some(ToolResult::Text(result)), .. }
                | ActionType::Tool { result: Some(ToolResult::Text(result)), .. } => {
                    (lines(&Spelling::of(result)))
                },
                ActionType::Search { result: Some(ToolResult::Text(result)), .. } => {
                    @match Found::read(&result.decode()) {
                        Some(found) => span { (found.count()) },
                        None => (lines(&Spelling::of(result))),
                    }
                },
                _ => {}
            }
            @match &tool.status {
                ToolStatus::PendingApproval => span.ask { "waiting for permission" },
                ToolStatus::Denied { .. } => span.exit { "denied" },
                ToolStatus::Cancelled => span.exit { "cancelled" },
                ToolStatus::Unfinished => span.exit { "no result" },
                _ => {}
            }
            @if is_inferred { span.ask { "matched by guess" } }
        }
    }
}

fn lines(text: &Spelling<'_>) -> Markup {
    let count = text.lines().count();
    html! { @if count > 0 { span { (human::number_of(count, "line")) } } }
}

fn number_of(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
