//! [`View`]: a text as its reader sees it; [`encoded_words`]: text that is encoded as base64.

use std::{ops::Range, sync::LazyLock};

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use memchr::{memchr, memchr2};
use regex::Regex;

/// The minimum length of a joined string that is searched.
const LEAST: usize = 16;

/// The maximum indentation between two halves of a string.
const MOST_BLANK: usize = 40;

/// A text that was made from another, with the positions in the other.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) text: String,
    /// In ascending order.
    pieces: Vec<Stretch>,
}

/// The origin of a part of the text.
#[derive(Debug)]
struct Stretch {
    at: usize,
    origin: Range<usize>,
    /// Each byte has one byte of the origin; otherwise, the piece as a whole has the range.
    is_copy: bool,
}

impl View {
    /// The text without escapes of string literals (`\n`, `\u0041`, also if their backslashes are escaped again), and
    /// without control sequences of terminals, such as colours; `None` if it has none.
    pub(super) fn plain(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut view = Self::default();
        let (mut end, mut from) = (0, 0);
        while let Some(next) = memchr2(b'\\', 0x1b, bytes.get(from..).unwrap_or_default()) {
            let at = from + next;
            let (length, c) = escape(bytes.get(at..).unwrap_or_default());
            from = at + length;
            if c != Some('\\') {
                view.copy(text, end..at);
                c.into_iter().for_each(|c| view.put(c, at..from));
                end = from;
            }
        }
        if end == 0 {
            return None;
        }
        view.copy(text, end..text.len());
        Some(view)
    }

    /// The strings of the text that continue on the next line, without the line ends. Other text is left out.
    pub(super) fn joined(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut view = Self::default();
        let mut from = 0;
        while let Some(next) = memchr(b'\n', bytes.get(from..).unwrap_or_default()) {
            let mut line_end = from + next;
            let last = last_word(bytes, from, line_end);
            from = line_end + 1;
            if last.is_empty() || first_word(bytes, from).is_none() {
                continue;
            }
            let mut chain = vec![last];
            while let Some((word, next)) = first_word(bytes, line_end + 1) {
                from = word.end;
                chain.push(word);
                match next {
                    Some(next) => line_end = next,
                    None => break,
                }
            }
            if chain.len() > 1 && chain.iter().map(Range::len).sum::<usize>() >= LEAST {
                // A boundary.
                view.put(' ', from..from);
                chain.into_iter().for_each(|word| view.copy(text, word));
            }
        }
        (!view.text.is_empty()).then_some(view)
    }

    /// The range in the other text.
    pub(super) fn origin(&self, range: &Range<usize>) -> Range<usize> {
        let last = range.end.max(range.start + 1) - 1;
        let start = self.piece(range.start).map_or(0, |piece| match piece.is_copy {
            true => piece.origin.start + range.start - piece.at,
            false => piece.origin.start,
        });
        let end = self.piece(last).map_or(0, |piece| match piece.is_copy {
            true => piece.origin.start + last - piece.at + 1,
            false => piece.origin.end,
        });
        start..end.max(start)
    }

    /// The parts of a range that have different origins, such as different lines.
    pub(super) fn parts(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        let first = self.pieces.partition_point(|piece| piece.at <= range.start).saturating_sub(1);
        let pieces = self.pieces.get(first..).unwrap_or_default();
        let ends = pieces.iter().skip(1).map(|piece| piece.at).chain([self.text.len()]);
        let parts = pieces.iter().zip(ends).take_while(move |(piece, _)| piece.at < range.end);
        parts.filter_map(move |(piece, end)| {
            self.text.get(piece.at.max(range.start)..end.min(range.end))
        })
    }

    fn piece(&self, at: usize) -> Option<&Stretch> {
        self.pieces.get(self.pieces.partition_point(|piece| piece.at <= at).checked_sub(1)?)
    }

    fn copy(&mut self, text: &str, origin: Range<usize>) {
        let copied = text.get(origin.clone()).unwrap_or_default();
        if !copied.is_empty() {
            self.pieces.push(Stretch { at: self.text.len(), origin, is_copy: true });
            self.text.push_str(copied);
        }
    }

    fn put(&mut self, c: char, origin: Range<usize>) {
        self.pieces.push(Stretch { at: self.text.len(), origin, is_copy: false });
        self.text.push(c);
    }
}

/// Whether a byte may be part of a token.
fn is_of_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/_=-.".contains(byte)
}

/// The last word of a line, which may end with a carriage return or a backslash.
fn last_word(bytes: &[u8], begin: usize, end: usize) -> Range<usize> {
    let line = bytes.get(begin..end).unwrap_or_default();
    let behind = line.iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\\')).count();
    let word = line.iter().rev().skip(behind).take_while(|byte| is_of_token(byte)).count();
    end - behind - word..end - behind
}

/// The first word of a line; and the position of its line end, if it is also its last.
fn first_word(bytes: &[u8], begin: usize) -> Option<(Range<usize>, Option<usize>)> {
    let line = bytes.get(begin..)?;
    let blank = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let line = line.get(blank..)?;
    let length = line.iter().take_while(|byte| is_of_token(byte)).count();
    if length == 0 || blank > MOST_BLANK {
        return None;
    }
    let after = line.get(length..)?;
    let behind = after.iter().take_while(|byte| matches!(byte, b'\r' | b'\\')).count();
    let word = begin + blank..begin + blank + length;
    let line_end = word.end + behind;
    Some((word, (after.get(behind) == Some(&b'\n')).then_some(line_end)))
}

