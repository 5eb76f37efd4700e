//! Wraps text into rows, by the number of terminal columns of each character.

use std::{borrow::Cow, iter};

use unicode_width::UnicodeWidthChar;

use super::safe_text::{Piece, SafeText};
use crate::terminal::{EMOJI_PRESENTATION, FIRST_LETTER, LAST_LETTER, is_latin, printable_len};

/// A row: a part of a line, and its hanging indent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrapped<'t> {
    pub(super) hanging: usize,
    pub(super) text: Piece<'t>,
}

impl Wrapped<'_> {
    pub(super) const EMPTY: Self = Self { hanging: 0, text: Piece::EMPTY };

    pub(super) fn width(self) -> usize {
        self.hanging + width(self.text.as_str())
    }

    pub(super) fn fits(self, room: usize) -> bool {
        // No text has more columns than bytes.
        self.hanging + self.text.as_str().len() <= room || self.width() <= room
    }

    pub(super) fn push_to(self, shown: &mut SafeText) {
        shown.pad(self.hanging);
        shown.append(self.text);
    }
}

/// Wraps a message: line breaks and indents stay, long lines are wrapped at words, and at the edge in code blocks
/// (between lines of ```` ``` ```` or `~~~`).
pub(super) fn wrap(text: &SafeText, room: usize) -> Vec<Wrapped<'_>> {
    let mut rows = Vec::with_capacity(16);
    let mut fence = None;
    for line in text.lines() {
        let mark = fence_mark(line.as_str());
        if fence.is_some() || mark.is_some() {
            rows.extend(hard_wrap(line, room));
        } else {
            rows.extend(wrap_line(line, room));
        }
        match (fence, mark) {
            (None, _) => fence = mark,
            (Some(_), _) if mark == fence => fence = None,
            _ => {}
        }
    }
    rows
}

/// Wraps one line at words; further rows are aligned with the text of the first row.
pub(super) fn wrap_line(line: Piece<'_>, room: usize) -> impl Iterator<Item = Wrapped<'_>> {
    pieces(line, room, move || hanging_indent(line.as_str()).min(room / 2), soft_end)
}

/// Wraps one line at the edge.
pub(super) fn hard_wrap(line: Piece<'_>, room: usize) -> impl Iterator<Item = Wrapped<'_>> {
    pieces(line, room, || 0, hard_end)
}

fn pieces<'t>(
    line: Piece<'t>,
    room: usize,
    indent: impl Fn() -> usize,
    end: fn(&str, usize) -> usize,
) -> impl Iterator<Item = Wrapped<'t>> {
    let mut rest = Some(line);
    let mut hanging = 0;
    iter::from_fn(move || {
        let line = rest?;
        if line.as_str().len() <= room - hanging {
            // No text has more columns than bytes: most lines fit.
            rest = None;
            return Some(Wrapped { hanging, text: line.trim_end() });
        }
        let (row, after) = line.split_at(match end(line.as_str(), room - hanging) {
            // Not even one character fits: it is shown nevertheless.
            0 => line.as_str().chars().next().map_or(0, char::len_utf8),
            end => end,
        });
        let row = Wrapped { hanging, text: row.trim_end() };
        rest = Some(after).filter(|after| !after.trim_end().as_str().is_empty());
        hanging = if rest.is_some() { indent() } else { 0 };
        Some(row)
    })
}

/// The end of a row that is wrapped at a word, or at a wide character, whose scripts have no spaces.
pub(super) fn soft_end(line: &str, room: usize) -> usize {
    let text = line.len() - line.trim_start().len();
    if let Some(end) = latin_end(line, room) {
        // Spaces may extend beyond the edge.
        let (row, after) = line.split_at(end);
        let after = after.trim_start_matches(' ');
        if after.is_empty() {
            return line.len();
        }
        let end = line.len() - after.len();
        let row = line.get(..end).unwrap_or(row);
        return row.rfind(' ').filter(|space| *space > text).map_or(end, |space| space + 1);
    }
    let mut column = 0;
    let mut word = None;
    for (at, c) in line.char_indices() {
        let wide = columns(c) == 2;
        if wide && at > text {
            word = Some(at);
        }
        column += columns(c);
        if column > room && c != ' ' {
            return word.unwrap_or(at);
        }
        if wide || (c == ' ' && at > text) {
            word = Some(at + c.len_utf8());
        }
    }
    line.len()
}

/// The indent of the text of a line, including a bullet or a number.
fn hanging_indent(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let bullet = matches!(text.as_bytes(), [b'-' | b'*' | b'+' | b'>', b' ', ..]);
    let marker = match text.get(digits..digits + 2) {
        Some(". " | ") ") if (1..=3).contains(&digits) => digits + 2,
        _ if bullet || text.starts_with("• ") => 2,
        _ => 0,
    };
    line.len() - text.len() + marker
}

fn fence_mark(line: &str) -> Option<char> {
    let line = line.trim_start();
    match line.get(..3) {
        Some("```") => Some('`'),
        Some("~~~") => Some('~'),
        _ => None,
    }
}

pub(super) const TAB: usize = 4;

/// The number of columns of a character, rather too many than too few.
pub(super) fn columns(c: char) -> usize {
    match c {
        // Makes the previous character wide.
        EMOJI_PRESENTATION => 1,
        // The characters of most text need no look-up.
        ' '..='~' | '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' => 1,
        _ => c.width().unwrap_or(0),
    }
}

