//! [`Indenter`]: human-readable JSON, piece by piece.

use std::io;

/// The maximum indentation in levels: unlimited indentation would be quadratic.
const MOST_INDENT: usize = 16;

/// JSON with one line per member, indented by two spaces. Only white space is changed.
pub(crate) fn indented(json: &str) -> String {
    let mut text = Vec::with_capacity(json.len() + json.len() / 4);
    Indenter::default().push(json.as_bytes(), &mut text);
    // Only ASCII is inserted, next to ASCII, so the text stays valid UTF-8 and the fallback is never taken.
    String::from_utf8(text).unwrap_or_default()
}

/// Indents the JSON written to it as a stream, without buffering it.
pub(super) struct IndentingWriter<'w> {
    out: &'w mut dyn io::Write,
    indenter: Indenter,
    /// A buffer that is reused for each piece.
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

/// The state at the end of the last piece.
#[derive(Default)]
struct Indenter {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// An object or an array has begun, and may turn out to be empty.
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
