//! What a terminal leaves of the output of a program: progress bars, erased lines, and sequences that print nothing.
//!
//! ```
//! use foldline_render::printed::{plain, spoken};
//!
//! assert_eq!(plain("10 %\r100 %\n\x1b[31mdone\x1b[0m"), "100 %\ndone");
//! assert_eq!(spoken("\x1b[1mAll\x1b[0m of it"), "All of it");
//! ```

use std::borrow::Cow;

use foldline_domain::{EscapedText, Text};
use memchr::memchr3;

use super::call_text::edit;

const ESCAPE: char = '\x1b';

/// The text that a terminal shows in the end, with its colour sequences.
///
/// After a carriage return the line begins again, and a backspace removes a character. Sequences that erase, move the
/// cursor, or set titles and links print nothing. A sequence without an end stays, and is made visible like any control
/// character.
pub(crate) fn printed(text: &str) -> Cow<'_, str> {
    shown(text, true)
}

/// A message without the sequences of a terminal. All of its text stays: who writes a message must not be able to hide
/// a part of it.
pub fn spoken(text: &str) -> Cow<'_, str> {
    without_colors(shown(text, false))
}

fn shown(text: &str, is_output: bool) -> Cow<'_, str> {
    if memchr3(b'\x1b', b'\r', b'\x08', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut screen = Screen { is_output, ..Screen::default() };
    screen.shown.reserve(text.len());
    let mut rest = text;
    while let Some((before, control, after)) = next(rest) {
        screen.print(before);
        rest = after;
        match control {
            ESCAPE => rest = screen.obey(after),
            '\r' if is_output && !after.starts_with('\n') => screen.is_at_start = true,
            '\x08' if is_output => screen.step_back(),
            '\n' => screen.end_line(),
            control => screen.shown.push(control),
        }
    }
    screen.print(rest);
    Cow::Owned(screen.shown)
}

/// The text that a terminal shows in the end, without colours.
pub fn plain(text: &str) -> Cow<'_, str> {
    without_colors(printed(text))
}

fn without_colors(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return text;
    }
    styled_parts(&text).map(|(text, _)| text).collect::<String>().into()
}

/// [`spoken`] for lines that are searched in the stored representation.
pub(crate) fn spoken_spelling(text: &Text) -> EscapedText<'_> {
    match EscapedText::of(text) {
        EscapedText::Plain(text) => EscapedText::Plain(edit(text, spoken)),
        escaped => escaped,
    }
}

/// [`plain`] for lines that are searched in the stored representation.
pub(crate) fn plain_spelling(text: &Text) -> EscapedText<'_> {
    match EscapedText::of(text) {
        EscapedText::Plain(text) => EscapedText::Plain(edit(text, plain)),
        // An escape character has a `\u` code in a literal, which is not in this one.
        EscapedText::Escaped(body) => {
            let acts =
                |code: &str| memchr::memmem::find(body.as_bytes(), code.as_bytes()).is_some();
            match acts(r"\r") || acts(r"\b") {
                true => EscapedText::Plain(plain(&text.decode()).into_owned().into()),
                false => EscapedText::Escaped(body),
            }
        }
    }
}

/// The next control character: the text before it, it, the text after it.
fn next(text: &str) -> Option<(&str, char, &str)> {
    let at = text.find([ESCAPE, '\r', '\n', '\x08'])?;
    let (before, rest) = text.split_at_checked(at)?;
    let mut chars = rest.chars();
    Some((before, chars.next()?, chars.as_str()))
}

/// The output so far.
#[derive(Debug, Default)]
struct Screen {
    shown: String,
    /// The beginning of the last line.
    line: usize,
    /// The end of the last colour sequence, which a backspace does not remove.
    style: usize,
    /// Whether the next text replaces the last line.
    is_at_start: bool,
    /// Whether a line may be replaced or erased.
    is_output: bool,
}

impl Screen {
    fn print(&mut self, text: &str) {
        if !text.is_empty() {
            if self.is_at_start {
                self.erase();
            }
            self.shown.push_str(text);
        }
    }

    /// Removes the last line, but not the colours that were set in it.
    fn erase(&mut self) {
        self.is_at_start = false;
        let line = self.shown.split_off(self.line);
        for parameters in styled_parts(&line).filter_map(|(_, style)| style) {
            self.shown.extend(["\x1b[", parameters, "m"]);
        }
        self.style = self.shown.len();
    }

    fn end_line(&mut self) {
        self.is_at_start = false;
        self.shown.push('\n');
        (self.line, self.style) = (self.shown.len(), self.shown.len());
    }

    fn step_back(&mut self) {
        if !self.is_at_start && self.shown.len() > self.line.max(self.style) {
            self.shown.pop();
        }
    }

    /// Obeys the sequence of an escape character, and returns the text after it.
    fn obey<'t>(&mut self, after: &'t str) -> &'t str {
        let rest = match after.chars().next() {
            Some('[') => control_sequence(after).map(|(parameters, last, rest)| {
                match (last, parameters) {
                    ('m', parameters) if parameters.bytes().all(|byte| byte < b'<') => {
                        self.shown.extend(["\x1b[", parameters, "m"]);
                        self.style = self.shown.len();
                    }
                    ('K', "1" | "2") if self.is_output => self.erase(),
                    ('K', _) if self.is_at_start => self.erase(),
                    _ => {}
                }
                rest
            }),
            Some(']' | 'P' | 'X' | '^' | '_') => string_end(after),
            _ => escape_end(after),
        };
        rest.unwrap_or_else(|| {
            self.print("\x1b");
            after
        })
    }
}

