//! Makes text and addresses from a log safe: control sequences are shown instead of executed.

use std::{borrow::Cow, fmt::Write};

use foldline_json::word::first;

const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';
const TEXT_PRESENTATION: char = '\u{fe0e}';
pub(crate) const EMOJI_PRESENTATION: char = '\u{fe0f}';

/// Makes visible all characters that would move the cursor, ring the bell, change colours, change the writing
/// direction, or hide: control characters become control pictures (`␛`), others their number (`\u{202e}`). Line feeds
/// and tabs stay.
///
/// Joiners and emoji selectors stay if they are between or after characters that they shape. The function is
/// idempotent, on its output and on any part of it.
///
/// ```
/// use foldline_render::terminal::neutralise;
///
/// assert_eq!(neutralise("\x1b]0;title\x07"), "␛]0;title␇");
/// assert_eq!(neutralise("user\u{202e}txt.exe"), "user\\u{202e}txt.exe");
/// assert_eq!(neutralise("two\n\tlines, 中文, 👩‍🔧"), "two\n\tlines, 中文, 👩‍🔧");
/// ```
pub fn neutralise(text: &str) -> Cow<'_, str> {
    if all(text.as_bytes(), |byte| is_latin_byte(byte) | (byte == b'\n') | (byte == b'\t')) {
        return Cow::Borrowed(text);
    }
    // Most non-ASCII text is also harmless: nothing is copied until a character must be replaced.
    let Some((harmless, _)) = text.char_indices().find(|(_, c)| !is_harmless(*c)) else {
        return Cow::Borrowed(text);
    };
    let mut shown = String::with_capacity(text.len());
    shown.push_str(text.get(..harmless).unwrap_or_default());
    let mut chars = text.get(harmless..).unwrap_or_default().chars().peekable();
    while let Some(c) = chars.next() {
        if is_harmless(c) || is_in_its_place(c, shown.chars().next_back(), chars.peek().copied()) {
            shown.push(c);
        } else {
            show(c, &mut shown);
        }
    }
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// [`neutralise`] for text that must stay on one line: a line feed becomes `⏎`, a tab a space.
pub fn neutralise_line(text: &str) -> Cow<'_, str> {
    if is_latin(text) {
        return Cow::Borrowed(text);
    }
    let shown = neutralise(text);
    if shown.bytes().any(|byte| matches!(byte, b'\n' | b'\t')) {
        Cow::Owned(shown.replace("\r\n", "\n").replace('\n', "⏎").replace('\t', " "))
    } else {
        shown
    }
}

/// Whether a text consists of printable ASCII characters only, as most do.
pub(crate) fn is_printable(text: &str) -> bool {
    first(text.as_bytes(), unprintable).is_none()
}

#[inline]
const fn is_printable_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// Whether a text consists of printable ASCII characters and Latin letters (U+00C0 to U+02FF) only, as nearly all
/// others do.
pub(crate) fn is_latin(text: &str) -> bool {
    first(text.as_bytes(), unprintable).is_none() || all(text.as_bytes(), is_latin_byte)
}

/// The Latin letters accepted by [`is_latin`].
pub(crate) const FIRST_LETTER: char = '\u{c0}';
pub(crate) const LAST_LETTER: char = '\u{2ff}';

/// Whether a byte is an ASCII character, or the first or second one of a Latin letter.
const fn is_latin_byte(byte: u8) -> bool {
    // Branch-free, so that the compiler vectorises it.
    is_printable_byte(byte) | matches!(byte, 0x80..=0xbf) | matches!(byte, 0xc3..=0xcb)
}

/// The number of printable ASCII characters at the beginning of a text, at most `most`.
pub(crate) fn printable_len(text: &str, most: usize) -> usize {
    let bytes = text.as_bytes();
    let bytes = bytes.get(..most).unwrap_or(bytes);
    first(bytes, unprintable).unwrap_or(bytes.len())
}

/// Marks the bytes of a word that are not printable ASCII characters.
fn unprintable(word: u64) -> u64 {
    let each = |byte: u8| u64::from_ne_bytes([byte; 8]);
    (word.wrapping_sub(each(b' ')) | word.wrapping_add(each(1)) | word) & each(0x80)
}

/// Whether `is` holds for all bytes.
fn all(bytes: &[u8], is: impl Fn(u8) -> bool) -> bool {
    // The last block overlaps the previous one.
    if let Some(last) = bytes.last_chunk::<16>() {
        return bytes.as_chunks::<16>().0.iter().all(|block| whole(block, &is)) && whole(last, &is);
    }
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) => whole(first, &is) & whole(last, &is),
        _ => bytes.iter().all(|byte| is(*byte)),
    }
}

/// Like `all`, for a few bytes, without an early exit, so that the compiler vectorises it.
#[inline]
fn whole<const N: usize>(block: &[u8; N], is: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(true, |all, byte| all & is(*byte))
}

/// Whether a character may be shown at any position, and stays on its line.
pub(crate) fn is_harmless_in_line(c: char) -> bool {
    is_harmless(c) && !matches!(c, '\n' | '\t')
}

fn is_harmless(c: char) -> bool {
    match c {
        ' '..='~' | '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '\n' | '\t' => true,
        _ => !c.is_control() && !is_invisible(c),
    }
}

/// Characters without a glyph: they only change how others are shown, or nothing.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether an invisible character has its intended effect: a joiner between two non-ASCII characters (Persian, Indic
/// scripts, emoji), a selector after a character that has two presentations. The edges of the text are allowed, so
/// that a text may be split anywhere.
fn is_in_its_place(c: char, before: Option<char>, after: Option<char>) -> bool {
    let is_shaped = |c: char| !c.is_ascii() && is_harmless(c);
    match c {
        ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER => {
            before.is_none_or(|c| is_shaped(c) || c == EMOJI_PRESENTATION)
                && after.is_none_or(is_shaped)
        }
        TEXT_PRESENTATION | EMOJI_PRESENTATION => {
            before.is_none_or(|c| is_shaped(c) || c.is_ascii_digit() || matches!(c, '#' | '*'))
        }
        _ => false,
    }
}

