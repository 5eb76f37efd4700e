//! [`Masker`]: masks secrets in raw lines of a log.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use memchr::{memchr, memchr2_iter};

use super::{
    find::{Finder, Hints},
    rules::HOME,
    strings::Literal,
    units::{Unit, Units, decode},
};

/// The minimum length of a secret.
const LEAST: usize = 6;

/// The number of bytes before a string that may name its content.
const CONTEXT: usize = 80;

/// The maximum nesting of JSON in strings that is searched.
const DEPTH: usize = 4;

/// The maximum number of passes over a text until nothing more is found.
const PASSES: usize = 8;

/// Masks secrets in the lines of a log: each of their bytes becomes a `*`. It finds the same secrets as
/// [`Redact`](super::Redact), with the same rules, and in JSON that is embedded in a string, the secrets in its
/// strings.
///
/// - A line keeps its length, so positions in the log stay valid.
/// - JSON keeps its structure: only the contents of strings are masked, and quotes stay. A line, or a part of a line,
///   that is not JSON is masked as text.
/// - Masking a line does not depend on earlier lines, and masking it again changes nothing. A secret that an agent
///   writes in several lines, such as pieces of a growing text, is therefore not found.
/// - Of a home directory, only the user name is masked: `/home/***/notes`.
/// - Ids stay, so that results can be matched to their calls: the values of fields whose names end in `id` (or `Ids`,
///   `_ID`, ...) are not tested for randomness.
/// - Invalid UTF-8 is harmless. In UTF-16 text, ASCII secrets are found.
///
/// ```
/// use foldline::emitters::redact::Masker;
///
/// let mut masker = Masker::new();
/// let mut line = br#"{"id":7,"text":"ask ada@example.org,\nsee /home/ada/notes","password":"hunter22"}"#.to_vec();
/// masker.mask(&mut line);
/// assert_eq!(
///     String::from_utf8_lossy(&line),
///     r#"{"id":7,"text":"ask ***************,\nsee /home/***/notes","password":"********"}"#
/// );
/// assert_eq!(masker.masked().collect::<Vec<_>>(), [("email", 1), ("home-folder", 1), ("password", 1)]);
/// ```
#[derive(Clone, Debug)]
pub struct Masker {
    finder: Finder,
    counts: BTreeMap<&'static str, u64>,
}

/// The context of a text.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The text before it, which may name it.
    context: &'a [u8],
    /// It is the content of a string.
    is_string: bool,
    is_id: bool,
    /// The number of enclosing strings.
    depth: usize,
}

impl Default for Masker {
    fn default() -> Self {
        Self::new()
    }
}

impl Masker {
    /// A masker without counts. Creating one takes some milliseconds.
    pub fn new() -> Self {
        Self { finder: Finder::new(), counts: BTreeMap::new() }
    }

    /// Masks the secrets in a line, with or without its line end.
    pub fn mask(&mut self, line: &mut [u8]) {
        let hints = match memchr(0, line) {
            None => self.finder.hints(line),
            Some(_) => self.finder.hints(decode(line, false).as_bytes()),
        };
        self.line(line, hints, 0);
    }

    /// The number of masked strings of each kind, sorted by kind.
    pub fn masked(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }

    fn line(&mut self, line: &mut [u8], hints: Hints, depth: usize) {
        if hints.is_none() && !may_hide(line, true) {
            return;
        }
        let (mut end, mut field, mut is_id) = (0, None, false);
        while let Some(literal) = Literal::next(line, end) {
            self.gap(line, end..literal.range.start, hints);
            let body = literal.body();
            let names = field.take().unwrap_or(end).max(body.start.saturating_sub(CONTEXT));
            if literal.is_field {
                (field, is_id) = (Some(literal.range.start), false);
            }
            let (before, rest) = line.split_at_mut(body.start);
            let context = before.get(names..).unwrap_or_default();
            let raw = rest.get_mut(..body.len()).unwrap_or_default();
            self.text(raw, Place { context, is_string: true, is_id, depth }, hints);
            is_id |= literal.is_field && names_id(&decode(raw, true));
            end = literal.range.end;
        }
        self.gap(line, end..line.len(), hints);
    }

    /// Masks the text between strings unless it is JSON.
    fn gap(&mut self, line: &mut [u8], range: Range<usize>, hints: Hints) {
        let raw = line.get_mut(range).unwrap_or_default();
        if raw.len() >= LEAST && !is_structure(raw) {
            let place = Place { context: b"", is_string: false, is_id: false, depth: 0 };
            self.text(raw, place, hints);
        }
    }

    fn text(&mut self, raw: &mut [u8], place: Place<'_>, hints: Hints) {
        if raw.len() < LEAST {
            return;
        }
        let is_hiding = may_hide(raw, place.is_string);
        if hints.is_none() && !is_hiding {
            return;
        }
        let text = decode(raw, place.is_string);
        let hints = match is_hiding {
            true => hints.or(self.finder.hints(text.as_bytes())),
            false => hints,
        };
        let is_same = matches!(text, Cow::Borrowed(_));
        let is_json = text.trim_start().starts_with(['{', '[']);
        let mut secrets = match place.is_string && is_json && place.depth < DEPTH {
            true => self.nested(&text, place, hints),
            false => self.plain(text, place, hints),
        };
        if !secrets.is_empty() {
            if !is_same {
                secrets = raw_ranges(raw, place.is_string, secrets);
            }
            secrets.into_iter().for_each(|secret| cover(raw.get_mut(secret)));
        }
    }

