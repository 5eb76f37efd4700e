//! [`Lines`]: the lines of a text, found without decoding it.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use crate::{count_line_feeds, decode_body, escapes::strip_escape, scan::is_escaped};

/// The lines of a text, from both ends, without empty lines at its beginning and end.
///
/// Transcripts show the first and the last lines of a long output and count the others: only shown lines are decoded.
#[derive(Clone, Debug)]
pub struct Lines<'t> {
    rest: Option<&'t str>,
    escaped: bool,
}

impl<'t> Lines<'t> {
    /// The lines of a decoded string.
    pub fn plain(text: &'t str) -> Self {
        Self::new(text, false)
    }

    pub(super) fn new(text: &'t str, escaped: bool) -> Self {
        let text = if escaped { trim_end(text) } else { text.trim_end() };
        let inner = if escaped { trim_start(text) } else { text.trim_start() };
        let (space, _) = text.split_at(text.len() - inner.len());
        let line_feed = line_feed(escaped);
        // The indent of the first line is part of it.
        let start = match space {
            "" => 0,
            space => space.rfind(line_feed).map_or(0, |at| at + line_feed.len()),
        };
        Self { rest: text.get(start..).filter(|text| !text.is_empty()), escaped }
    }

    /// An upper bound of their total size in bytes.
    pub fn size(&self) -> usize {
        self.rest.map_or(0, str::len)
    }

    /// Whether there are at least two.
    pub fn has_two(&self) -> bool {
        self.rest.is_some_and(|text| self.breaks(text).next().is_some())
    }

    /// The positions of the line feeds of `text`.
    fn breaks(&self, text: &'t str) -> impl DoubleEndedIterator<Item = usize> + use<'t> {
        let escaped = self.escaped;
        let breaks = memchr_iter(if escaped { b'\\' } else { b'\n' }, text.as_bytes());
        breaks.filter(move |at| !escaped || is_line_feed(text, *at))
    }

    /// The line before a line feed, decoded.
    fn line(&self, line: &'t str) -> Cow<'t, str> {
        if self.escaped {
            decode_body(strip_escape(line, b"\\r").unwrap_or(line))
        } else {
            Cow::Borrowed(line.strip_suffix('\r').unwrap_or(line))
        }
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = Cow<'t, str>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.rest?;
        if self.escaped
            && let Some(at) = memchr(b'\\', text.as_bytes())
            && text.as_bytes().get(at + 1) == Some(&b'n')
        {
            // Most lines have no escape except their line feed, and need not be scanned again.
            self.rest = text.get(at + line_feed(true).len()..);
            return text.get(..at).map(Cow::Borrowed);
        }
        let (line, rest) = match self.breaks(text).next() {
            Some(at) => (text.get(..at)?, text.get(at + line_feed(self.escaped).len()..)),
            None => (text, None),
        };
        self.rest = rest;
        Some(self.line(line))
    }

    fn count(self) -> usize {
        match self.rest {
            Some(text) if self.escaped => 1 + count_line_feeds(text),
            Some(text) => 1 + memchr_iter(b'\n', text.as_bytes()).count(),
            None => 0,
        }
    }
}

impl DoubleEndedIterator for Lines<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let text = self.rest?;
        let (rest, line) = match self.breaks(text).next_back() {
            Some(at) => (text.get(..at), text.get(at + line_feed(self.escaped).len()..)?),
            None => (None, text),
        };
        self.rest = rest;
        Some(self.line(line))
    }
}

pub(super) const fn line_feed(escaped: bool) -> &'static str {
    if escaped { "\\n" } else { "\n" }
}

/// Whether the backslash at `at` begins an escaped line feed.
fn is_line_feed(body: &str, at: usize) -> bool {
    body.as_bytes().get(at + 1) == Some(&b'n') && !is_escaped(body.as_bytes(), at)
}

/// White space with a short escape.
const SPACES: [&[u8; 2]; 4] = [b"\\n", b"\\r", b"\\t", b"\\f"];

fn trim_start(mut body: &str) -> &str {
    loop {
        body = body.trim_start();
        match body.as_bytes().first_chunk() {
            Some(escape) if SPACES.contains(&escape) => body = &body[escape.len()..],
            _ => return body,
        }
    }
}

