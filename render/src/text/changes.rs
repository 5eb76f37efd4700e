//! The size of a call's changes, and their diffs.

use foldline_domain::{EscapedText, FileChange};

/// The number of added, removed and written lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChangedLines {
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// Lines of files that are written as a whole: their previous content is not in the log.
    pub(crate) written: usize,
}

impl ChangedLines {
    pub(crate) fn of(changes: &[FileChange]) -> Self {
        let mut lines = Self::default();
        changes.iter().for_each(|change| lines.count(change));
        lines
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.added += more.added;
        self.removed += more.removed;
        self.written += more.written;
    }

    fn count(&mut self, change: &FileChange) {
        match change {
            FileChange::Edit { unified_diff, .. } => {
                for line in EscapedText::of(unified_diff).lines_with_ends() {
                    match line.as_bytes().first() {
                        Some(b'+') => self.added += 1,
                        Some(b'-') => self.removed += 1,
                        _ => {}
                    }
                }
            }
            FileChange::Write { content, .. } => {
                self.written += EscapedText::of(content).count_all_lines();
            }
            FileChange::Delete { .. } | FileChange::Rename { .. } => {}
        }
    }
}

/// The heading of a hunk without line numbers that do not refer to the file and would be misleading.
pub(crate) fn hunk_without_numbers(line: &str) -> &str {
    match line.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@")) {
        Some((_, context)) if !context.trim().is_empty() => line,
        _ => "@@",
    }
}
