//! Text of logs within an answer: data, on lines that begin with `> `.
//!
//! The server's own lines never begin with `>`, and every line of a text does, so that no text can pass for a line of
//! the server. Terminal sequences are removed, and other control characters are made visible, so that nothing else
//! ends a line.

use std::borrow::Cow;

use foldline_render::{
    printed::{plain, spoken},
    terminal::neutralise,
};

/// The beginning of each line of a text.
const MARK: &str = ">";

/// A message without terminal sequences and control characters. All of its text stays.
pub(crate) fn message(text: &str) -> String {
    clean(&spoken(text))
}

/// The output of a program, as a terminal shows it in the end.
pub(crate) fn output(text: &str) -> String {
    clean(&plain(text))
}

fn clean(text: &str) -> String {
    neutralise(text).replace('\t', "    ").trim_matches('\n').trim_end().to_owned()
}

/// The text on one line, at most `most` characters of it.
pub(crate) fn line(text: &str, most: usize) -> String {
    let text = message(text);
    let mut words = text.split_whitespace();
    let mut line = words.next().unwrap_or_default().to_owned();
    for word in words {
        if line.len() > most * 4 {
            break;
        }
        line.push(' ');
        line.push_str(word);
    }
    clip(&line, most).into_owned()
}

/// The first `most` characters, with a mark if there are more.
pub(crate) fn clip(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}

/// The lines of a clean text, each marked as text of a log.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 16);
    for line in text.split('\n') {
        quoted.push_str(MARK);
        if !line.is_empty() {
            quoted.push(' ');
            quoted.push_str(line);
        }
        quoted.push('\n');
    }
    quoted
}

/// A clean text of at most about `most` characters, marked: its beginning and its end, with a line of the server for
/// what is left out between them.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    // The line for what is left out takes place, too.
    if count <= most.saturating_add(40) {
        return quoted(text);
    }
    let (head, tail) = (most * 2 / 3, most / 3);
    let at = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let begin = text.get(..at(head)).unwrap_or_default();
    let end = text.get(at(count - tail)..).unwrap_or_default();
    // Whole lines, if that leaves most of it.
    let begin =
        begin.rfind('\n').filter(|end| end * 2 > begin.len()).map_or(begin, |end| &begin[..end]);
    let end = end.find('\n').filter(|begin| begin * 2 < end.len()).map_or(end, |at| &end[at + 1..]);
    let left_out = count - begin.chars().count() - end.chars().count();
    format!("{}(.. {left_out} characters are left out ..)\n{}", quoted(begin), quoted(end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_quoted_line_by_line_without_terminal_sequences() {
        assert_eq!(quoted(&output("10 %\r\x1b[31mred\x1b[0m\n\nend\n")), "> red\n>\n> end\n");
        assert_eq!(quoted(&message("a\u{85}b\u{2028}c\r\x0bd")), "> a\\u{85}b\\u{2028}c␍␋d\n");
        assert_eq!(line("  two\nlines \x1b]0;t\x07", 100), "two lines");
        assert_eq!(line("確認です", 2), "確認…");
    }

    #[test]
    fn the_beginning_and_the_end_of_a_long_text_stay() {
        let text: String = (0..200).map(|number| format!("line {number}\n")).collect();
        let short = shortened(text.trim_end(), 300);
        assert!(short.starts_with("> line 0\n") && short.ends_with("> line 199\n"), "{short}");
        assert!(short.contains("\n(.. ") && short.len() < 450, "{short}");
    }

    proptest! {
        #[test]
        fn no_text_is_a_line_of_the_server(text in "\\PC{0,40}|(.|\n|\r|\u{85}|\u{2028}|\x1b\\[){0,40}", most in 0_usize..60) {
            for clean in [message(&text), output(&text)] {
                let of_server = |line: &&str| !line.starts_with('>');
                prop_assert!(!quoted(&clean).lines().any(|line| of_server(&line)));
                let short = shortened(&clean, most);
                prop_assert!(short.lines().filter(of_server).count() <= 1);
                prop_assert!(!short.contains(|c: char| c.is_control() && c != '\n'));
            }
        }
    }
}