/// The number of columns of a text on one line.
pub(super) fn width(text: &str) -> usize {
    // One column per character.
    if is_latin(text) { text.chars().count() } else { text.chars().map(columns).sum() }
}

/// The first columns of a line, with `…` if it was truncated.
pub(super) fn clip(line: &str, room: usize) -> Cow<'_, str> {
    clipped(line, room).map_or(Cow::Borrowed(line), |kept| Cow::Owned(format!("{kept}…")))
}

/// The text before the `…` of a line that does not fit.
pub(super) fn clipped(line: &str, room: usize) -> Option<&str> {
    // Most lines are short, and none has more columns than bytes.
    let fits = line.len() <= room || hard_end(line, room) == line.len();
    (!fits).then(|| beginning(line, room.saturating_sub(1)))
}

/// The longest prefix of a line that fits.
pub(super) fn beginning(line: &str, room: usize) -> &str {
    line.split_at(hard_end(line, room)).0
}

/// The end of a full row.
pub(super) fn hard_end(line: &str, room: usize) -> usize {
    if let Some(end) = latin_end(line, room) {
        return end;
    }
    let mut column = 0;
    for (at, c) in line.char_indices() {
        column += columns(c);
        if column > room {
            return at;
        }
    }
    line.len()
}

/// Like `hard_end`, for a row that contains only Latin letters and the like, which have one column each.
pub(super) fn latin_end(line: &str, room: usize) -> Option<usize> {
    let (mut end, mut left) = (0, room);
    loop {
        let rest = line.get(end..)?;
        let run = printable_len(rest, left);
        end += run;
        left -= run;
        match line.get(end..)?.chars().next() {
            Some(letter @ FIRST_LETTER..=LAST_LETTER) if left > 0 => {
                end += letter.len_utf8();
                left -= 1;
            }
            // Other characters may have zero width, and then belong to the row.
            None | Some(' '..='~' | FIRST_LETTER..=LAST_LETTER) => return Some(end),
            Some(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use foldline_domain::Lines;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::super::wrap::soft_end;
    use super::*;

    fn wrap(text: &str, room: usize) -> Vec<String> {
        let text = SafeText::of_lines(Lines::plain(text));
        let row = |row: &Wrapped<'_>| " ".repeat(row.hanging) + row.text.as_str();
        super::wrap(&text, room).iter().map(row).collect()
    }

    #[test]
    fn words_are_kept_whole_and_continuations_aligned() {
        assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrap("  - one two three", 10), ["  - one", "    two", "    three"]);
        assert_eq!(wrap("12. one two", 9), ["12. one", "    two"]);
        assert_eq!(wrap("a  b\n\n\nc\n\n", 10), ["a  b", "", "", "c"]);
        assert_eq!(wrap("\n  indented", 10), ["  indented"]);
    }

    #[test]
    fn what_has_no_spaces_is_broken() {
        assert_eq!(wrap("see https://example.com/", 10), ["see", "https://ex", "ample.com/"]);
        assert_eq!(wrap("中文没有空格", 5), ["中文", "没有", "空格"]);
        assert_eq!(wrap("ab中文", 5), ["ab中", "文"]);
    }

    #[test]
    fn code_is_not_reflowed() {
        let text = "```rs\nlet a  = 1; // x y\n```\nlet a  = 1; // x y";
        let rows = ["```rs", "let a  = 1", "; // x y", "```", "let a  =", "1; // x y"];
        assert_eq!(wrap(text, 10), rows);
        assert_eq!(wrap("~~~\naa bb cc\n~~~", 4), ["~~~", "aa b", "b cc", "~~~"]);
    }

    proptest! {
        #[test]
        fn rows_fit_and_lose_nothing(text in "(\\PC| |\n|\t|中|👩|\u{200d}|\u{fe0f}|```){0,60}", room in 8usize..40) {
            let rows = wrap(&text, room);
            for row in &rows {
                prop_assert!(row.width() <= room && width(row) <= room, "{:?}", row);
            }
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            let shown: String = SafeText::of_lines(Lines::plain(&text)).lines().map(Piece::as_str).collect();
            prop_assert_eq!(letters(&rows.join("")), letters(&shown));
        }
    }

    #[test]
    fn every_character_has_the_columns_that_a_terminal_gives_it() {
        for c in ('\0'..=char::MAX).filter(|c| *c != EMOJI_PRESENTATION) {
            assert_eq!(columns(c), c.width().unwrap_or(0), "{c:?}");
            assert_eq!(width(c.encode_utf8(&mut [0; 4])), columns(c), "{c:?}");
        }
    }

    #[test]
    fn clipping_says_so() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abcde…");
        assert_eq!(clip("中文中文", 6), "中文…");
    }

    proptest! {
        /// A non-ASCII letter far beyond the row's end must make no difference, nor must one within the row, which
        /// takes the slow path.
        #[test]
        fn rows_of_latin_end_as_others_do(line in "[a-c ]{0,60}", room in 1usize..40) {
            for end in [hard_end, soft_end] {
                for letter in ["é", "ж", "ế"] {
                    let others = line.replace('a', letter);
                    let columns = others[..end(&others, room)].chars().count();
                    prop_assert_eq!(end(&line, room), columns);
                }
            }
        }

        #[test]
        fn clipped_lines_fit(line in "\\PC{0,60}", room in 1usize..40) {
            prop_assert!(clip(&line, room).width() <= room);
        }
    }
}
