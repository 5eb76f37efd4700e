//! Messages, thoughts, errors, and unsupported parts of the log.

use foldline_domain::{NormalizedEntryType, Text};

use super::{
    page::Page,
    row::{Ink, Row},
    safe_text::SafeText,
    wrap::wrap,
};
use crate::text::printed::spoken_spelling;

/// The style of a speaker.
struct Voice {
    glyph: &'static str,
    mark: Ink,
    ink: Ink,
    /// The maximum number of rows shown.
    most: usize,
}

/// Pasted files and instructions are messages too, and are rarely read here.
const LONG: usize = 80;
const BRIEF: usize = 12;
const RAW: usize = 3;

/// Prints a message.
pub(super) fn print(page: &mut Page, who: &NormalizedEntryType, text: &Text) {
    let voice = |glyph, mark, ink, most| Voice { glyph, mark, ink, most };
    let voice = match who {
        NormalizedEntryType::UserMessage => voice("❯ ", Ink::User, Ink::Strong, LONG),
        NormalizedEntryType::AssistantMessage => {
            voice("● ", Ink::Assistant, Ink::Plain, usize::MAX)
        }
        NormalizedEntryType::Thinking => voice("∴ ", Ink::Quiet, Ink::Thinking, LONG),
        NormalizedEntryType::SystemMessage
        | NormalizedEntryType::ModelChange { .. }
        | NormalizedEntryType::Compaction
        | NormalizedEntryType::Continuation => voice("· ", Ink::Quiet, Ink::Quiet, BRIEF),
        NormalizedEntryType::ErrorMessage => voice("✗ ", Ink::Bad, Ink::Bad, LONG),
        NormalizedEntryType::Diagnostic { code } => {
            page.row(Row::mark(Ink::Caution, "! ").then(Ink::Caution, code.as_str()));
            return page.beginning(Row::indent(2), Ink::Quiet, &text.decode(), RAW);
        }
        NormalizedEntryType::ToolUse(_) => return,
    };
    let first = Row::mark(voice.mark, voice.glyph);
    let text = SafeText::of_lines(spoken_spelling(text).lines());
    let rows = wrap(&text, page.width() - first.width());
    if rows.is_empty() {
        return page.row(first.then_mark(Ink::Quiet, "(empty)"));
    }
    page.hang_beginning(first, voice.ink, &rows, voice.most);
}
