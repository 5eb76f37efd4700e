//! Answers as JSON.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a value as JSON, with a line end. Characters that control a terminal are escaped.
pub(crate) fn write_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut escaping = Escaping { out, pending: Vec::new() };
    foldline_json::write_pretty(&mut escaping, value)?;
    out.write_all(b"\n")
}

/// Escapes in JSON what a terminal would obey, which JSON leaves as it is. It is only in strings.
struct Escaping<'w> {
    out: &'w mut dyn Write,
    /// Text to write, and the beginning of a character whose rest has not come yet.
    pending: Vec<u8>,
}

impl Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        let text = match std::str::from_utf8(&self.pending) {
            Ok(text) => text,
            Err(error) => {
                let whole = self.pending.get(..error.valid_up_to()).unwrap_or_default();
                std::str::from_utf8(whole).unwrap_or_default()
            }
        };
        let mut rest = text;
        while let Some(at) = rest.find(is_terminal_control) {
            let (before, from) = rest.split_at(at);
            self.out.write_all(before.as_bytes())?;
            let mut from = from.chars();
            from.next()
                .into_iter()
                .try_for_each(|c| write!(self.out, "\\u{:04x}", u32::from(c)))?;
            rest = from.as_str();
        }
        self.out.write_all(rest.as_bytes())?;
        let written = text.len();
        self.pending.drain(..written);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether a character is DEL, of C1, or changes the direction of text.
pub(super) fn is_terminal_control(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_however_it_is_cut() {
        let text = "\"ä\u{9b}2J\u{202e}\u{1f600}\u{7f}\"";
        for at in 0..=text.len() {
            let mut out = Vec::new();
            let mut escaping = Escaping { out: &mut out, pending: Vec::new() };
            escaping.write_all(&text.as_bytes()[..at]).unwrap();
            escaping.write_all(&text.as_bytes()[at..]).unwrap();
            let escaped = "\"ä\\u009b2J\\u202e\u{1f600}\\u007f\"";
            assert_eq!(String::from_utf8(out).unwrap(), escaped, "{at}");
        }
    }
}