/// The length of the escape at the beginning, and its character; `None` for what is not visible. If it is not an
/// escape, the character is a backslash.
fn escape(bytes: &[u8]) -> (usize, Option<char>) {
    if bytes.first() == Some(&0x1b) {
        return (1 + sequence(bytes.get(1..).unwrap_or_default()), None);
    }
    let slashes = bytes.iter().take_while(|byte| **byte == b'\\').count();
    let (length, c) = match bytes.get(slashes..).unwrap_or_default() {
        [b'n', ..] => (1, '\n'),
        [b't', ..] => (1, '\t'),
        [b'r', ..] => (1, '\r'),
        [b'"', ..] => (1, '"'),
        [b'/', ..] => (1, '/'),
        [b'e', b'[', ..] => (1, '\x1b'),
        [b'0', b'3', b'3', b'[', ..] => (3, '\x1b'),
        [b'x', a, b, ..] => (3, hex(&[*a, *b]).unwrap_or('\\')),
        [b'u', a, b, c, d, ..] => (5, hex(&[*a, *b, *c, *d]).unwrap_or('\\')),
        _ => (0, '\\'),
    };
    match c {
        '\\' => (slashes, Some('\\')),
        '\x1b' => {
            let length = slashes + length;
            (length + sequence(bytes.get(length..).unwrap_or_default()), None)
        }
        c => (slashes + length, Some(c)),
    }
}

/// The character of hexadecimal digits.
fn hex(digits: &[u8]) -> Option<char> {
    let digits = std::str::from_utf8(digits).ok()?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// The length of the rest of a control sequence, after its escape character.
fn sequence(rest: &[u8]) -> usize {
    let [b'[', parameters @ ..] = rest else { return 0 };
    let is_parameter = |byte: &&u8| byte.is_ascii_digit() || b";:? ".contains(byte);
    let length = parameters.iter().take_while(is_parameter).count();
    match parameters.get(length) {
        Some(end) if end.is_ascii_alphabetic() => length + 2,
        _ => 1,
    }
}

/// The number of characters that are decoded to see whether a word is text.
const FIRST: usize = 16;

/// The words that are encoded text, with the text.
pub(super) fn encoded_words(text: &str) -> Vec<(Range<usize>, String)> {
    /// A word, also one that is broken into lines of a usual length.
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let line = |length| format!("[A-Za-z0-9+/]{{{length}}}\\r?\\n");
        let lines = format!("(?:{}|{}|{})+[A-Za-z0-9+/]*={{0,2}}", line(76), line(64), line(60));
        Regex::new(&format!("{lines}|[A-Za-z0-9+/_-]{{24,}}={{0,2}}")).ok()
    });
    let words = WORD.iter().flat_map(|word| word.find_iter(text));
    words.filter_map(|word| Some((word.range(), decoded(word.as_str())?))).collect()
}

/// Whether a word is the encoding of several words.
pub(super) fn is_encoded_prose(word: &str) -> bool {
    decoded(word).is_some_and(|text| text.split(' ').count() > 2)
}

/// The text of a word; `None` if it is not text.
fn decoded(word: &str) -> Option<String> {
    let first = bytes(word.as_bytes().get(..FIRST)?)?;
    if !first.iter().all(|byte| matches!(byte, b'\n' | b'\r' | b'\t' | 0x20..=0x7e | 0x80..)) {
        return None;
    }
    let word: Vec<u8> = word.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    String::from_utf8(bytes(&word)?).ok()
}

/// The bytes of a word, in either alphabet, with or without padding.
fn bytes(word: &[u8]) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let is_url_safe = word.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let alphabet = if is_url_safe { &URL_SAFE } else { &STANDARD };
    GeneralPurpose::new(alphabet, config).decode(word).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, view: Option<View>, expected: Option<&str>) {
        assert_eq!(view.as_ref().map(|view| &*view.text), expected, "{text}");
        let view = view.unwrap_or_default();
        for (at, c) in view.text.char_indices().filter(|(_, c)| c.is_ascii_alphanumeric()) {
            let origin = view.origin(&(at..at + 1));
            assert!(text[origin].contains(c) || text.contains("\\u"), "{text}: {at}");
        }
    }

    #[test]
    fn escapes_and_colours_are_not_seen() {
        for (text, expected) in [
            ("plain", None),
            (r"C:\Users\Ada\", None),
            (r"a\nb", Some("a\nb")),
            (r#"a\\\"b\\n"#, Some("a\"b\n")),
            (r"\u0041\x42\u00e4!", Some("AB\u{e4}!")),
            ("a\x1b[1;31mb\x1b[0mc\x1b", Some("abc")),
            (r"a\u001b[31mb\033[mc\x1b[Kd\e[0me", Some("abcde")),
            (r"a\u12", None),
        ] {
            check(text, View::plain(text), expected);
        }
        let view = View::plain("ab\x1b[1mcd").unwrap();
        assert_eq!(view.origin(&(1..3)), 1..7);
        assert_eq!(view.parts(1..3).collect::<Vec<_>>(), ["b", "c"]);
    }

    #[test]
    fn broken_strings_are_joined() {
        for (text, expected) in [
            ("short\nwords\n", None),
            ("is ghp_0123456789\r\n  abcdef, and", Some(" ghp_0123456789abcdef")),
            ("x=0123456789\\\nabc\ndefghi\n\nx", Some(" x=0123456789abcdefghi")),
            ("0123456789012345\n", None),
            ("a\n0123456789012345 b\nc", Some(" a0123456789012345")),
        ] {
            check(text, View::joined(text), expected);
        }
    }
}
