//! The body of a call: its arguments and its result.

use foldline_domain::{
    ActionType, Json, NormalizedEntry, Text, TodoItem, ToolResult, ToolStatus, ToolUse,
};
use foldline_json::indented;
use maud::{Markup, html};

use super::{
    call::is_title_of,
    diff,
    label::icon,
    markdown::{folded_after, markdown},
    output::{output, trim_lines},
    search_results::SearchResults,
    text::{line, text},
};
use crate::text::{call_fields, terminal::is_web};

/// The number of lines of a prose answer that are shown before the fold.
const LONG_ANSWER: usize = 60;

pub(super) fn body(entry: &NormalizedEntry, tool: &ToolUse) -> Markup {
    let succeeded = tool.status == ToolStatus::Success;
    html! {
        (sheet(entry))
        @if let ToolStatus::Denied { reason: Some(reason) } = &tool.status && !is_result(tool, reason) {
            p.minus { "Denied: " (text(reason.decode())) }
        }
        @match &tool.action_type {
            ActionType::CommandRun { command, result } => {
                (untitled(&command.decode()))
                @if let Some(printed) = result.as_ref().and_then(|result| result.output.as_ref()) {
                    (output(&printed.decode()))
                }
            },
            ActionType::FileRead { path, result } => (read(&path.decode(), result.as_ref())),
            ActionType::Search { query, result } => {
                (untitled(&query.decode()))
                (found(&query.decode(), result.as_ref()))
            },
            ActionType::WebFetch { url, result } => {
                (address(&url.decode()))
                (any(result.as_ref()))
            },
            ActionType::FileEdit { path, changes, result } => {
                @if !succeeded || changes.is_empty() { (any(result.as_ref())) }
                (diff::changes(path, changes))
            },
            ActionType::TodoManagement { todos, result, .. } => {
                (todo_list(todos))
                @if !succeeded || todos.is_empty() { (any(result.as_ref())) }
            },
            ActionType::TaskCreate { description, prompt, result, .. } => {
                (untitled(&description.decode()))
                @if let Some(prompt) = prompt { div.md dir="auto" { (folded_after(&prompt.decode(), 0)) } }
                @if result.is_some() { div.answer { (prose(result.as_ref(), succeeded)) } }
            },
            ActionType::PlanPresentation { plan, result } => {
                div.md dir="auto" { (markdown(&plan.decode())) }
                (prose(result.as_ref(), succeeded))
            },
            ActionType::Question { questions, result } => (asked(questions, result.as_ref())),
            ActionType::Tool { arguments, result, .. } => {
                (called(entry, tool, arguments.as_ref()))
                (any(result.as_ref()))
            },
        }
    }
}

/// Whether a call's result has the same text.
fn is_result(tool: &ToolUse, words: &Text) -> bool {
    let result = tool.action_type.result_text();
    result.is_some_and(|result| result.decode().trim() == words.decode().trim())
}

/// A command or another title that its row cannot show completely.
fn untitled(title: &str) -> Markup {
    if is_title_of(title) {
        html! {}
    } else {
        html! { pre.out { (text(trim_lines(title).to_owned())) } }
    }
}

/// The fields of the call that its action does not show.
fn sheet(entry: &NormalizedEntry) -> Markup {
    let mut fields = call_fields::fields(entry).peekable();
    if fields.peek().is_none() {
        return html! {};
    }
    html! {
        dl.args {
            @for (name, json) in fields {
                @let value = call_fields::value(json);
                dt { (line(name)) }
                dd {
                    @if value.trim().contains('\n') { (output(&value)) } @else { (text(value)) }
                }
            }
        }
    }
}

fn any(result: Option<&ToolResult>) -> Markup {
    match result {
        Some(ToolResult::Text(printed)) => output(&printed.decode()),
        Some(ToolResult::Json(value)) => output(&indented(value.get())),
        None => html! {},
    }
}

fn found(query: &str, result: Option<&ToolResult>) -> Markup {
    let Some(ToolResult::Text(printed)) = result else { return any(result) };
    let printed = printed.decode();
    match SearchResults::read(&printed) {
        Some(found) => found.render(query),
        None => output(&printed),
    }
}

/// The answer of a sub-agent or a person.
fn prose(result: Option<&ToolResult>, succeeded: bool) -> Markup {
    match result {
        Some(ToolResult::Text(words)) if succeeded => {
            html! { div.md dir="auto" { (folded_after(&words.decode(), LONG_ANSWER)) } }
        }
        other => any(other),
    }
}

/// The content of a file, with line numbers if the tool put them before each line (`12→`, or a tab).
fn read(path: &str, result: Option<&ToolResult>) -> Markup {
    let Some(ToolResult::Text(content)) = result else { return any(result) };
    let content = content.decode();
    let numbered = |row| {
        let row_of = |mark: char| {
            let (number, text) = str::split_once(row, mark)?;
            Some((number.trim_start().parse().ok()?, text))
        };
        row_of('→').or_else(|| row_of('\t'))
    };
    let rows: Vec<(u64, &str)> = content.lines().map_while(numbered).collect();
    let rest: Vec<_> = content.lines().skip(rows.len()).collect();
    // Additions of the program around the agent follow after an empty line.
    if rows.is_empty() || rest.first().is_some_and(|row| !row.is_empty()) {
        return output(&content);
    }
    html! { (diff::source(path, &rows)) (output(&rest.join("\n"))) }
}

fn address(url: &str) -> Markup {
    html! {
        @if is_web(url) {
            p { a rel="noopener noreferrer" href=(line(url)) { (line(url)) } }
        } @else { (untitled(url)) }
    }
}

fn called(entry: &NormalizedEntry, tool: &ToolUse, arguments: Option<&Json>) -> Markup {
    let is_titled = entry.content != tool.tool_name && !entry.content.is_empty();
    html! {
        @if let Some(arguments) = arguments {
            (output(&indented(arguments.get())))
        } @else if is_titled && !is_title_of(&entry.content.decode()) {
            pre.out { (text(entry.content.decode())) }
        }
    }
}

fn todo_list(todos: &[TodoItem]) -> Markup {
    html! {
        @if !todos.is_empty() {
            ul.todo { @for item in todos { (todo(item)) } }
        }
    }
}

fn todo(item: &TodoItem) -> Markup {
    let status = item.status.decode();
    let (symbol, known, word) = match &*status {
        "completed" | "done" => ("todo2", Some("completed"), "done"),
        "in_progress" => ("todo1", Some("in_progress"), "in progress"),
        "pending" => ("todo0", Some("pending"), "to do"),
        other => ("todo0", None, other),
    };
    html! {
        li data-status=[known] {
            (icon("i", symbol))
            span dir="auto" {
                (text(item.content.decode()))
                @if known.is_some() { span.vh { ", " (word) } }
                @else if !word.is_empty() { " (" (line(word)) ")" }
                @if let Some(priority) = &item.priority && priority != "medium" {
                    " (" (line(priority.decode())) ")"
                }
            }
        }
    }
}

fn asked(questions: &[Text], result: Option<&ToolResult>) -> Markup {
    let answer = match result {
        Some(ToolResult::Text(answer)) => html! { (text(answer.decode())) },
        other => any(other),
    };
    html! {
        dl.qa {
            @for question in questions { dt { "Asked" } dd.raw dir="auto" { (text(question.decode())) } }
            @if result.is_some() { dt { "Answer" } dd.raw dir="auto" { (answer) } }
        }
    }
}
