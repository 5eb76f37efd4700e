//! Edits as diffs, in the usual colours.

use foldline_domain::{EscapedText, FileChange, Text};

use super::{
    page::{Extent, Page},
    row::Row,
    style::Ink,
};
use crate::{
    human,
    text::changes::{ChangedLines, hunk_without_numbers},
};

const DIFF: Extent = Extent { head: 32, tail: 8 };
const WRITTEN: Extent = Extent { head: 8, tail: 2 };
const MOST_FILES: usize = 20;

/// The size of the changes: `+12 −3`, `2 files · +12 −3`.
pub(super) fn stat(changes: &[FileChange]) -> Option<String> {
    let ChangedLines { added, removed, written } = ChangedLines::of(changes);
    let files = (changes.len() > 1).then(|| human::number_of(changes.len(), "change"));
    let lines = (added + removed > 0).then(|| format!("+{added} −{removed}"));
    let written = (written > 0).then(|| human::number_of(written, "line") + " written");
    let parts: Vec<_> = files.into_iter().chain(lines).chain(written).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Prints the file changes of a call; `title` is the path in its header.
pub(super) fn show(page: &mut Page, indent: usize, title: &Text, changes: &[FileChange]) {
    for change in changes.iter().take(MOST_FILES) {
        if changes.len() > 1 || change.path() != title || !has_content(change) {
            page.row(Row::indent(indent).join(heading(change)));
        }
        match change {
            FileChange::Edit { unified_diff, has_line_numbers, .. } => {
                page.excerpt(indent, EscapedText::of(unified_diff).lines(), DIFF, |line| {
                    (ink(line), if *has_line_numbers { line } else { without_numbers(line) })
                });
            }
            FileChange::Write { content, .. } => {
                page.excerpt(indent, EscapedText::of(content).lines(), WRITTEN, |line| {
                    (Ink::Added, line)
                });
            }
            FileChange::Delete { .. } | FileChange::Rename { .. } => {}
        }
    }
    page.more(indent, changes.len().saturating_sub(MOST_FILES), "more change");
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
