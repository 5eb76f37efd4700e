//! [`SafeText`]: text that is safe for a terminal, and the only way for a log's text to get there.

use std::{fmt::Write, iter};

use foldline_domain::{EscapedText, Lines, Text};
use memchr::memchr;

use super::{
    row::Ink,
    wrap::{TAB, clipped, columns, width},
};
use crate::terminal::{
    FIRST_LETTER, LAST_LETTER, is_harmless_in_line, is_printable, neutralise, neutralise_line,
    printable_len,
};

/// Text that is safe for a terminal. All text added to it is neutralised, or already was.
#[derive(Clone, Debug, Default)]
pub(super) struct SafeText(String);

/// A part of one line of such a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'t>(&'t str);

impl SafeText {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// The lines of a text with their tabs expanded.
    pub(super) fn of_text(text: &Text) -> Self {
        Self::of_lines(EscapedText::of(text).lines())
    }

    /// Lines with their tabs expanded.
    pub(super) fn of_lines(lines: Lines<'_>) -> Self {
        let mut shown = Self::with_capacity(lines.size() + 2 * TAB);
        for line in lines {
            // The first line is not empty.
            if !shown.0.is_empty() {
                shown.end_line();
            }
            shown.push_line(&line, usize::MAX);
        }
        shown
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Appends a text that must stay on its line. Returns its number of columns.
    pub(super) fn push(&mut self, text: &str) -> usize {
        if is_printable(text) {
            self.0.push_str(text);
            return text.len();
        }
        let columns = |sum, c| is_harmless_in_line(c).then(|| sum + columns(c));
        if let Some(columns) = text.chars().try_fold(0, columns) {
            self.0.push_str(text);
            return columns;
        }
        let text = neutralise_line(text);
        self.0.push_str(&text);
        width(&text)
    }

    /// Appends a line with expanded tabs, and with `…` if it is truncated.
    pub(super) fn push_line(&mut self, line: &str, room: usize) {
        let start = self.0.len();
        if self.push_latin(line, room).is_none() {
            self.0.truncate(start);
            self.push_any(line);
            self.clip(start, room);
        }
    }

    /// Appends a line of Latin letters and the like, which have one column each, in one pass. `None` if the line
    /// contains other characters.
    fn push_latin(&mut self, line: &str, room: usize) -> Option<()> {
        let start = self.0.len();
        let mut left = room;
        let mut rest = line;
        loop {
            let (run, after) = rest.split_at(printable_len(rest, left));
            self.0.push_str(run);
            left -= run.len();
            let mut chars = after.chars();
            let (c, columns) = match chars.next() {
                None => return Some(()),
                Some(c @ '\t') => (c, TAB - (room - left) % TAB),
                Some(c @ (' '..='~' | FIRST_LETTER..=LAST_LETTER)) => (c, 1),
                Some(_) => return None,
            };
            if columns > left {
                self.pad(left);
                if self.0.len() > start {
                    self.0.pop();
                }
                self.0.push('…');
                return Some(());
            }
            match c {
                '\t' => self.pad(columns),
                _ => self.0.push(c),
            }
            left -= columns;
            rest = chars.as_str();
        }
    }

    /// Appends any line.
    fn push_any(&mut self, line: &str) {
        let line = neutralise(line);
        let mut column = 0;
        for (number, part) in line.split('\t').enumerate() {
            if number > 0 {
                let spaces = TAB - column % TAB;
                self.pad(spaces);
                column += spaces;
            }
            self.0.push_str(part);
            column += width(part);
        }
    }

    /// Truncates the text from `start` on, if it is too long.
    fn clip(&mut self, start: usize, room: usize) {
        let text = self.0.get(start..).unwrap_or_default();
        if let Some(kept) = clipped(text, room) {
            self.0.truncate(start + kept.len());
            self.0.push('…');
        }
    }

    /// Adds spaces.
    pub(super) fn pad(&mut self, spaces: usize) {
        const SPACES: &str = "                ";
        match SPACES.get(..spaces) {
            Some(spaces) => self.0.push_str(spaces),
            None => self.0.extend(iter::repeat_n(' ', spaces)),
        }
    }

    /// Ends a line.
    pub(super) fn end_line(&mut self) {
        self.0.push('\n');
    }

    pub(super) fn append(&mut self, piece: Piece<'_>) {
        self.0.push_str(piece.0);
    }

    /// Appends the output of `write`, in colour.
    pub(super) fn paint<T>(&mut self, ink: Ink, write: impl FnOnce(&mut Self) -> T) -> T {
        let style = ink.style();
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{}", style.render());
        let written = write(self);
        let _ = write!(self.0, "{}", style.render_reset());
        written
    }

    pub(super) fn truncate(&mut self, bytes: usize) {
        self.0.truncate(bytes);
    }

    /// Removes trailing white space, down to `start`.
    pub(super) fn trim_end(&mut self, start: usize) {
        let kept = self.0.get(start..).unwrap_or_default().trim_end().len();
        self.0.truncate(start + kept);
    }

    /// The lines; none if there is no text.
    pub(super) fn lines(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut rest = Some(&*self.0).filter(|text| !text.is_empty());
        iter::from_fn(move || {
            let text = rest?;
            let end = memchr(b'\n', text.as_bytes());
            rest = end.and_then(|end| text.get(end + 1..));
            text.get(..end.unwrap_or(text.len())).map(Piece)
        })
    }

    /// A part of the text of one line.
    pub(super) fn piece(&self, start: usize, end: usize) -> Piece<'_> {
        Piece(self.0.get(start..end).unwrap_or_default())
    }