    /// The ranges of secrets in text that itself looks like JSON.
    fn nested(&mut self, text: &str, place: Place<'_>, hints: Hints) -> Vec<Range<usize>> {
        let mut masked = text.as_bytes().to_vec();
        self.line(&mut masked, hints, place.depth + 1);
        let mut secrets: Vec<Range<usize>> = Vec::new();
        let changed = masked.iter().zip(text.as_bytes()).enumerate();
        for (at, _) in changed.filter(|(_, (masked, byte))| masked != byte) {
            match secrets.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => secrets.push(at..at + 1),
            }
        }
        secrets
    }

    /// The ranges of secrets in text.
    fn plain(
        &mut self,
        mut text: Cow<'_, str>,
        place: Place<'_>,
        hints: Hints,
    ) -> Vec<Range<usize>> {
        let named = match place.context.is_empty() {
            true => Hints::default(),
            false => self.finder.named(hints),
        };
        let context = if named.is_none() { "".into() } else { decode(place.context, false) };
        let mut secrets = Vec::new();
        // Masking may reveal the beginning of another secret.
        for _ in 0..PASSES {
            let known = secrets.len();
            let Self { finder, counts } = self;
            let mut mask = |text: &mut Cow<'_, str>, kind, ranges: &[Range<usize>], from: usize| {
                for range in ranges.iter().filter(|range| range.start >= from) {
                    let Some(secret) = text.get(range.clone()) else { continue };
                    let range = match kind {
                        HOME => range.start + name_in(secret)..range.end,
                        _ => range.clone(),
                    };
                    if text.as_bytes().get(range.clone()).is_none_or(is_masked) {
                        continue;
                    }
                    *counts.entry(kind).or_default() += 1;
                    text.to_mut().replace_range(range.clone(), &"*".repeat(range.len()));
                    secrets.push(range.start - from..range.end - from);
                }
            };
            finder.each(&mut text, hints, place.is_id, |text, kind, ranges| {
                mask(text, kind, ranges, 0);
            });
            if !named.is_none() {
                let mut whole = Cow::Owned(format!("{context}{text}"));
                finder.each(&mut whole, named, true, |text, kind, ranges| {
                    mask(text, kind, ranges, context.len());
                });
                text = whole.get(context.len()..).unwrap_or_default().to_owned().into();
            }
            if secrets.len() == known {
                break;
            }
        }
        secrets
    }
}

fn is_masked(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == b'*')
}

/// The offset of the user name in a home directory.
fn name_in(folder: &str) -> usize {
    let end = folder.rfind(['/', '\\']).or_else(|| folder.rfind('-'));
    end.map_or(0, |end| end + 1)
}

/// Whether a field of this name contains an id, or several.
fn names_id(name: &str) -> bool {
    let name = name.strip_suffix('s').unwrap_or(name).as_bytes();
    name.last_chunk().is_some_and(|end: &[u8; 2]| end.eq_ignore_ascii_case(b"id"))
}

/// Whether the text may contain something that its raw bytes do not: through unnecessary escapes, or in UTF-16.
fn may_hide(raw: &[u8], is_string: bool) -> bool {
    memchr2_iter(0, b'\\', raw).any(|at| match raw.get(at..) {
        Some([b'\\', b'u' | b'/', ..]) => is_string,
        Some([0, ..]) => true,
        _ => false,
    })
}

/// Whether this consists of JSON syntax between strings.
fn is_structure(gap: &[u8]) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_whitespace() || b"{}[]:,\0".contains(byte);
    let is_number = |word: &[u8]| {
        word.first().is_some_and(|first| first.is_ascii_digit() || *first == b'-')
            && word.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
    };
    gap.split(is_sign).all(|word| {
        word.is_empty() || matches!(word, b"true" | b"false" | b"null") || is_number(word)
    })
}

/// The ranges in the raw bytes that correspond to ranges in the text.
fn raw_ranges(raw: &[u8], is_string: bool, mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut ranges = ranges.into_iter().peekable();
    let (mut found, mut at, mut raw_at) = (Vec::new(), 0, 0);
    for unit in Units::new(raw, is_string) {
        let (length, raw_length) = match unit {
            Unit::Plain(text) => (text.len(), text.len()),
            Unit::Other(raw_length, c) => (c.map_or(0, char::len_utf8), raw_length),
        };
        while let Some(range) = ranges.peek_mut().filter(|range| range.start < at + length) {
            let (begin, end) = (range.start.max(at), range.end.min(at + length));
            if begin < end {
                found.push(match length == raw_length {
                    true => raw_at + begin - at..raw_at + end - at,
                    false => raw_at..raw_at + raw_length,
                });
            }
            if range.end > at + length {
                range.start = at + length;
                break;
            }
            ranges.next();
        }
        (at, raw_at) = (at + length, raw_at + raw_length);
    }
    found
}

/// Masks bytes, except those that may be a line end or half of one.
fn cover(bytes: Option<&mut [u8]>) {
    let bytes = bytes.into_iter().flatten();
    for byte in bytes.filter(|byte| !matches!(**byte, b'\n' | b'\r' | 0)) {
        *byte = b'*';
    }
}
