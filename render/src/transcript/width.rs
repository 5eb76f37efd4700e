//! The number of terminal columns of a text, and how much of a line fits.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

use crate::terminal::{EMOJI_PRESENTATION, FIRST_LETTER, LAST_LETTER, is_latin, printable_len};

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
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::super::wrap::soft_end;
    use super::*;

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
