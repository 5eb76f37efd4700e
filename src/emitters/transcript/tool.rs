//! A tool call as it is made: its header, and what it brings with it.

use std::borrow::Cow;

use super::{
    page::Page,
    row::Row,
    shown::Shown,
    style::Ink,
    width::clip,
    wrap::{wrap, wrap_line},
};
use crate::{
    conversation::{ActionType, NormalizedEntry, ToolKind, ToolUse},
    emitters::{
        call_text::{self, edit},
        terminal::neutralise_line,
    },
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
    let text = [&*name, "  ", &*title(entry, tool)].concat();
    let text = Shown::of_lines(&text);
    let rows: Vec<_> = text.lines().flat_map(|line| wrap_line(line, room)).collect();
    let Some((first, rows)) = rows.split_first() else { return };
    // The name is short enough to stand on the first row as a whole.
    let first = first.text.as_str();
    let (name, rest) = first.strip_prefix(&*name).map_or(("", first), |rest| (&*name, rest));
    page.row(glyph.then(Ink::Strong, name).then(Ink::Plain, rest));
    if !rows.is_empty() {
        page.hang_beginning(Row::indent(INDENT), Ink::Plain, rows, MOST_TITLE);
    }
}

/// Prints what a call brings with it beyond a title. Says whether there was anything.
pub(super) fn brief(page: &mut Page, action: &ActionType) -> bool {
    let room = page.width() - INDENT;
    match action {
        ActionType::PlanPresentation { plan, .. } if !plan.is_empty() => {
            let text = Shown::of_lines(&plan.decode());
            let rows = wrap(&text, room);
            page.hang_beginning(Row::indent(INDENT), Ink::Plain, &rows, MOST_PLAN);
        }
        ActionType::Question { questions, .. } if !questions.is_empty() => {
            for question in questions {
                let bullet = Row::indent(2).then(Ink::Caution, "? ");
                let text = Shown::of_lines(&question.decode());
                page.hang(bullet, Ink::Plain, wrap(&text, room));
            }
        }
        ActionType::TaskCreate { description, prompt: Some(prompt), .. }
            if prompt != description =>
        {
            let text = Shown::of_lines(&prompt.decode());
            let rows = wrap(&text, room);
            page.hang_beginning(Row::indent(INDENT), Ink::Quiet, &rows, MOST_PROMPT);
        }
        _ => return false,
    }
    true
}

/// A call in a few words, to refer to it later.
pub(super) fn label(entry: &NormalizedEntry) -> String {
    let Some(tool) = entry.tool() else { return entry.content.decode().into_owned() };
    let mut label = [&*name(tool, NAME), "  ", &*title(entry, tool)].concat();
    label.truncate(label.trim_end().len());
    match neutralise_line(&label) {
        Cow::Borrowed(_) if label.len() <= LABEL => label,
        shown => clip(&shown, LABEL).into_owned(),
    }
}

fn name(tool: &ToolUse, room: usize) -> Cow<'_, str> {
    edit(call_text::name(tool), |name| clip(name, room.min(NAME)))
}

fn title<'e>(entry: &'e NormalizedEntry, tool: &'e ToolUse) -> Cow<'e, str> {
    call_text::title(entry, tool, LABEL * MOST_TITLE)
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
