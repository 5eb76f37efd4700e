//! The end of a call: its status in one line, a selection of its result, and its edits as diffs.

use foldline_domain::{
    ActionType, CommandExitStatus, EscapedText, FileChange, Lines, NormalizedEntry, Text, TodoItem,
    ToolResult, ToolStatus, ToolUse,
};

use super::{
    page::{Extent, Page},
    row::{Ink, Row},
    safe_text::SafeText,
    wrap::{Wrapped, clip, width, wrap},
};
use crate::{
    human,
    text::{
        call_fields::{self, Mark},
        call_text::{ChangedLines, compact, hunk_without_numbers},
        printed::plain_spelling,
    },
};

const OUTPUT: Extent = Extent { head: 6, tail: 6 };
const FAILED_OUTPUT: Extent = Extent { head: 8, tail: 16 };
const MOST_ANSWER: usize = 40;
/// Rows of content without lines: JSON, or a single-line text.
const MOST_RAW: usize = 4;
/// Columns of a result that is as short as its count.
const SHORT: usize = 40;
const INDENT: usize = 4;

/// Appends the status of a call to `row`: `✓ ok · 41 lines · 340 ms`.
pub(super) fn status(row: Row, entry: &NormalizedEntry, tool: &ToolUse) -> Row {
    let (ink, word) = match &tool.status {
        ToolStatus::Success => (Ink::Good, "✓ ok"),
        ToolStatus::Failed => (Ink::Bad, "✗ failed"),
        ToolStatus::Denied { .. } => (Ink::Caution, "⊘ denied"),
        ToolStatus::Cancelled => (Ink::Caution, "⊘ cancelled"),
        ToolStatus::Unfinished => return unfinished(row),
        ToolStatus::Unknown => (Ink::Quiet, "outcome not stated"),
        ToolStatus::PendingApproval => (Ink::Caution, "◌ waiting for permission"),
        ToolStatus::Created | ToolStatus::InProgress => (Ink::Quiet, "◌ running"),
    };
    let mut row = row.then_mark(ink, word);
    if let ActionType::CommandRun { result: Some(result), .. } = &tool.action_type
        && let Some(CommandExitStatus::ExitCode { code }) = result.exit_status
        && code != 0
    {
        row = row.item(Ink::Bad, format!("exit {code}"));
    }
    if let Some(gist) = gist(tool) {
        row = row.item(Ink::Quiet, gist);
    }
    for Mark { words, is_risk } in call_fields::marks(entry, tool) {
        row = row.item(if is_risk { Ink::Caution } else { Ink::Quiet }, words);
    }
    if entry.metadata.as_ref().is_some_and(|metadata| metadata.inferred) {
        row = row.item(Ink::Caution, "matched by guess");
    }
    match tool.duration_ms {
        Some(millis) => row.item(Ink::Quiet, human::duration(millis)),
        None => row,
    }
}

/// The same for a call that never ended.
pub(super) fn unfinished(row: Row) -> Row {
    row.then_mark(Ink::Caution, "◌ unfinished")
}

/// The result of a call, if it fits in a few words.
fn gist(tool: &ToolUse) -> Option<String> {
    match &tool.action_type {
        ActionType::FileEdit { changes, .. } => change_stat(changes),
        ActionType::FileRead { result: Some(result), .. }
        | ActionType::Search { result: Some(result), .. }
        | ActionType::WebFetch { result: Some(result), .. }
            if tool.status == ToolStatus::Success =>
        {
            let ToolResult::Text(text) = result else { return None };
            let reads = matches!(tool.action_type, ActionType::FileRead { .. });
            let spelling = EscapedText::of(text);
            let mut lines = spelling.lines();
            Some(match lines.clone().count() {
                0 => "empty".to_owned(),
                1 if !reads => {
                    let line = lines.next().filter(|line| width(line) <= SHORT);
                    line.map_or_else(|| human::number_of(1, "line"), |line| line.trim().to_owned())
                }
                count => human::number_of(count, "line"),
            })
        }
        _ => None,
    }
}

/// Prints a selection of the result of an ended call.
pub(super) fn body(page: &mut Page, tool: &ToolUse) {
    if let ToolStatus::Denied { reason: Some(reason) } = &tool.status {
        let said = tool.action_type.result_text().is_some_and(|text| !text.is_empty());
        if !said {
            prose(page, reason, Ink::Caution);
        }
    }
    let succeeded = tool.status == ToolStatus::Success;
    match &tool.action_type {
        ActionType::CommandRun { result: Some(result), .. } => {
            if let Some(text) = &result.output {
                output(page, text, succeeded);
            }
        }
        ActionType::FileRead { result, .. }
        | ActionType::Search { result, .. }
        | ActionType::WebFetch { result, .. } => match result {
            Some(ToolResult::Text(_)) if succeeded && !page.is_full() => {}
            _ => any(page, result.as_ref(), succeeded),
        },
        ActionType::FileEdit { path, changes, result } => {
            if !succeeded {
                any(page, result.as_ref(), succeeded);
            }
            print_changes(page, path, changes);
        }
        ActionType::TodoManagement { todos, result, .. } => {
            todos.iter().for_each(|item| todo(page, item));
            if !succeeded || todos.is_empty() {
                any(page, result.as_ref(), succeeded);
            }
        }
        ActionType::TaskCreate { result, .. }
        | ActionType::PlanPresentation { result, .. }
        | ActionType::Question { result, .. } => match result {
            Some(ToolResult::Text(text)) if succeeded => prose(page, text, Ink::Plain),
            _ => any(page, result.as_ref(), succeeded),
        },
        ActionType::Tool { result, .. } => any(page, result.as_ref(), succeeded),
        ActionType::CommandRun { result: None, .. } => {}
    }
}

