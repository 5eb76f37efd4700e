//! [`Indenter`]: human-readable JSON, piece by piece.

use memchr::memchr;

use super::scan::is_escaped;

/// The maximum indentation in levels: unlimited indentation would be quadratic.
const MOST_INDENT: usize = 16;

/// JSON with one line per member, indented by two spaces. Only white space is changed.
pub fn indented(json: &str) -> String {
    let mut text = Vec::with_capacity(json.len() + json.len() / 4);
    Indenter::default().push(json.as_bytes(), &mut text);
    // Only ASCII is inserted, next to ASCII, so the text stays valid UTF-8 and the fallback is never taken.
    String::from_utf8(text).unwrap_or_default()
}

/// The state at the end of the last piece.
#[derive(Default)]
pub(super) struct Indenter {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// An object or an array has begun, and may turn out to be empty.
    has_begun: bool,
}

impl Indenter {
    /// Appends the next piece to `text`.
    pub(super) fn push(&mut self, json: &[u8], text: &mut Vec<u8>) {
        let mut at = 0;
        while let Some(&byte) = json.get(at) {
            if self.in_string {
                let rest = &json[at..];
                let length = self.rest_of_string(rest);
                text.extend_from_slice(&rest[..length]);
                at += length;
                continue;
            }
            at += 1;
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

    /// The length of the rest of a string, up to and including its quote, or to the end of the piece.
    fn rest_of_string(&mut self, rest: &[u8]) -> usize {
        let start = usize::from(std::mem::take(&mut self.is_escaped));
        let is_escaped =
            |end: usize| is_escaped(rest.get(start..).unwrap_or_default(), end - start);
        let mut from = start;
        while let Some(next) = memchr(b'"', rest.get(from..).unwrap_or_default()) {
            let end = from + next;
            if !is_escaped(end) {
                self.in_string = false;
                return end + 1;
            }
            from = end + 1;
        }
        self.is_escaped = is_escaped(rest.len());
        rest.len()
    }

    fn new_line(&self, text: &mut Vec<u8>) {
        text.push(b'\n');
        text.extend(std::iter::repeat_n(b' ', 2 * self.depth.min(MOST_INDENT)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_indented_like_the_whole() {
        let json = r#"{"a":"x\\\"\\","b\"":[1,"\\\\",""],"c":{}}"#;
        for at in 0..=json.len() {
            for end in at..=json.len() {
                let (mut indenter, mut text) = (Indenter::default(), Vec::new());
                for piece in [&json[..at], &json[at..end], &json[end..]] {
                    indenter.push(piece.as_bytes(), &mut text);
                }
                assert_eq!(String::from_utf8(text).unwrap(), indented(json), "{at} {end}");
            }
        }
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(indented(json), format!("{value:#}"));
    }
}
