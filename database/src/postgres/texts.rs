//! NUL in texts, which PostgreSQL cannot store.

use std::borrow::Cow;

/// Replaces a NUL: a noncharacter, which texts do not contain.
const NUL: char = '\u{fdd2}';

/// Precedes a [`NUL`] or itself of the text.
const ESCAPE: char = '\u{fdd3}';

/// The text as it is stored.
pub(super) fn encode(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', NUL, ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut stored = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0' => stored.push(NUL),
            NUL | ESCAPE => stored.extend([ESCAPE, c]),
            c => stored.push(c),
        }
    }
    Cow::Owned(stored)
}

/// The text of a stored one.
pub(super) fn decode(stored: &str) -> Cow<'_, str> {
    if !stored.contains([NUL, ESCAPE]) {
        return Cow::Borrowed(stored);
    }
    let mut text = String::with_capacity(stored.len());
    let mut chars = stored.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            NUL => '\0',
            ESCAPE => chars.next().unwrap_or(ESCAPE),
            c => c,
        });
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        for text in ["", "a\0b", "\0", "\u{fdd2}\0\u{fdd3}", "\u{fdd3}\u{fdd2}", "plain ä"] {
            let stored = encode(text);
            assert!(!stored.contains('\0'));
            assert_eq!(decode(&stored), text);
        }
    }
}
