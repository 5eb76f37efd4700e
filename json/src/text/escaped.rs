//! [`EscapedText`]: a text in its escaped form, so that its lines are found without decoding it.

use std::{borrow::Cow, iter};

use memchr::memchr;

use super::{
    Form, Repr, Text,
    lines::{Lines, line_feed},
};
use crate::{
    Raw, count_line_feeds, decode_body,
    escapes::{has_code, strip_escape},
    string_body, unescape,
};

/// A text in the representation in which its lines are searched.
#[derive(Clone, Debug)]
pub enum EscapedText<'t> {
    /// The body of a JSON literal without `\u` codes: a line feed is `\n` in it, and most control characters do not
    /// occur.
    Escaped(&'t str),
    /// The decoded string.
    Plain(Cow<'t, str>),
}

impl<'t> EscapedText<'t> {
    /// The stored representation, if lines can be searched in it.
    pub fn of(text: &'t Text) -> Self {
        match text.form() {
            Form::Literal(literal) => Self::of_body(string_body(literal).unwrap_or_default()),
            Form::String(string) => Self::Plain(string.into()),
        }
    }

    /// Like `of`, for a value, if it is a string.
    pub fn of_raw(raw: Raw<'t>) -> Option<Self> {
        string_body(raw.get()).map(Self::of_body)
    }

    fn of_body(body: &'t str) -> Self {
        match has_code(body) {
            true => Self::Plain(unescape(body).into()),
            false => Self::Escaped(body),
        }
    }

    /// The text in this representation, as used for searching lines.
    pub fn get(&self) -> &str {
        match self {
            Self::Escaped(body) => body,
            Self::Plain(text) => text,
        }
    }

    /// A line feed in this representation.
    pub fn line_feed(&self) -> &'static str {
        line_feed(matches!(self, Self::Escaped(_)))
    }

    /// A part of it as a string. It must not begin or end within an escape.
    pub fn decode_part<'p>(&self, part: &'p str) -> Cow<'p, str> {
        match self {
            Self::Escaped(_) => decode_body(part),
            Self::Plain(_) => Cow::Borrowed(part),
        }
    }

    /// A text composed of parts of it, and of text that needs no escapes.
    #[allow(dead_code, reason = "used in a layer above")]
    pub fn text_of(&self, mut parts: String) -> Text {
        if let Self::Plain(_) = self {
            return Text::from(parts);
        }
        // In place, because they may be long.
        parts.reserve_exact(2);
        parts.insert(0, '"');
        parts.push('"');
        Text(Repr::Literal(parts.into()))
    }

    /// Whether a part of it ends with a line feed.
    pub fn ends_line(&self, part: &str) -> bool {
        match self {
            Self::Escaped(_) => strip_escape(part, b"\\n").is_some(),
            Self::Plain(_) => part.ends_with('\n'),
        }
    }

    /// A line without its line end.
    pub fn without_end<'p>(&self, line: &'p str) -> &'p str {
        match self {
            Self::Escaped(_) => strip_escape(line, b"\\n")
                .map_or(line, |line| strip_escape(line, b"\\r").unwrap_or(line)),
            Self::Plain(_) => line.lines().next().unwrap_or_default(),
        }
    }

    /// All lines in this representation, each with its line feed. The last one may have none.
    pub fn lines_with_ends(&self) -> impl Iterator<Item = &str> {
        let (mut rest, escaped) = (self.get(), matches!(self, Self::Escaped(_)));
        iter::from_fn(move || {
            let bytes = rest.as_bytes();
            let at = if escaped { find_line_feed(bytes) } else { memchr(b'\n', bytes) };
            let end = at.map(|at| at + line_feed(escaped).len());
            let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after;
            (!line.is_empty()).then_some(line)
        })
    }

    /// The decoded string.
    pub fn decode(&self) -> Cow<'_, str> {
        match self {
            Self::Escaped(body) => decode_body(body),
            Self::Plain(text) => Cow::Borrowed(text),
        }
    }

    /// The number of lines, including empty lines at the beginning and the end.
    pub fn count_all_lines(&self) -> usize {
        match self {
            Self::Escaped(body) => {
                let ended = strip_escape(body, b"\\n").is_some();
                count_line_feeds(body) + usize::from(!ended && !body.is_empty())
            }
            Self::Plain(text) => text.lines().count(),
        }
    }

    /// The lines, without empty lines at the beginning and the end.
    pub fn lines(&self) -> Lines<'_> {
        match self {
            Self::Escaped(body) => Lines::new(body, true),
            Self::Plain(text) => Lines::plain(text),
        }
    }
}

impl<'t> From<&'t str> for EscapedText<'t> {
    fn from(text: &'t str) -> Self {
        Self::Plain(text.into())
    }
}

impl<'t> From<&'t String> for EscapedText<'t> {
    fn from(text: &'t String) -> Self {
        Self::from(text.as_str())
    }
}

impl Default for EscapedText<'_> {
    fn default() -> Self {
        Self::from("")
    }
}

/// The first escaped line feed.
fn find_line_feed(body: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr(b'\\', body.get(from..)?)?;
        if body.get(at + 1) == Some(&b'n') {
            return Some(at);
        }
        from = at + 2;
    }
}
