//! Text into rows of a width, by the columns that a terminal gives each character.

use std::{borrow::Cow, iter};

use unicode_width::UnicodeWidthChar;

use crate::{
    conversation::Lines,
    emitters::terminal::{EMOJI_PRESENTATION, is_printable, neutralise},
};

const TAB: usize = 4;

/// How many columns a character takes, rather too many than too few.
fn columns(c: char) -> usize {
    match c {
        // Makes the character before it a wide one.
        EMOJI_PRESENTATION => 1,
        // What most text is made of need not be looked up.
        ' '..='~' | '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' => 1,
        _ => c.width().unwrap_or(0),
    }
}

/// How many columns a text takes on one line.
pub(super) fn width(text: &str) -> usize {
    if is_printable(text) { text.len() } else { text.chars().map(columns).sum() }
}

/// The first columns of a line, with `…` where something was cut.
pub(super) fn clip(line: &str, room: usize) -> Cow<'_, str> {
    // Most lines are short, and none has more columns than bytes.
    if line.len() <= room || width(line) <= room {
        return Cow::Borrowed(line);
    }
    Cow::Owned(format!("{}…", beginning(line, room.saturating_sub(1))))
}

/// As much of a line's beginning as fits.
pub(super) fn beginning(line: &str, room: usize) -> &str {
    line.split_at(hard_end(line, room)).0
}

/// A line as it is shown: neutralised, tabs expanded.
pub(super) fn clean(line: &str) -> Cow<'_, str> {
    let line = neutralise(line);
    if !line.as_bytes().contains(&b'\t') {
        return line;
    }
    let mut expanded = String::with_capacity(line.len() + 2 * TAB);
    let mut column = 0;
    for (number, part) in line.split('\t').enumerate() {
        if number > 0 {
            let spaces = TAB - column % TAB;
            expanded.extend(iter::repeat_n(' ', spaces));
            column += spaces;
        }
        expanded.push_str(part);
        column += width(part);
    }
    Cow::Owned(expanded)
}

/// A message: its line breaks and indents stay, long lines are wrapped at words, those in code blocks
/// (between lines of ```` ``` ```` or `~~~`) at the edge.
pub(super) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut fence = None;
    for line in Lines::plain(text) {
        let line = clean(&line);
        let mark = fence_mark(&line);
        if fence.is_some() || mark.is_some() {
            rows.extend(pieces(&line, room, 0, hard_end));
        } else {
            wrap_line(&line, room, &mut rows);
        }
        match (fence, mark) {
            (None, _) => fence = mark,
            (Some(_), _) if mark == fence => fence = None,
            _ => {}
        }
    }
    rows
}

/// One clean line, wrapped at words; what follows hangs below the text of its first row.
pub(super) fn wrap_line(line: &str, room: usize, rows: &mut Vec<String>) {
    rows.extend(pieces(line, room, hanging_indent(line).min(room / 2), soft_end));
}

/// One clean line, cut at the edge.
pub(super) fn hard_wrap(line: &str, room: usize) -> impl Iterator<Item = String> {
    pieces(line, room, 0, hard_end)
}

fn pieces(
    line: &str,
    room: usize,
    hanging: usize,
    end: fn(&str, usize) -> usize,
) -> impl Iterator<Item = String> {
    let mut rest = Some(line);
    let mut indent = 0;
    iter::from_fn(move || {
        let line = rest?;
        let (row, after) = line.split_at(match end(line, room - indent) {
            // Not even one character fits: it is shown nevertheless.
            0 => line.chars().next().map_or(0, char::len_utf8),
            end => end,
        });
        let row = row.trim_end();
        let mut shown = String::with_capacity(indent + row.len());
        shown.extend(iter::repeat_n(' ', indent));
        shown.push_str(row);
        rest = Some(after).filter(|after| !after.trim_end().is_empty());
        indent = hanging;
        Some(shown)
    })
}

/// Where a row ends that is full.
fn hard_end(line: &str, room: usize) -> usize {
    if let Some(end) = printable_end(line, room) {
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

/// The same for a row that holds nothing but ASCII, which has a column a byte.
fn printable_end(line: &str, room: usize) -> Option<usize> {
    let end = line.len().min(room);
    line.get(..line.len().min(room + 1)).filter(|row| is_printable(row)).map(|_| end)
}

/// Where a row ends that is wrapped at a word, or at a wide character, whose scripts have no spaces.
fn soft_end(line: &str, room: usize) -> usize {
    let text = line.len() - line.trim_start().len();
    if let Some(end) = printable_end(line, room) {
        // Spaces may stand beyond the edge.
        let end = line.len() - line[end..].trim_start_matches(' ').len();
        let row = line.get(text + 1..end).filter(|_| end < line.len());
        return row.and_then(|row| row.rfind(' ')).map_or(end, |space| text + 1 + space + 1);
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

/// How far the text of a line stands from the edge, a bullet or a number included.
fn hanging_indent(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let bullets = ["- ", "* ", "+ ", "> ", "• "];
    let marker = match text.get(digits..digits + 2) {
        Some(". " | ") ") if (1..=3).contains(&digits) => digits + 2,
        _ if bullets.iter().any(|bullet| text.starts_with(bullet)) => 2,
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::*;

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

    #[test]
    fn every_character_has_the_columns_that_a_terminal_gives_it() {
        for c in ('\0'..=char::MAX).filter(|c| *c != EMOJI_PRESENTATION) {
            assert_eq!(columns(c), c.width().unwrap_or(0), "{c:?}");
        }
    }

    #[test]
    fn clipping_says_so() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abcde…");
        assert_eq!(clip("中文中文", 6), "中文…");
    }

    #[test]
    fn tabs_go_to_the_next_stop() {
        assert_eq!(clean("\ta\tb"), "    a   b");
    }

    proptest! {
        #[test]
        fn rows_fit_and_lose_nothing(text in "(\\PC| |\n|\t|中|👩|\u{200d}|\u{fe0f}|```){0,60}", room in 8usize..40) {
            let rows = wrap(&text, room);
            for row in &rows {
                prop_assert!(row.width() <= room && width(row) <= room, "{:?}", row);
            }
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            let shown: String = Lines::plain(&text).map(|line| letters(&clean(&line))).collect();
            prop_assert_eq!(letters(&rows.join("")), shown);
        }

        /// A letter that is not ASCII, far behind the row's end, must make no difference, and one
        /// within it, which takes the longer way, must not either.
        #[test]
        fn rows_of_ascii_end_as_others_do(line in "[a-c ]{0,60}", room in 1usize..40) {
            for end in [hard_end, soft_end] {
                let others = line.replace('a', "é");
                let columns = others[..end(&others, room)].chars().count();
                prop_assert_eq!(end(&line, room), columns);
            }
        }

        #[test]
        fn clipped_lines_fit(line in "\\PC{0,60}", room in 1usize..40) {
            let line = clean(&line);
            prop_assert!(clip(&line, room).width() <= room);
        }
    }
}
