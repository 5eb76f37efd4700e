//! [`search`]: the secrets in raw bytes: a line of a log, or the JSON of an event.

use std::{borrow::Cow, ops::Range};

use memchr::{memchr, memchr2};

use super::{
    find::{Place, Secret, find},
    rules::Rules,
    units::{decode, raw_ranges},
};

/// The minimum length of a text with a secret.
const LEAST: usize = 3;

/// The minimum length of text between strings that is not JSON.
const LEAST_GAP: usize = 6;

/// The number of bytes before a string that may name its content.
const CONTEXT: usize = 80;

/// The maximum nesting of JSON in strings that is searched.
const DEPTH: usize = 4;

/// The secrets in raw bytes, with their ranges there. Of JSON, only the contents of strings are searched, and JSON within
/// these in the same way; what is not JSON is text.
pub(super) fn search(raw: &[u8], is_id: bool) -> Vec<Secret> {
    json(raw, 0).unwrap_or_else(|| {
        let secrets = find(&decode(raw, false), Place { is_id, ..Place::default() });
        in_raw(raw, false, secrets)
    })
}

/// The secrets in JSON; `None` if it is not JSON, has no strings or is nested too deep.
fn json(raw: &[u8], depth: usize) -> Option<Vec<Secret>> {
    if depth < DEPTH && is_begun(raw) { strings(raw, depth) } else { None }
}

/// Whether this may be JSON that contains strings.
fn is_begun(raw: &[u8]) -> bool {
    let is_blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == 0;
    matches!(raw.iter().find(|byte| !is_blank(byte)), Some(b'{' | b'[' | b'"'))
        && memchr(b'"', raw).is_some()
}

/// The secrets in the strings of JSON; `None` if it is not JSON.
fn strings(raw: &[u8], depth: usize) -> Option<Vec<Secret>> {
    let mut secrets = Vec::new();
    let (mut end, mut field, mut is_id) = (0, None, false);
    while let Some(literal) = Literal::next(raw, end) {
        is_structure(raw.get(end..literal.range.start)?).then_some(())?;
        let body = literal.body();
        let names = field.take().unwrap_or(end).max(body.start.saturating_sub(CONTEXT));
        let begins =
            |start: &[u8]| raw.get(body.clone()).is_some_and(|body| body.starts_with(start));
        if literal.is_field || begins(b"-") {
            // A field names its value, and an option the next argument.
            field = Some(literal.range.start);
        }
        is_id &= !literal.is_field;
        let content = raw.get(body.clone())?;
        let context = raw.get(names..body.start)?;
        let found = string(content, context, is_id, depth);
        secrets.extend(found.into_iter().map(|secret| secret.moved(body.start)));
        is_id |= literal.is_field && names_id(&decode(content, true));
        end = literal.range.end;
    }
    is_structure(raw.get(end..)?).then_some(secrets)
}

/// The secrets in the content of a string.
fn string(raw: &[u8], context: &[u8], is_id: bool, depth: usize) -> Vec<Secret> {
    if raw.len() < LEAST {
        return Vec::new();
    }
    let text = decode(raw, true);
    if let Some(secrets) = json(text.as_bytes(), depth + 1) {
        return in_raw(raw, true, secrets);
    }
    let place = Place { is_id, ..Place::default() };
    let context = if context.len() < LEAST { "".into() } else { decode(context, false) };
    if context.is_empty() || !Rules::get().hits(context.as_bytes()).is_naming() {
        return in_raw(raw, true, find(&text, place));
    }
    let from = context.len();
    let mut secrets = find(&format!("{context}{text}"), Place { from, is_string: true, ..place });
    for secret in &mut secrets {
        for range in [&mut secret.whole, &mut secret.cover] {
            *range = range.start.saturating_sub(from)..range.end.saturating_sub(from);
        }
    }
    in_raw(raw, true, secrets)
}

/// The secrets of a decoded text, with their ranges in its raw bytes.
fn in_raw(raw: &[u8], is_escaped: bool, mut secrets: Vec<Secret>) -> Vec<Secret> {
    if !secrets.is_empty() && matches!(decode(raw, is_escaped), Cow::Owned(_)) {
        let ranges = |of: fn(&Secret) -> Range<usize>| {
            raw_ranges(raw, is_escaped, secrets.iter().map(of).collect())
        };
        let (wholes, covers) =
            (ranges(|secret| secret.whole.clone()), ranges(|secret| secret.cover.clone()));
        for (secret, (whole, cover)) in secrets.iter_mut().zip(wholes.into_iter().zip(covers)) {
            (secret.whole, secret.cover) = (whole, cover);
        }
    }
    secrets
}

impl Secret {
    /// The secret in a longer text.
    fn moved(mut self, by: usize) -> Self {
        for range in [&mut self.whole, &mut self.cover] {
            *range = range.start + by..range.end + by;
        }
        self
    }
}

/// Whether a field of this name contains an id, or several.
fn names_id(name: &str) -> bool {
    let name = name.strip_suffix('s').unwrap_or(name).as_bytes();
    name.last_chunk().is_some_and(|end: &[u8; 2]| end.eq_ignore_ascii_case(b"id"))
}

/// Whether this is JSON syntax between strings, or too short for a secret.
fn is_structure(gap: &[u8]) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_whitespace() || b"{}[]:,\0".contains(byte);
    let is_number = |word: &[u8]| {
        word.first().is_some_and(|first| first.is_ascii_digit() || *first == b'-')
            && word.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
    };
    gap.len() < LEAST_GAP && !gap.contains(&b'\\')
        || gap.split(is_sign).all(|word| {
            word.is_empty() || matches!(word, b"true" | b"false" | b"null") || is_number(word)
        })
}

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
