//! The strings of a JSON text, at any position.

use std::{borrow::Cow, ops::Range};

use memchr::{memchr, memchr2};

use crate::json::{decode_literal, literal};

/// Fields that contain ids. Most ids look random, but are not secret.
const IDS: [&str; 7] = [
    "corrId",
    "corr_id",
    "parentCorrId",
    "messageId",
    "message_id",
    "session_id",
    "parent_session_id",
];

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

/// The text with every string, including field names, replaced by the result of `to`, or unchanged for `None`. The
/// second argument of `to` is whether a string is an id.
pub(super) fn map(json: &str, mut to: impl FnMut(&str, bool) -> Option<String>) -> String {
    let mut mapped = String::with_capacity(json.len());
    let mut end = 0;
    let mut field = Cow::Borrowed("");
    while let Some(Literal { range, is_field, .. }) = Literal::next(json.as_bytes(), end) {
        mapped.push_str(json.get(end..range.start).unwrap_or_default());
        let string = json.get(range.clone()).unwrap_or_default();
        let decoded = decode_literal(string);
        let is_id = !is_field && IDS.contains(&&*field);
        match to(&decoded, is_id) {
            Some(changed) => mapped.push_str(&literal(&changed)),
            None => mapped.push_str(string),
        }
        if is_field {
            field = decoded;
        }
        end = range.end;
    }
    mapped + json.get(end..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_is_seen_and_nothing_else_changes() {
        let json = r#"{"a":1e400,"b\"":["x\\","\u0041"],"corrId":"x", "c" : {"x":"{\"x\":1}"}}"#;
        let mut ids = Vec::new();
        let mapped = map(json, |text, is_id| {
            ids.extend(is_id.then(|| text.to_owned()));
            text.contains('x').then(|| text.replace('x', "\"y\""))
        });
        let expected = r#"{"a":1e400,"b\"":["\"y\"\\","\u0041"],"corrId":"\"y\"", "c" : {"\"y\"":"{\"\"y\"\":1}"}}"#;
        assert_eq!(mapped, expected);
        assert_eq!(ids, ["x"]);
        assert_eq!(map(json, |_, _| None), json);
    }

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