    /// The whole text on one line.
    pub(super) fn joined(&self) -> Self {
        Self(self.0.replace('\n', " "))
    }

    /// The whole text, which has one line.
    pub(super) fn whole(&self) -> Piece<'_> {
        Piece(&self.0)
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

impl<'t> Piece<'t> {
    pub(super) const EMPTY: Self = Self("");

    /// Text of this program needs no neutralising.
    pub(super) const fn of_ours(text: &'static str) -> Self {
        Self(text)
    }

    pub(super) fn as_str(self) -> &'t str {
        self.0
    }

    pub(super) fn split_at(self, at: usize) -> (Self, Self) {
        let (before, after) = self.0.split_at(at);
        (Self(before), Self(after))
    }

    pub(super) fn trim_end(self) -> Self {
        Self(self.0.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn line(line: &str, room: usize) -> String {
        let mut shown = SafeText::default();
        shown.push_line(line, room);
        shown.into_string()
    }

    #[test]
    fn tabs_go_to_the_next_stop() {
        assert_eq!(line("\ta\tb", 80), "    a   b");
        assert_eq!(line("é\t中\tb", 80), "é   中  b");
        assert_eq!(line("a\tb", 3), "a …");
    }

    #[test]
    fn a_text_is_shown_line_by_line() {
        assert_eq!(
            SafeText::of_text(&"\n \n\ta\x1b\r\n\nb \n".into()).into_string(),
            "    a␛\n\nb"
        );
        assert_eq!(SafeText::of_text(&" \n ".into()).lines().count(), 0);
    }

    proptest! {
        #[test]
        fn lines_fit_and_are_neutralised(text in "(\\PC|[a-z ]{1,8}|é|\t|\x1b|中|\u{200d}){0,40}", room in 1usize..60) {
            let shown = line(&text, room);
            prop_assert!(shown.width() <= room && width(&shown) <= room, "{:?}", shown);
            prop_assert_eq!(neutralise_line(&shown), shown.as_str());
        }

        /// The fast path for most lines and the general path give the same result.
        #[test]
        fn latin_lines_are_shown_as_others_are(text in "([a-c ]{1,20}|é|\t|\u{c0}|\u{2ff}){0,20}", room in 0usize..60) {
            let (mut latin, mut any) = (SafeText::default(), SafeText::default());
            prop_assert_eq!(latin.push_latin(&text, room), Some(()));
            any.push_any(&text);
            any.clip(0, room);
            prop_assert_eq!(latin.0, any.0);
        }
    }
}
