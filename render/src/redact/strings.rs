//! The strings of a JSON text, at any position.

use std::ops::Range;

use memchr::{memchr, memchr2};

/// A string literal in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    /// Its range, including the quotes.
    pub(super) range: Range<usize>,
    /// It is a field name.
    pub(super) is_field: bool,
    /// It has a closing quote.
    pub(super) is_closed: bool,
}

impl Literal {
    /// The first literal at or after `from`.
    pub(super) fn next(text: &[u8], from: usize) -> Option<Self> {
        let begin = from + memchr(b'"', text.get(from..)?)?;
        let mut end = begin + 1;
        let mut is_closed = false;
        while let Some(at) = memchr2(b'"', b'\\', text.get(end..).unwrap_or_default()) {
            end += at + 1;
            is_closed = text.get(end - 1) == Some(&b'"');
            if is_closed {
                break;
            }
            end += 1 + text.iter().skip(end).take_while(|byte| **byte == 0).count();
        }
        end = if is_closed { end } else { text.len() };
        let is_blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == 0;
        let is_field = text.iter().skip(end).find(|byte| !is_blank(byte)) == Some(&b':');
        Some(Self { range: begin..end, is_field, is_closed })
    }

    /// The range of the text between its quotes.
    pub(super) fn body(&self) -> Range<usize> {
        self.range.start + 1..self.range.end - usize::from(self.is_closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_may_have_no_end() {
        for text in ["\"", "\"a", "\"a\\", "\"a\\\"", "\"\\\0"] {
            let literal = Literal::next(text.as_bytes(), 0).unwrap();
            assert_eq!(literal.range, 0..text.len(), "{text}");
            assert_eq!(literal.body(), 1..text.len(), "{text}");
            assert!(!literal.is_closed && !literal.is_field, "{text}");
        }
        assert_eq!(Literal::next(b"a\"b\"", 4), None);
        assert_eq!(Literal::next(b"a", 7), None);
    }
}
