//! A tool call: an expandable row of a table.

use std::borrow::Cow;

use foldline_domain::{
    ActionType, CommandExitStatus, EntryIdx, EscapedText, NormalizedEntry, ToolResult, ToolStatus,
    ToolUse,
};
use maud::{Markup, html};

use super::{
    body::body,
    diff,
    fragment::{Rendered, Setting},
    label::{action_symbol, icon, path, readable, status_symbol},
    picture::{self, pictures, without_placeholders},
    search_results::SearchResults,
    text::{first_line, line},
    time,
    visible::visible,
};
use crate::text::{
    call_fields::{self, Mark},
    call_text::{self, ChangedLines},
    human,
};

pub(super) fn render(
    index: EntryIdx,
    entry: &NormalizedEntry,
    tool: &ToolUse,
    setting: &Setting<'_>,
) -> Rendered {
    const END: &str = "</div></details></article>";
    const ANSWER: &str = "<div class=\"answer\">";
    let tool = &*without_pictures(entry, tool);
    let (symbol, status) = status_symbol(&tool.status);
    let is_running = matches!(tool.status, ToolStatus::Created | ToolStatus::InProgress);
    let name = call_text::name(tool);
    let shown = readable(&name);
    let is_renamed = *shown != *name;
    let together = match (setting.with_last, setting.with_next) {
        (false, false) => None,
        (false, true) => Some("first"),
        (true, true) => Some("mid"),
        (true, false) => Some("last"),
    };
    let action = &tool.action_type;
    let title = title(entry, tool);
    let label = label(&shown, &title, status);
    let html = html! {
        article.entry id={ "e" (index.get()) } data-type="tool_use" data-action=(action.name())
            data-kind=(action.kind().as_str()) data-status=(tool.status.name())
            data-bad[tool.status.is_failure()] data-bad-within[setting.bad > 0]
            data-tool=(line(&*name)) data-par=[together] tabindex="-1" aria-label=(line(label))
        {
            (time::link(index, entry, &setting.medium.clock, setting.is_new_day))
            details.call open[is_open(tool) || !picture::of(entry).is_empty()] {
                summary.line {
                    (icon("i kind", action_symbol(action)))
                    span.name title=[is_renamed.then(|| line(&*name))] { (line(&*shown)) }
                    (title)
                    (facts(entry, tool, setting))
                    (time::duration(tool.duration_ms))
                    span.state {
                        @if let Some(symbol) = symbol {
                            (icon(if is_running { "i spin" } else { "i" }, symbol))
                        }
                        span.vh { (status) }
                    }
                }
                div.body { (body(entry, tool)) (pictures(index, entry, setting.medium.is_served)) }
            }
        }
    };
    let html = html.into_string();
    // Text is escaped, so only the template can have written this markup.
    let inside = html.rfind(ANSWER).or_else(|| html.strip_suffix(END).map(str::len));
    Rendered { html, inside }
}

/// The number of characters of a title that are read out.
const MOST_SPOKEN: usize = 120;

/// What a screen reader says of a call: `Bash cargo test, ok`.
fn label(name: &str, title: &Markup, status: &str) -> String {
    let title = visible(&title.0);
    let title = human::beginning(title.trim(), MOST_SPOKEN);
    let space = if title.is_empty() { "" } else { " " };
    [name, space, &*title, ", ", status].concat()
}

/// The call without the placeholders of pictures, which are shown instead.
fn without_pictures<'t>(entry: &NormalizedEntry, tool: &'t ToolUse) -> Cow<'t, ToolUse> {
    let images = picture::of(entry);
    if images.is_empty() {
        return Cow::Borrowed(tool);
    }
    let mut tool = tool.clone();
    match tool.action_type.take_result() {
        Some(ToolResult::Text(text)) => {
            let text = without_placeholders(text.decode(), images);
            if !text.trim().is_empty() {
                tool.action_type.set_result(ToolResult::Text(text.into_owned().into()));
            }
        }
        Some(other) => tool.action_type.set_result(other),
        None => {}
    }
    Cow::Owned(tool)
}

/// Calls that failed, run, wait, ask or are short are expanded.
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

fn facts(entry: &NormalizedEntry, tool: &ToolUse, setting: &Setting<'_>) -> Markup {
    let is_inferred = entry.metadata.as_ref().is_some_and(|metadata| metadata.inferred);
    html! {
        span.facts {
            @for Mark { words, is_risk } in call_fields::marks(entry, tool) {
                span class=[is_risk.then_some("ask")] { (line(words)) }
            }
            @match &tool.action_type {
                ActionType::FileEdit { changes, .. } => (diff::counts(ChangedLines::of(changes))),
                ActionType::TaskCreate { subagent_type, .. } => {
                    @if let Some(kind) = subagent_type { span { (line(kind.decode())) } }
                    @if setting.entries > 0 {
                        span { (human::number_of(setting.entries, "entry")) }
                    }
                    @if setting.bad > 0 { span.exit { (human::grouped(setting.bad)) " failed" } }
                },
                ActionType::CommandRun { result: Some(result), .. } => {
                    @if let Some(output) = &result.output { (lines(&EscapedText::of(output))) }
                    @if let Some(CommandExitStatus::ExitCode { code }) = result.exit_status
                        && code != 0 { span.exit { "exit " (code) } }
                },
                ActionType::FileRead { result: Some(ToolResult::Text(result)), .. }
                | ActionType::WebFetch { result: Some(ToolResult::Text(result)), .. }
                | ActionType::Tool { result: Some(ToolResult::Text(result)), .. } => {
                    (lines(&EscapedText::of(result)))
                },
                ActionType::Search { result: Some(ToolResult::Text(result)), .. } => {
                    @match SearchResults::read(&result.decode()) {
                        Some(found) => span { (found.count()) },
                        None => (lines(&EscapedText::of(result))),
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

fn lines(text: &EscapedText<'_>) -> Markup {
    let count = text.lines().count();
    html! { @if count > 0 { span { (human::number_of(count, "line")) } } }
}

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
    html! { span class="title prose" dir="auto" { span { (line(short((words, true)))) } } }
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
