//! Wraps sentences at words, by the columns of a terminal.

use unicode_width::UnicodeWidthStr;

/// Joins words that stay on one line.
pub(crate) const JOINT: &str = "\u{a0}";

/// A text of one line in rows of at most `width` columns. Rows after the first are indented. A word that is longer
/// than a row is not split, so that a path or a hash can be copied.
pub(crate) fn wrap(text: &str, width: usize, indent: usize) -> String {
    let words = text.trim_start_matches(' ');
    let mut column = text.len() - words.len();
    let mut rows = " ".repeat(column);
    for (number, word) in words.split(' ').enumerate() {
        let needed = word.width();
        if number > 0 && column + 1 + needed > width {
            rows.truncate(rows.trim_end_matches(' ').len());
            rows += "\n";
            rows += &" ".repeat(indent);
            column = indent;
        } else if number > 0 {
            rows.push(' ');
            column += 1;
        }
        rows += word;
        column += needed;
    }
    rows.replace(JOINT, " ")
}

/// The same for each line of a text. Rows after the first are indented to the text behind a name and a colon; a single
/// word behind them stays on their row, such as a hash that a script looks for.
pub(crate) fn wrap_lines(text: &str, width: usize) -> String {
    let wrapped = |line: &str| match line.split_once(": ") {
        Some((name, value)) if !name.contains(' ') => match value.contains(' ') {
            true => wrap(line, width, name.width() + 2),
            false => line.to_owned(),
        },
        _ => wrap(line, width, 0),
    };
    text.lines().map(|line| wrapped(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_words() {
        assert_eq!(wrap("one two three", 8, 0), "one two\nthree");
        assert_eq!(wrap("  one two three", 9, 4), "  one two\n    three");
        assert_eq!(wrap("one two", 7, 0), "one two");
        assert_eq!(wrap("a 中文 中文", 6, 0), "a 中文\n中文");
        assert_eq!(wrap("see /a/long/path now", 8, 2), "see\n  /a/long/path\n  now");
        assert_eq!(wrap("give --width\u{a0}20", 10, 0), "give\n--width 20");
    }

    #[test]
    fn further_rows_are_aligned_with_the_text() {
        assert_eq!(wrap_lines("now: 1 file, 2 rows\nok\n", 12), "now: 1 file,\n     2 rows\nok\n");
        assert_eq!(wrap_lines("hash: 0123456789\n", 12), "hash: 0123456789\n");
    }
}