fn trim_end(mut body: &str) -> &str {
    loop {
        body = body.trim_end();
        match SPACES.iter().find_map(|space| strip_escape(body, space)) {
            Some(rest) => body = rest,
            None => return body,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{EscapedText, Text};
    use super::*;

    /// A simple and slow reference implementation.
    fn plain_lines(text: &str) -> Vec<&str> {
        let lines: Vec<_> = text.trim_end().lines().collect();
        let is_blank = |line: &&str| line.trim().is_empty();
        let blank = lines.iter().take_while(|line| is_blank(line)).count();
        lines[blank..].to_vec()
    }

    /// Pieces of a literal whose combinations are worth testing.
    fn literals() -> impl Strategy<Value = String> {
        let pieces = [
            "a",
            "n",
            "r",
            "b",
            "é",
            " ",
            "\u{a0}",
            "\u{2028}",
            "\\n",
            "\\n",
            "\\r\\n",
            "\\r",
            "\\t",
            "\\f",
            "\\b",
            "\\\\",
            "\\\\n",
            "\\\\r",
            "\\\"",
            "\\/",
            "\\u000a",
            "\\u000A",
            "\\u0020",
            "\\u001b[0m",
            "\\ud83d\\ude00",
        ];
        // Most literals have no `\\u` escapes; literals with one are decoded as a whole.
        let piece = |most: usize| prop::sample::select(pieces[..most].to_vec());
        prop_oneof![
            3 => prop::collection::vec(piece(20), 0..24),
            1 => prop::collection::vec(piece(pieces.len()), 0..24),
            // Longer than a block of the counter.
            1 => prop::collection::vec(piece(20), 100..400),
        ]
        .prop_map(|pieces| format!("\"{}\"", pieces.concat()))
    }

    #[test]
    fn blank_ends_are_left_out_and_indents_stay() {
        let text: Text = serde_json::from_str(r#"" \n\t\n  a\\n\r\n\nb \\\n \u00a0""#).unwrap();
        let lines: Vec<_> = EscapedText::of(&text).lines().map(Cow::into_owned).collect();
        assert_eq!(lines, ["  a\\n", "", "b \\"]);
    }

    proptest! {
        #[test]
        fn the_spelling_makes_no_difference(literal in literals()) {
            let text: Text = serde_json::from_str(&literal).unwrap();
            let string: String = serde_json::from_str(&literal).unwrap();
            let expected = plain_lines(&string);
            let spellings = [EscapedText::of(&text), EscapedText::Plain(string.as_str().into())];
            for spelling in &spellings {
                prop_assert_eq!(&*spelling.decode(), &string);
                prop_assert_eq!(spelling.count_all_lines(), string.lines().count());
                let lines: Vec<_> = spelling.lines_with_ends().map(|line| spelling.decode_part(line)).collect();
                prop_assert_eq!(lines, string.split_inclusive('\n').collect::<Vec<_>>());
                let lines = spelling.lines_with_ends().map(|line| spelling.decode_part(spelling.without_end(line)));
                prop_assert_eq!(lines.collect::<Vec<_>>(), string.lines().collect::<Vec<_>>());
                prop_assert_eq!(&spelling.text_of(spelling.get().to_owned()), &text);
                prop_assert_eq!(spelling.lines().count(), expected.len());
                prop_assert_eq!(spelling.lines().has_two(), expected.len() > 1);
                prop_assert_eq!(spelling.lines().collect::<Vec<_>>(), expected.clone());
                let mut last: Vec<_> = spelling.lines().rev().collect();
                last.reverse();
                prop_assert_eq!(last, expected.clone());
            }
        }

        #[test]
        fn the_ends_meet(literal in literals(), front in prop::collection::vec(any::<bool>(), 0..24)) {
            let text: Text = serde_json::from_str(&literal).unwrap();
            let spelling = EscapedText::of(&text);
            let mut lines = spelling.lines();
            let mut left = lines.clone().count();
            for front in front {
                let line = if front { lines.next() } else { lines.next_back() };
                prop_assert_eq!(line.is_some(), left > 0);
                left = left.saturating_sub(1);
                prop_assert_eq!(lines.clone().count(), left);
            }
        }
    }
}