fn show(c: char, shown: &mut String) {
    match c {
        '\0'..='\x1f' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
        '\x7f' => shown.push('␡'),
        // Writing to a string cannot fail.
        _ => drop(write!(shown, "\\u{{{:x}}}", u32::from(c))),
    }
}

/// Whether following a link to this address can only fetch a page: `http` and `https` only, without invisible
/// characters.
pub(crate) fn is_web(address: &str) -> bool {
    (has_scheme(address, "https://") || has_scheme(address, "http://")) && is_plain(address)
}

/// Whether the address is a mail address.
pub(crate) fn is_mail(address: &str) -> bool {
    has_scheme(address, "mailto:") && is_plain(address)
}

/// Whether a reader sees the whole address, and it ends where it seems to.
pub(crate) fn is_plain(address: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || "\"<>\\^`{|}".contains(c);
    !address.contains(is_odd) && neutralise(address) == address
}

fn has_scheme(address: &str, scheme: &str) -> bool {
    address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_terminal_would_obey_becomes_visible() {
        let cases = [
            ("a\x1b[2Jb", "a␛[2Jb"),
            ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "␛]8;;http://x␛\\link␛]8;;␇"),
            ("\x1bPq\x1b\\", "␛Pq␛\\"),
            ("100%\rdone\x08\x0b\x0c\0", "100%␍done␈␋␌␀"),
            ("\x7f \u{85} \u{9b}31m", "␡ \\u{85} \\u{9b}31m"),
            ("\u{202a}\u{202e}\u{2066}\u{2069}", "\\u{202a}\\u{202e}\\u{2066}\\u{2069}"),
            ("\u{200e}\u{200f}\u{61c}", "\\u{200e}\\u{200f}\\u{61c}"),
            ("a\u{200b}b\u{feff}\u{ad}\u{2028}", "a\\u{200b}b\\u{feff}\\u{ad}\\u{2028}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ];
        for (text, shown) in cases {
            assert_eq!(neutralise(text), shown);
        }
    }

    #[test]
    fn what_shapes_letters_and_emoji_stays() {
        for text in ["می\u{200c}خواهم", "👩\u{200d}🔧", "❤\u{fe0f}\u{200d}🔥", "1\u{fe0f}\u{20e3}"]
        {
            assert!(matches!(neutralise(text), Cow::Borrowed(_)), "{text}");
        }
        assert_eq!(neutralise("rm\u{200d} -rf"), "rm\\u{200d} -rf");
        assert_eq!(neutralise("é\u{200d}\u{200d}é"), "é\\u{200d}\\u{200d}é");
        assert_eq!(neutralise("é\u{fe0f}\u{fe0f}"), "é\u{fe0f}\\u{fe0f}");
    }

    #[test]
    fn what_is_taken_for_harmless_at_once_is_harmless() {
        for c in '\0'..=char::MAX {
            let acts = c.is_control() && !matches!(c, '\n' | '\t');
            assert_eq!(is_harmless(c), !acts && !is_invisible(c), "{c:?}");
            assert_eq!(is_printable(c.encode_utf8(&mut [0; 4])), c.is_ascii() && !c.is_control());
            assert!(is_harmless(c) || !is_latin(c.encode_utf8(&mut [0; 4])), "{c:?}");
        }
    }

    #[test]
    fn one_line_stays_one_line() {
        assert_eq!(neutralise_line("a\nb\tc\x1b"), "a⏎b c␛");
    }

    /// Strings with many characters that need treatment.
    fn wild() -> impl Strategy<Value = String> {
        let special = prop::sample::select(
            "\0\x07\x08\t\n\r\x1b\x7f\u{85}\u{9b}\u{ad}\u{200c}\u{200d}\u{202e}\u{2066}\u{fe0e}\
             \u{fe0f}\u{feff}\u{e0001}aé中👩1#[;m"
                .chars()
                .collect::<Vec<_>>(),
        );
        prop::collection::vec(prop_oneof![4 => special, 1 => any::<char>()], 0..24)
            .prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn nothing_that_acts_is_left(text in wild()) {
            let shown = neutralise(&text);
            prop_assert!(shown.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
            let may_shape = |c| matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
            let hides = |c| is_invisible(c) && !may_shape(c);
            prop_assert!(!shown.contains(hides));
            prop_assert!(!neutralise_line(&text).contains(char::is_control));
        }

        #[test]
        fn every_part_of_what_was_neutralised_is_a_fixed_point(
            text in wild(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(),
        ) {
            let shown: Vec<char> = neutralise(&text).chars().collect();
            let (from, to) = (from.index(shown.len() + 1), to.index(shown.len() + 1));
            let part: String = shown[from.min(to)..from.max(to)].iter().collect();
            prop_assert_eq!(neutralise(&part), part.as_str());
        }
    }

    #[test]
    fn links_lead_to_the_web_only() {
        for address in ["https://example.org/a?b#c", "HTTP://example.org"] {
            assert!(is_web(address), "{address}");
        }
        for address in [
            "javascript:alert(1)",
            "data:text/html,x",
            " https://example.org",
            "https://exa\u{202e}mple.org",
            "java\nscript:alert(1)",
            "//example.org",
            "src/main.rs",
            "#e1",
            "file:///etc/passwd",
            "https:javascript",
        ] {
            assert!(!is_web(address), "{address}");
        }
    }
}
