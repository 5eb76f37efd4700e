//! Answers as JSON.

use std::io::{self, Write};

use foldline::json;
use serde::Serialize;

/// Writes a value as JSON, with a line end. Characters that control a terminal are escaped.
pub(crate) fn write_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let text = json::to_string_pretty(value)?;
    let mut rest = &*text;
    // JSON leaves these as they are; they are only in strings.
    while let Some(at) = rest.find(is_terminal_control) {
        let (before, from) = rest.split_at(at);
        out.write_all(before.as_bytes())?;
        let mut from = from.chars();
        from.next().into_iter().try_for_each(|c| write!(out, "\\u{:04x}", u32::from(c)))?;
        rest = from.as_str();
    }
    out.write_all(rest.as_bytes())?;
    out.write_all(b"\n")
}

/// Whether a character is DEL, of C1, or changes the direction of text.
pub(super) fn is_terminal_control(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2066}'..='\u{2069}')
}