fn any(page: &mut Page, result: Option<&ToolResult>, succeeded: bool) {
    match result {
        Some(ToolResult::Text(text)) => output(page, text, succeeded),
        Some(ToolResult::Json(json)) => {
            let text = compact(json, page.most(page.width() * MOST_RAW));
            page.beginning(Row::indent(INDENT), Ink::Quiet, &text, MOST_RAW);
        }
        None => {}
    }
}

fn output(page: &mut Page, text: &Text, succeeded: bool) {
    let extent = if succeeded { OUTPUT } else { FAILED_OUTPUT };
    let text = plain_spelling(text);
    let lines = text.lines();
    if lines.has_two() {
        page.excerpt(INDENT, lines, extent, |line| (Ink::Quiet, line));
    } else {
        page.beginning(Row::indent(INDENT), Ink::Quiet, &text.decode(), MOST_RAW);
    }
}

fn prose(page: &mut Page, text: &Text, ink: Ink) {
    let text = SafeText::of_text(text);
    let rows = wrap(&text, page.width() - INDENT);
    page.hang_beginning(Row::indent(INDENT), ink, &rows, MOST_ANSWER);
}

fn todo(page: &mut Page, item: &TodoItem) {
    let status = item.status.decode();
    let mark = Row::indent(INDENT);
    let (mark, ink) = match &*status {
        "completed" | "done" => (mark.then_mark(Ink::Good, "☑ "), Ink::Quiet),
        "in_progress" => (mark.then_mark(Ink::Caution, "◐ "), Ink::Strong),
        "pending" => (mark.then_mark(Ink::Plain, "☐ "), Ink::Plain),
        other => {
            let mark = mark.then_mark(Ink::Quiet, "☒ ").then(Ink::Quiet, clip(other, 20));
            (mark.then_mark(Ink::Quiet, ": "), Ink::Quiet)
        }
    };
    let indent = mark.width();
    let text = item.content.decode();
    // Truncated before it is wrapped: a list that an agent wrote as one text may have millions of lines.
    let mut lines = text.split_inclusive('\n');
    let beginning = lines.by_ref().take(page.most(MOST_ANSWER)).map(str::len).sum();
    let shown = SafeText::of_lines(Lines::plain(&text[..beginning]));
    let rows = wrap(&shown, page.width().saturating_sub(indent).max(8));
    page.hang(mark, ink, if rows.is_empty() { vec![Wrapped::EMPTY] } else { rows });
    if let Some(priority) = item.priority.as_ref().filter(|_| page.is_full()) {
        page.row(Row::indent(indent).then(Ink::Quiet, format!("({})", priority.decode())));
    }
    page.more(indent, lines.count(), "more line");
}

const DIFF: Extent = Extent { head: 32, tail: 8 };
const WRITTEN: Extent = Extent { head: 8, tail: 2 };
const MOST_FILES: usize = 20;

/// The size of the changes: `+12 −3`, `2 files · +12 −3`.
pub(super) fn change_stat(changes: &[FileChange]) -> Option<String> {
    let ChangedLines { added, removed, written } = ChangedLines::of(changes);
    let files = (changes.len() > 1).then(|| human::number_of(changes.len(), "change"));
    let lines = (added + removed > 0).then(|| format!("+{added} −{removed}"));
    let written = (written > 0).then(|| human::number_of(written, "line") + " written");
    let parts: Vec<_> = files.into_iter().chain(lines).chain(written).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Prints the file changes of a call; `title` is the path in its header.
pub(super) fn print_changes(page: &mut Page, title: &Text, changes: &[FileChange]) {
    for change in changes.iter().take(MOST_FILES) {
        if changes.len() > 1 || change.path() != title || !has_content(change) {
            page.row(Row::indent(INDENT).join(heading(change)));
        }
        match change {
            FileChange::Edit { unified_diff, has_line_numbers, .. } => {
                page.excerpt(INDENT, EscapedText::of(unified_diff).lines(), DIFF, |line| {
                    (ink(line), if *has_line_numbers { line } else { without_numbers(line) })
                });
            }
            FileChange::Write { content, .. } => {
                page.excerpt(INDENT, EscapedText::of(content).lines(), WRITTEN, |line| {
                    (Ink::Added, line)
                });
            }
            FileChange::Delete { .. } | FileChange::Rename { .. } => {}
        }
    }
    page.more(INDENT, changes.len().saturating_sub(MOST_FILES), "more change");
}

fn has_content(change: &FileChange) -> bool {
    matches!(change, FileChange::Edit { .. } | FileChange::Write { .. })
}

fn heading(change: &FileChange) -> Row {
    let row = |verb, path: &Text| Row::new(Ink::Quiet, verb).then(Ink::Strong, path.decode());
    match change {
        FileChange::Write { path, .. } => row("write ", path),
        FileChange::Edit { path, .. } => row("edit ", path),
        FileChange::Delete { path } => row("delete ", path),
        FileChange::Rename { path, new_path } => {
            row("rename ", path).then(Ink::Quiet, " → ").then(Ink::Strong, new_path.decode())
        }
    }
}

fn ink(line: &str) -> Ink {
    match line.as_bytes().first() {
        Some(b'+') => Ink::Added,
        Some(b'-') => Ink::Removed,
        Some(b'@') => Ink::Hunk,
        _ => Ink::Quiet,
    }
}

/// Line numbers that do not refer to the file would be misleading.
fn without_numbers(line: &str) -> &str {
    let is_heading = line.as_bytes().first_chunk() == Some(b"@@ -");
    if is_heading { hunk_without_numbers(line) } else { line }
}
