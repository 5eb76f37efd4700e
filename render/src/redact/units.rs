//! [`Units`]: raw bytes with their text.

use std::{borrow::Cow, ops::Range};

use memchr::{memchr, memchr2};

/// Iterates over raw bytes in units. Invalid UTF-8 is U+FFFD. A NUL stands for nothing: UTF-16 text is read like
/// UTF-8, which works for its ASCII part.
pub(super) struct Units<'a> {
    /// Up to the next escape or NUL.
    plain: &'a [u8],
    rest: &'a [u8],
    is_escaped: bool,
}

/// Raw bytes that belong together, and their text.
pub(super) enum Unit<'a> {
    /// Text identical to the bytes.
    Plain(&'a str),
    /// A number of bytes, for one character or nothing.
    Other(usize, Option<char>),
}

impl<'a> Units<'a> {
    /// `is_escaped`: a backslash begins an escape, as in a JSON string.
    pub(super) fn new(raw: &'a [u8], is_escaped: bool) -> Self {
        Self { plain: b"", rest: raw, is_escaped }
    }
}

impl<'a> Iterator for Units<'a> {
    type Item = Unit<'a>;

    fn next(&mut self) -> Option<Unit<'a>> {
        if self.plain.is_empty() {
            let end = match self.is_escaped {
                true => memchr2(b'\\', 0, self.rest),
                false => memchr(0, self.rest),
            };
            (self.plain, self.rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        }
        if let Some(chunk) = self.plain.utf8_chunks().next() {
            let (valid, invalid) = (chunk.valid(), chunk.invalid().len());
            let length = if valid.is_empty() { invalid } else { valid.len() };
            self.plain = self.plain.get(length..).unwrap_or_default();
            return Some(match valid.is_empty() {
                true => Unit::Other(length, Some(char::REPLACEMENT_CHARACTER)),
                false => Unit::Plain(valid),
            });
        }
        let (length, c) = match self.rest.first()? {
            0 => (1, None),
            _ => escape(self.rest),
        };
        self.rest = self.rest.get(length..).unwrap_or_default();
        Some(Unit::Other(length, c))
    }
}

/// The character of the escape at the beginning of `raw`, and its length. An invalid escape is a backslash.
fn escape(raw: &[u8]) -> (usize, Option<char>) {
    let mut bytes = raw.iter().enumerate().skip(1).filter(|(_, byte)| **byte != 0);
    let c = match bytes.next() {
        Some((at, b'n')) => (at, '\n'),
        Some((at, b't')) => (at, '\t'),
        Some((at, b'r')) => (at, '\r'),
        Some((at, b'b')) => (at, '\u{8}'),
        Some((at, b'f')) => (at, '\u{c}'),
        Some((at, byte @ (b'"' | b'\\' | b'/'))) => (at, char::from(*byte)),
        Some((_, b'u')) => match code(&mut bytes) {
            Some((at, first)) => match char::decode_utf16([first]).next() {
                Some(Ok(c)) => (at, c),
                _ => pair(first, &mut bytes).unwrap_or((at, char::REPLACEMENT_CHARACTER)),
            },
            None => (0, '\\'),
        },
        _ => (0, '\\'),
    };
    (c.0 + 1, Some(c.1))
}

/// Four hexadecimal digits, and the position of the last one.
fn code<'b>(bytes: &mut impl Iterator<Item = (usize, &'b u8)>) -> Option<(usize, u16)> {
    let mut code = (0, 0);
    for _ in 0..4 {
        let (at, byte) = bytes.next()?;
        let digit = char::from(*byte).to_digit(16)?;
        code = (at, code.1 << 4 | u16::try_from(digit).ok()?);
    }
    Some(code)
}

/// The second half of a surrogate pair.
fn pair<'b>(
    first: u16,
    bytes: &mut impl Iterator<Item = (usize, &'b u8)>,
) -> Option<(usize, char)> {
    if *bytes.next()?.1 != b'\\' || *bytes.next()?.1 != b'u' {
        return None;
    }
    let (at, second) = code(bytes)?;
    Some((at, char::decode_utf16([first, second]).next()?.ok()?))
}

/// The text of raw bytes.
pub(super) fn decode(raw: &[u8], is_escaped: bool) -> Cow<'_, str> {
    let mut units = Units::new(raw, is_escaped);
    let first = match units.next() {
        None => return Cow::Borrowed(""),
        Some(Unit::Plain(text)) if text.len() == raw.len() => return Cow::Borrowed(text),
        Some(first) => first,
    };
    let mut text = String::with_capacity(raw.len());
    for unit in std::iter::once(first).chain(units) {
        match unit {
            Unit::Plain(plain) => text.push_str(plain),
            Unit::Other(_, c) => text.extend(c),
        }
    }
    Cow::Owned(text)
}

/// The ranges in the raw bytes that correspond to ranges in their text. The ranges are in ascending order and do not
/// overlap.
pub(super) fn raw_ranges(
    raw: &[u8],
    is_escaped: bool,
    ranges: Vec<Range<usize>>,
) -> Vec<Range<usize>> {
    let mut ranges = ranges.into_iter().peekable();
    let (mut found, mut at, mut raw_at) = (Vec::new(), 0, 0);
    let mut begun: Option<Range<usize>> = None;
    for unit in Units::new(raw, is_escaped) {
        let (length, raw_length) = match unit {
            Unit::Plain(text) => (text.len(), text.len()),
            Unit::Other(raw_length, c) => (c.map_or(0, char::len_utf8), raw_length),
        };
        while let Some(range) = ranges.peek().filter(|range| range.start < at + length) {
            let (begin, end) = (range.start.max(at), range.end.min(at + length));
            let part = match length == raw_length {
                true => raw_at + begin - at..raw_at + end - at,
                false => raw_at..raw_at + raw_length,
            };
            let start = begun.as_ref().map_or(part.start, |begun| begun.start);
            begun = Some(start..part.end);
            if range.end > at + length {
                break;
            }
            found.extend(begun.take());
            ranges.next();
        }
        (at, raw_at) = (at + length, raw_at + raw_length);
    }
    found.extend(begun);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bytes_stand_for() {
        let decoded = |raw: &[u8]| decode(raw, true).into_owned();
        assert_eq!(decoded(br#"a\n\"\/\\\u00e4\ud83d\ude00b"#), "a\n\"/\\\u{e4}\u{1f600}b");
        assert_eq!(decoded(br"\ud83d\u0041\ud83dx\x\u12"), "\u{fffd}A\u{fffd}x\\x\\u12");
        assert_eq!(decoded(b"a\xFF\xE2\x82b\\"), "a\u{fffd}\u{fffd}b\\");
        assert_eq!(decoded(b"a\0\\\0n\0\\\0u\x000\x000\0e\x004\0b\0"), "a\n\u{e4}b");
        assert_eq!(decode(br"a\n", false), r"a\n");
        assert!(matches!(decode("plain \u{e4}".as_bytes(), true), Cow::Borrowed(_)));
        // Every byte belongs to one unit.
        for raw in [&b"\\ud83d\\u00"[..], b"\\u", b"\\", b"\0\0", b"\xF0\x9F\\n\xFF\xFF"] {
            let lengths = Units::new(raw, true).map(|unit| match unit {
                Unit::Plain(text) => text.len(),
                Unit::Other(length, _) => length,
            });
            assert_eq!(lengths.sum::<usize>(), raw.len(), "{raw:?}");
        }
    }
}