/// The parameters and the last character of a control sequence, and the text after it.
fn control_sequence(text: &str) -> Option<(&str, char, &str)> {
    let sequence = text.strip_prefix('[')?;
    let rest = sequence.trim_start_matches(|c| matches!(c, '0'..='?'));
    let parameters = sequence.strip_suffix(rest)?;
    let rest = rest.trim_start_matches(|c| matches!(c, ' '..='/'));
    let last = rest.chars().next().filter(|last| matches!(last, '@'..='~'))?;
    Some((parameters, last, rest.get(1..)?))
}

/// The text after a string that a terminal keeps to itself, such as a title.
fn string_end(text: &str) -> Option<&str> {
    // A line feed does not occur in it: a broken string must not hide what follows.
    let (at, last) = text.char_indices().find(|(_, c)| matches!(c, '\x07' | '\x1b' | '\n'))?;
    match last {
        '\x07' => text.get(at + 1..),
        '\x1b' => text.get(at + 1..)?.strip_prefix('\\'),
        _ => None,
    }
}

/// The text after a short sequence, such as one that chooses a set of characters.
fn escape_end(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c| matches!(c, ' '..='/'));
    rest.starts_with(|c| matches!(c, '0'..='~')).then(|| rest.get(1..))?
}

/// Splits program output at its colour sequences: each text, which still contains all other control sequences, with the
/// parameters of the colour sequence after it, such as `1;31`.
pub(crate) fn styled_parts(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (before, style, after) = match find(rest) {
            Some((before, parameters, after)) => (before, Some(parameters), after),
            None => (rest, None, ""),
        };
        rest = after;
        Some((before, style))
    })
}

/// The first sequence: the text before it, its parameters, the text after it.
fn find(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices("\x1b[").find_map(|(at, start)| {
        let (before, sequence) = text.split_at_checked(at)?;
        let sequence = sequence.strip_prefix(start)?;
        let after = sequence.trim_start_matches(|c: char| c.is_ascii_digit() || ";:".contains(c));
        let parameters = sequence.strip_suffix(after)?;
        Some((before, parameters, after.strip_prefix('m')?))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_a_terminal_shows_is_left() {
        for (text, shown) in [
            ("a\r\nb\n", "a\r\nb\n"),
            ("10 %\r50 %\r100 %\ndone", "100 %\ndone"),
            ("10 %\r", "10 %"),
            ("10 %\r\x1b[Kdone\n", "done\n"),
            ("10 %\x1b[2K\rdone", "done"),
            ("kept\x1b[K", "kept"),
            ("N\x08NA\x08AME", "NAME"),
            ("\x08a\n\x08b", "a\nb"),
            ("\x1b[31m\x08x", "\x1b[31mx"),
            ("\x1b[1;31mred\rgreen\x1b[m", "\x1b[1;31mgreen\x1b[m"),
            ("\x1b[2J\x1b[H\x1b[?25lx\x1b[3A\x1b[?25h", "x"),
            ("\x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1bPq\x1b\\\x1b(B\x1b7\x1b=a", "a"),
            ("\x1b[>4;1mx", "x"),
            // What has no end is no sequence.
            ("\x1b]0;title\nnext", "\x1b]0;title\nnext"),
            ("\x1b[31", "\x1b[31"),
            ("\x1b", "\x1b"),
            ("\x1bé", "\x1bé"),
        ] {
            assert_eq!(printed(text), shown, "{text:?}");
        }
        assert_eq!(spoken("\x1b[1mOne\x1b[2K,\r\x08\x1b]0;t\x07two"), "One,\r\x08two");
        assert_eq!(plain("\x1b[1mbold\x1b[0m\x1b[K"), "bold");
        assert!(matches!(plain("two\nlines"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn text_without_controls_is_kept(text in "[a-zé\n]{0,20}", controls in "[a-z\x1b\\[\\]0-9;mK\r\x08\x07\n]{0,30}") {
            prop_assert_eq!(printed(&text), text.as_str());
            // Whatever came before, the next line is whole.
            let all = format!("{controls}\n\n{text}");
            prop_assert!(printed(&all).ends_with(&format!("\n{text}")), "{:?}", all);
        }
    }

    #[test]
    fn only_colours_are_found() {
        let all = |text| styled_parts(text).collect::<Vec<_>>();
        let text = "\x1b[1;31merror\x1b[0m: x\x1b[m";
        assert_eq!(all(text), [("", Some("1;31")), ("error", Some("0")), (": x", Some(""))]);
        assert_eq!(all("\x1b[2Jcleared \x1b[3"), [("\x1b[2Jcleared \x1b[3", None)]);
        assert_eq!(all("\x1b\x1b[0m[31mx"), [("\x1b", Some("0")), ("[31mx", None)]);
        assert_eq!(all(""), []);
    }
}
