//! [`Indenter`]: JSON for people, a piece at a time.

use std::io;

/// Levels beyond this are not indented further: an indent for each would be quadratic.
const MOST_INDENT: usize = 16;

/// JSON with a line for each member, indented by two spaces. Nothing but white space is changed.
pub(crate) fn indented(json: &str) -> String {
    let mut text = Vec::with_capacity(json.len() + json.len() / 4);
    Indenter::default().push(json.as_bytes(), &mut text);
    // What is put between the bytes of UTF-8 is ASCII, beside ASCII, so the fallback is never taken.
    String::from_utf8(text).unwrap_or_default()
}

/// Writes the JSON that is written to it, indented, without holding it.
pub(super) struct IndentingWriter<'w> {
    out: &'w mut dyn io::Write,
    indenter: Indenter,
    /// Used again for each piece.
    text: Vec<u8>,
}

impl<'w> IndentingWriter<'w> {
    pub(super) fn new(out: &'w mut dyn io::Write) -> Self {
        Self { out, indenter: Indenter::default(), text: Vec::new() }
    }
}

impl io::Write for IndentingWriter<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.text.clear();
        self.indenter.push(json, &mut self.text);
        self.out.write_all(&self.text)?;
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Where in the JSON the last piece ended.
#[derive(Default)]
struct Indenter {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// An object or an array has begun, and it is not known yet whether it is empty.
    has_begun: bool,
}

impl Indenter {
    /// Appends the next piece to `text`.
    fn push(&mut self, json: &[u8], text: &mut Vec<u8>) {
        for &byte in json {
            if self.in_string {
                text.push(byte);
                self.in_string = byte != b'"' || self.is_escaped;
                self.is_escaped = byte == b'\\' && !self.is_escaped;
                continue;
            }
            if byte.is_ascii_whitespace() {
                continue;
            }
            let is_first = std::mem::take(&mut self.has_begun);
            let is_end = matches!(byte, b'}' | b']');
            self.depth = self.depth.saturating_sub(usize::from(is_end));
            if is_first != is_end {
                self.new_line(text);
            }
            text.push(byte);
            match byte {
                b'{' | b'[' => {
                    self.depth += 1;
                    self.has_begun = true;
                }
                b',' => self.new_line(text),
                b':' => text.push(b' '),
                _ => self.in_string = byte == b'"',
            }
        }
    }

    fn new_line(&self, text: &mut Vec<u8>) {
        text.push(b'\n');
        text.extend(std::iter::repeat_n(b' ', 2 * self.depth.min(MOST_INDENT)));
    }
}
