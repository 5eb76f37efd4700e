//! Decoding of JSON strings (RFC 8259, section 7).

use std::borrow::Cow;

use super::{
    escapes::{count_short, has_escape},
    word::{common, equal, first},
};

/// Decodes a JSON string literal; invalid escapes become U+FFFD.
pub fn decode_literal(literal: &str) -> Cow<'_, str> {
    decode_body(string_body(literal).unwrap_or_default())
}

/// Like `decode_literal`, for the text between the quotes.
pub fn decode_body(body: &str) -> Cow<'_, str> {
    match has_escape(body) {
        true => Cow::Owned(unescape(body)),
        false => Cow::Borrowed(body),
    }
}

/// The text between the quotes, if `literal` is a string.
#[inline]
pub fn string_body(literal: &str) -> Option<&str> {
    // By bytes, because methods of `str` would call the C library's comparison for each quote.
    match literal.as_bytes() {
        [b'"', .., b'"'] => literal.get(1..literal.len() - 1),
        _ => None,
    }
}

/// Unescapes a string body; every lone surrogate becomes U+FFFD.
pub fn unescape(body: &str) -> String {
    let mut string = String::with_capacity(body.len());
    unescape_to(&mut string, body);
    string
}

/// Like [`unescape`], but appends to `string`.
pub fn unescape_to(string: &mut String, body: &str) {
    for (plain, escaped) in Unescaped(body) {
        string.push_str(plain);
        if let Some(c) = escaped {
            string.push(c);
        }
    }
}

/// The UTF-8 length of `body` in bytes after unescaping.
pub fn decoded_len(body: &str) -> usize {
    if let Some(escapes) = count_short(body) {
        return body.len() - escapes;
    }
    let pieces = Unescaped(body);
    pieces.map(|(plain, escaped)| plain.len() + escaped.map_or(0, char::len_utf8)).sum()
}

/// Whether two literals are equal after unescaping.
pub fn is_same_string(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    // If there is no escape before the first difference, they are not equal. Most differ early.
    let same = common(a.as_bytes(), b.as_bytes());
    let escape = Some(&b'\\');
    let may_be_spelt_differently = b.as_bytes().get(same) == escape
        || a.as_bytes().iter().take(same + 1).any(|byte| Some(byte) == escape);
    may_be_spelt_differently && decode_literal(a) == decode_literal(b)
}

/// Whether `body` equals `string` after unescaping.
pub fn unescapes_to(body: &str, string: &str) -> bool {
    let rest = Unescaped(body).try_fold(string, |rest, (plain, escaped)| {
        let rest = rest.strip_prefix(plain)?;
        escaped.map_or(Some(rest), |c| rest.strip_prefix(c))
    });
    rest == Some("")
}

/// The text between the quotes of a literal, in pieces: a run without escapes, and the escaped character after it.
struct Unescaped<'a>(&'a str);

impl<'a> Iterator for Unescaped<'a> {
    type Item = (&'a str, Option<char>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let Some(at) = first(self.0.as_bytes(), |word| equal(word, b'\\')) else {
            return Some((std::mem::take(&mut self.0), None));
        };
        let (plain, escape) = self.0.split_at(at);
        let c = match escape.as_bytes().get(1) {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => {
                let (c, rest) = unescape_code(&escape[2..]);
                self.0 = rest;
                return Some((plain, Some(c)));
            }
            Some(byte) if byte.is_ascii() => char::from(*byte),
            // Not an escape of JSON: kept unchanged.
            _ => {
                let mut chars = escape[1..].chars();
                let c = chars.next().unwrap_or(char::REPLACEMENT_CHARACTER);
                self.0 = chars.as_str();
                return Some((plain, Some(c)));
            }
        };
        self.0 = &escape[2..];
        Some((plain, Some(c)))
    }
}

/// The character of one or two codes of four digits, and the rest.
fn unescape_code(codes: &str) -> (char, &str) {
    let code = |codes: &str| u16::from_str_radix(codes.get(..4)?, 16).ok();
    let after = |codes: &'_ str| codes.char_indices().nth(4).map_or(codes.len(), |(at, _)| at);
    let first = code(codes).unwrap_or(0xFFFD);
    let rest = &codes[after(codes)..];
    let second = rest.strip_prefix("\\u");
    let pair = second.and_then(|second| Some([first, code(second)?]));
    match char::decode_utf16([first]).next() {
        Some(Ok(c)) => (c, rest),
        _ => match (pair.and_then(|pair| char::decode_utf16(pair).next()?.ok()), second) {
            (Some(c), Some(second)) => (c, &second[after(second)..]),
            _ => (char::REPLACEMENT_CHARACTER, rest),
        },
    }
}
