//! A tool call as it is made: its header, and what it brings with it.

use std::borrow::Cow;

use super::{
    page::{Page, Row},
    style::Ink,
    wrap::{clean, clip, wrap, wrap_line},
};
use crate::{
    conversation::{ActionType, Json, Lines, NormalizedEntry, Text, ToolKind, ToolUse},
    emitters::terminal::neutralise_line,
};

/// How many rows a command or another title takes at the most.
const MOST_TITLE: usize = 8;
const MOST_PLAN: usize = 80;
const MOST_PROMPT: usize = 6;
/// What belongs to a header stands as far right as a result's body, past the status between them.
const INDENT: usize = 4;
/// Columns of a name, and of a whole label.
const NAME: usize = 48;
const LABEL: usize = 160;

/// Prints the header of a call.
pub(super) fn header(page: &mut Page, entry: &NormalizedEntry, tool: &ToolUse) {
    let glyph = Row::new(Ink::Tool, glyph(&tool.action_type)).then(Ink::Plain, " ");
    let room = page.width() - INDENT;
    let name = name(tool, room / 2);
    let text = format!("{name}  {}", title(entry, tool));
    let mut rows = Vec::new();
    Lines::plain(&text).for_each(|line| wrap_line(&clean(&line), room, &mut rows));
    let Some(first) = rows.first() else { return };
    // The name is short enough to stand on the first row as a whole.
    let (name, rest) = first.strip_prefix(&*name).map_or(("", &**first), |rest| (&*name, rest));
    page.row(glyph.then(Ink::Strong, name).then(Ink::Plain, rest));
    rows.remove(0);
    page.hang_beginning(Row::indent(INDENT), Ink::Plain, &rows, MOST_TITLE);
}

/// Prints what a call brings with it beyond a title. Says whether there was anything.
pub(super) fn brief(page: &mut Page, action: &ActionType) -> bool {
    let room = page.width() - INDENT;
    match action {
        ActionType::PlanPresentation { plan, .. } if !plan.is_empty() => {
            let rows = wrap(&plan.decode(), room);
            page.hang_beginning(Row::indent(INDENT), Ink::Plain, &rows, MOST_PLAN);
        }
        ActionType::Question { questions, .. } if !questions.is_empty() => {
            for question in questions {
                let bullet = Row::indent(2).then(Ink::Caution, "? ");
                page.hang(bullet, Ink::Plain, wrap(&question.decode(), room));
            }
        }
        ActionType::TaskCreate { description, prompt: Some(prompt), .. }
            if prompt != description =>
        {
            let rows = wrap(&prompt.decode(), room);
            page.hang_beginning(Row::indent(INDENT), Ink::Quiet, &rows, MOST_PROMPT);
        }
        _ => return false,
    }
    true
}

/// A call in a few words, to refer to it later.
pub(super) fn label(entry: &NormalizedEntry) -> String {
    let Some(tool) = entry.tool() else { return entry.content.decode().into_owned() };
    let label = format!("{}  {}", name(tool, NAME), title(entry, tool));
    let label = neutralise_line(label.trim_end());
    clip(&label, LABEL).into_owned()
}

fn name(tool: &ToolUse, room: usize) -> String {
    let name = tool.tool_name.decode();
    let name = if name.trim().is_empty() { tool.action_type.name() } else { name.trim() };
    clip(&neutralise_line(name), room.min(NAME)).into_owned()
}

fn title<'e>(entry: &'e NormalizedEntry, tool: &'e ToolUse) -> Cow<'e, str> {
    let one_line = |text: &'e Text| Cow::Owned(neutralise_line(&text.decode()).into_owned());
    match &tool.action_type {
        // A command is read line by line.
        ActionType::CommandRun { command, .. } if !command.is_empty() => command.decode(),
        // The questions follow.
        ActionType::Question { .. } => Cow::Borrowed(""),
        ActionType::TaskCreate { subagent_type: Some(kind), .. } => {
            format!("{} ({})", one_line(&entry.content), one_line(kind)).into()
        }
        ActionType::Tool { arguments: Some(arguments), .. } => {
            let arguments = compact(arguments, LABEL * MOST_TITLE);
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

fn glyph(action: &ActionType) -> &'static str {
    match (action, action.kind()) {
        (ActionType::TodoManagement { .. }, _) => "☰",
        (ActionType::PlanPresentation { .. }, _) => "✎",
        (ActionType::Question { .. }, _) => "?",
        (ActionType::TaskCreate { .. }, _) => "◆",
        (_, ToolKind::Read) => "≡",
        (_, ToolKind::Edit) => "±",
        (_, ToolKind::Delete) => "×",
        (_, ToolKind::Move) => "→",
        (_, ToolKind::Search) => "◎",
        (_, ToolKind::Execute) => "$",
        (_, ToolKind::Fetch) => "↓",
        (_, ToolKind::Think | ToolKind::Other) => "◇",
    }
}

/// The beginning of a JSON value without the white space between its tokens.
pub(super) fn compact(json: &Json, most: usize) -> String {
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
