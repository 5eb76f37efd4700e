//! What all human-readable outputs show of a tool call: its name, its title, the size of its changes.

use std::borrow::Cow;

use foldline_domain::{ActionType, EscapedText, FileChange, Json, NormalizedEntry, Text, ToolUse};

use super::terminal::neutralise_line;

/// The name of the tool on one line, or of the action if the log states no name.
pub(crate) fn name(tool: &ToolUse) -> Cow<'_, str> {
    let name = match tool.tool_name.decode() {
        name if name.trim().is_empty() => Cow::Borrowed(tool.action_type.name()),
        name => name,
    };
    edit(name, |name| neutralise_line(name.trim()))
}

/// The title of the call on one line, except for a command, which is unchanged. Arguments are truncated to about
/// `most` bytes.
pub(crate) fn title<'e>(
    entry: &'e NormalizedEntry,
    tool: &'e ToolUse,
    most: usize,
) -> Cow<'e, str> {
    let one_line = |text: &'e Text| edit(text.decode(), neutralise_line);
    match &tool.action_type {
        // A command is shown line by line.
        ActionType::CommandRun { command, .. } if !command.is_empty() => command.decode(),
        // The questions follow.
        ActionType::Question { .. } => Cow::Borrowed(""),
        ActionType::TaskCreate { subagent_type: Some(kind), .. } => {
            format!("{} ({})", one_line(&entry.content), one_line(kind)).into()
        }
        ActionType::Tool { arguments: Some(arguments), .. } => {
            let arguments = compact(arguments, most);
            if entry.content == tool.tool_name {
                arguments.into()
            } else {
                format!("{} {arguments}", one_line(&entry.content)).into()
            }
        }
        _ if entry.content == tool.tool_name => Cow::Borrowed(""),
        _ => one_line(&entry.content),
    }
}

/// Edits a text. Most text does not change, and is not copied.
pub(crate) fn edit<'t>(text: Cow<'t, str>, to: impl Fn(&str) -> Cow<'_, str>) -> Cow<'t, str> {
    match to(&text) {
        Cow::Borrowed(same) if same.len() == text.len() => text,
        changed => Cow::Owned(changed.into_owned()),
    }
}

/// The beginning of a JSON value, without the white space between its tokens.
pub(crate) fn compact(json: &Json, most: usize) -> String {
    let mut compact = String::new();
    let (mut in_string, mut escaped) = (false, false);
    for c in json.get().chars() {
        if !in_string && c.is_whitespace() {
            continue;
        }
        if c == '"' && !escaped {
            in_string = !in_string;
        }
        escaped = in_string && c == '\\' && !escaped;
        compact.push(c);
        if compact.len() > most {
            compact.push('…');
            break;
        }
    }
    compact
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_compacted_outside_of_strings() {
        let json: Json = serde_json::from_str("{ \"a b\" : [ 1,\n 2, \"c \\\" d\" ] }").unwrap();
        assert_eq!(compact(&json, 100), r#"{"a b":[1,2,"c \" d"]}"#);
        assert_eq!(compact(&json, 4), "{\"a b…");
    }
}
