//! An entry of a session in an answer: a line of the server, and the texts of the log.

use foldline_database::StoredEntry;
use foldline_domain::{
    ActionType, CommandExitStatus, FileChange, NormalizedEntry, NormalizedEntryType, Text,
    Timestamp, ToolUse,
};
use foldline_render::human;

use super::{
    call::Call,
    quote::{line, message, output, quoted, shortened},
};

/// The longest title of a call on one line, in characters.
const TITLE: usize = 2_000;

/// The heading of the result of a call.
const OUTPUT: &str = "output:";

/// An entry, ready to be shortened.
pub(crate) struct ShownEntry {
    /// Its place in the session.
    pub(crate) index: u64,
    /// What it is, in words of the server.
    head: String,
    /// Whether it is a call that failed.
    is_failure: bool,
    /// The texts, clean. Each may have a heading in words of the server.
    texts: Vec<(Option<&'static str>, String)>,
}

impl ShownEntry {
    /// An entry of the session with this name.
    pub(crate) fn new(call: &Call<'_>, session: &str, stored: StoredEntry) -> Self {
        let index = stored.index.get() as u64;
        let entry = call.entry(stored.entry);
        let at = call.minute(entry.timestamp.map(Timestamp::as_millis));
        let (what, texts) = match &entry.entry_type {
            NormalizedEntryType::ToolUse(tool) => of_call(&entry, tool),
            kind => (kind.name().replace('_', " "), vec![(None, text(&entry.content))]),
        };
        let by = entry.metadata.as_ref().is_some_and(|known| known.parent_corr_id.is_some());
        let by = if by { ", by a sub-agent" } else { "" };
        let head = format!("{session}:{index} {at} {what}{by}\n");
        let is_failure = entry.tool().is_some_and(|tool| tool.status.is_failure());
        Self { index, head, is_failure, texts }
    }

    /// The lines of the entry, with at most about `most` characters of each text.
    pub(crate) fn lines(&self, most: usize) -> String {
        let mut lines = self.head.clone();
        for (heading, text) in self.texts.iter().filter(|(_, text)| !text.is_empty()) {
            if let Some(heading) = heading {
                lines.push_str(heading);
                lines.push('\n');
            }
            // What was said and changed matters more than what was read.
            let is_less = *heading == Some(OUTPUT) && !self.is_failure;
            lines.push_str(&shortened(text, if is_less { most / 2 } else { most }));
        }
        lines
    }

    /// The bytes of its texts.
    pub(crate) fn size(&self) -> usize {
        self.texts.iter().map(|(_, text)| text.len()).sum()
    }

    /// The line of the server, and the whole text after it.
    pub(crate) fn whole(self) -> (String, String) {
        let texts: Vec<_> = self.texts.into_iter().map(|(_, text)| text).collect();
        (self.head, texts.join("\n"))
    }
}

fn text(text: &Text) -> String {
    message(&text.decode())
}

/// The status of a call in words of the server, and its texts.
fn of_call(
    entry: &NormalizedEntry,
    tool: &ToolUse,
) -> (String, Vec<(Option<&'static str>, String)>) {
    let mut what = format!("call {}", tool.status.name());
    if let Some(code) = exit_code(&tool.action_type) {
        what.push_str(&format!(", exit {code}"));
    }
    if let Some(millis) = tool.duration_ms {
        what.push_str(&format!(", {}", human::duration(millis)));
    }
    let mut texts = vec![(None, title(entry, tool))];
    texts.extend(details(&tool.action_type));
    let result = tool.action_type.result_text();
    texts.extend(result.map(|result| (Some(OUTPUT), output(&result.decode()))));
    (what, texts)
}

/// The exit code of a failed command.
pub(crate) fn exit_code(action: &ActionType) -> Option<i32> {
    let ActionType::CommandRun { result: Some(result), .. } = action else { return None };
    match result.exit_status {
        Some(CommandExitStatus::ExitCode { code }) => Some(code).filter(|code| *code != 0),
        _ => None,
    }
}

/// The tool, and what it was called for, such as a command or a path.
fn title(entry: &NormalizedEntry, tool: &ToolUse) -> String {
    let name = line(&tool.tool_name.decode(), 100);
    let title = match &tool.action_type {
        ActionType::CommandRun { command, .. } if !command.is_empty() => message(&command.decode()),
        _ => line(&entry.content.decode(), TITLE),
    };
    if title.is_empty() || title == name { name } else { format!("{name}: {title}") }
}

/// What the arguments of a call say beyond its title.
fn details(action: &ActionType) -> Vec<(Option<&'static str>, String)> {
    let texts = |texts: &mut dyn Iterator<Item = &Text>| -> String {
        texts.map(text).collect::<Vec<_>>().join("\n")
    };
    match action {
        ActionType::FileEdit { changes, .. } => changes.iter().map(change).collect(),
        ActionType::TaskCreate { prompt: Some(prompt), .. } => {
            vec![(Some("prompt:"), text(prompt))]
        }
        ActionType::PlanPresentation { plan, .. } => vec![(Some("plan:"), text(plan))],
        ActionType::Question { questions, .. } => {
            vec![(Some("questions:"), texts(&mut questions.iter()))]
        }
        ActionType::TodoManagement { todos, .. } => {
            let items = todos.iter().map(|item| {
                format!(
                    "{}: {}",
                    line(&item.status.decode(), 20),
                    line(&item.content.decode(), 200)
                )
            });
            vec![(Some("list:"), items.collect::<Vec<_>>().join("\n"))]
        }
        ActionType::Tool { arguments: Some(arguments), .. } => {
            vec![(Some("arguments:"), line(arguments.get(), TITLE))]
        }
        _ => Vec::new(),
    }
}

/// A change of a file.
fn change(change: &FileChange) -> (Option<&'static str>, String) {
    let path = line(&change.path().decode(), 300);
    match change {
        FileChange::Edit { unified_diff, .. } => {
            let diff = text(unified_diff);
            // The lines around a change are in the file.
            let changed = diff.lines().filter(|line| line.starts_with(['+', '-']));
            (Some("changed lines:"), changed.fold(path, |all, line| format!("{all}\n{line}")))
        }
        FileChange::Write { content, .. } => {
            (Some("written:"), format!("{path}\n{}", text(content)))
        }
        FileChange::Delete { .. } => (Some("deleted:"), path),
        FileChange::Rename { new_path, .. } => {
            (Some("renamed:"), format!("{path} -> {}", line(&new_path.decode(), 300)))
        }
    }
}

/// A changed file on one marked line, with the numbers of added and removed lines.
pub(crate) fn changed(change: &FileChange) -> String {
    let path = line(&change.path().decode(), 200);
    let said = match change {
        FileChange::Edit { unified_diff, .. } => {
            let diff = unified_diff.decode();
            let count = |sign| diff.lines().filter(|line| line.starts_with(sign)).count();
            format!("{path} (+{} -{})", count('+'), count('-'))
        }
        FileChange::Write { .. } => format!("{path} (written)"),
        FileChange::Delete { .. } => format!("{path} (deleted)"),
        FileChange::Rename { new_path, .. } => {
            format!("{path} -> {}", line(&new_path.decode(), 200))
        }
    };
    quoted(&said)
}
