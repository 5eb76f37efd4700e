//! What is said: messages, thoughts, errors, and what of the log was not understood.

use super::{page::Page, row::Row, shown::Shown, style::Ink, wrap::wrap};
use crate::conversation::{NormalizedEntryType, Text};

/// How a speaker looks.
struct Voice {
    glyph: &'static str,
    mark: Ink,
    ink: Ink,
    /// As many rows as are shown.
    most: usize,
}

/// Pasted files and instructions come as messages too, and nobody reads them here.
const LONG: usize = 80;
const BRIEF: usize = 12;
const RAW: usize = 3;

/// Prints what somebody said.
pub(super) fn say(page: &mut Page, who: &NormalizedEntryType, text: &Text) {
    let voice = |glyph, mark, ink, most| Voice { glyph, mark, ink, most };
    let voice = match who {
        NormalizedEntryType::UserMessage => voice("❯ ", Ink::User, Ink::Strong, LONG),
        NormalizedEntryType::AssistantMessage => {
            voice("● ", Ink::Assistant, Ink::Plain, usize::MAX)
        }
        NormalizedEntryType::Thinking => voice("∴ ", Ink::Quiet, Ink::Thinking, LONG),
        NormalizedEntryType::SystemMessage => voice("· ", Ink::Quiet, Ink::Quiet, BRIEF),
        NormalizedEntryType::ErrorMessage => voice("✗ ", Ink::Bad, Ink::Bad, LONG),
        NormalizedEntryType::Diagnostic { code } => {
            page.row(Row::mark(Ink::Caution, "! ").then(Ink::Caution, code.as_str()));
            return page.beginning(Row::indent(2), Ink::Quiet, &text.decode(), RAW);
        }
        NormalizedEntryType::ToolUse(_) => return,
    };
    let first = Row::mark(voice.mark, voice.glyph);
    let text = Shown::of_text(text);
    let rows = wrap(&text, page.width() - first.width());
    if rows.is_empty() {
        return page.row(first.then_mark(Ink::Quiet, "(empty)"));
    }
    page.hang_beginning(first, voice.ink, &rows, voice.most);
}
