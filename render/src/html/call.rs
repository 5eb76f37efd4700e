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
    found::Found,
    icon::{icon, of_action, of_status},
    picture::{self, pictures, without_placeholders},
    setting::{Rendered, Setting},
    text::line,
    time,
    title::title,
    tool_name::readable,
};
use crate::text::{call_text, changes::ChangedLines, human};

pub(super) fn render(
    index: EntryIdx,
    entry: &NormalizedEntry,
    tool: &ToolUse,
    setting: &Setting<'_>,
) -> Rendered {
    const END: &str = "</div></details></article>";
    const ANSWER: &str = "<div class=\"answer\">";
    let tool = &*without_pictures(entry, tool);
    let (symbol, status) = of_status(&tool.status);
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
    let html = html! {
        article.entry id={ "e" (index.get()) } data-type="tool_use" data-action=(action.name())
            data-kind=(action.kind().as_str()) data-status=(tool.status.name())
            data-bad[tool.status.is_failure()] data-bad-within[setting.bad > 0]
            data-tool=(line(&*name)) data-par=[together] tabindex="-1" aria-label={ (line(&*shown)) ", " (status) }
        {
            (time::link(index, entry, &setting.medium.clock))
            details.call open[is_open(tool) || !picture::of(entry).is_empty()] {
                summary.line {
                    (icon("i kind", of_action(action)))
                    span.name title=[is_renamed.then(|| line(&*name))] { (line(&*shown)) }
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
                div.body { (body(entry, tool)) (pictures(index, entry, setting.medium.is_served)) }
            }
        }
    };
    let html = html.into_string();
    // Text is escaped, so only the template can have written this markup.
    let inside = html.rfind(ANSWER).or_else(|| html.strip_suffix(END).map(str::len));
    Rendered { html, inside }
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
                    @match Found::read(&result.decode()) {
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

fn number_of(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
