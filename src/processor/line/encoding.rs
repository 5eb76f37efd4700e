//! [`Encoding`]: UTF-8, or UTF-16 as announced by its byte order mark; [`Offsets`]: maps a decoded line to offsets in
//! the log.

use serde::{Deserialize, Serialize};

use crate::position::Position;

/// The encoding of the input, according to the byte order mark at its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Nothing was read yet.
    #[default]
    Unknown,
    /// UTF-8, with or without its mark.
    Utf8,
    /// UTF-16, low byte first, as written by PowerShell's `>`.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
}

impl Encoding {
    /// The encoding of input that begins with these bytes, and the length of its mark; `None` while more
    /// bytes are needed.
    pub(super) fn of(begun: &[u8]) -> Option<(Self, usize)> {
        match begun {
            [0xFF, 0xFE, ..] => Some((Self::Utf16Le, 2)),
            [0xFE, 0xFF, ..] => Some((Self::Utf16Be, 2)),
            [0xEF, 0xBB, 0xBF, ..] => Some((Self::Utf8, 3)),
            [] | [0xFF | 0xFE | 0xEF] | [0xEF, 0xBB] => None,
            _ => Some((Self::Utf8, 0)),
        }
    }

    /// The two line ends: the shorter and the longer one.
    pub(super) fn line_ends(self) -> [&'static [u8]; 2] {
        match self {
            Self::Unknown | Self::Utf8 => [b"\n", b"\r\n"],
            Self::Utf16Le => [b"\n\0", b"\r\0\n\0"],
            Self::Utf16Be => [b"\0\n", b"\0\r\0\n"],
        }
    }
}

/// Decodes UTF-16 in chunks of any length; a lone surrogate becomes U+FFFD.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoder {
    /// The first byte of an incomplete unit.
    odd: Option<u8>,
    /// The first unit of an incomplete pair.
    high: Option<u16>,
    text: String,
}

impl Decoder {
    /// Passes on the text line by line, without line feeds, with the number of input bytes and whether the line is
    /// complete.
    pub(super) fn decode(
        &mut self,
        encoding: Encoding,
        bytes: &[u8],
        mut each: impl FnMut(&str, u64, bool),
    ) {
        let mut taken = 0;
        for &byte in bytes {
            let Some(first) = self.odd.take() else {
                self.odd = Some(byte);
                continue;
            };
            let unit = match encoding {
                Encoding::Utf16Be => u16::from_be_bytes([first, byte]),
                _ => u16::from_le_bytes([first, byte]),
            };
            taken += 2;
            self.unit(unit);
            if unit == u16::from(b'\n') {
                self.text.pop();
                each(&self.text, taken, true);
                self.text.clear();
                taken = 0;
            }
        }
        if taken > 0 {
            each(&self.text, taken, false);
            self.text.clear();
        }
    }

    /// The incomplete rest at the end of input, and the number of its bytes that were not passed on.
    pub(super) fn finish(mut self) -> Option<(String, u64)> {
        let odd = u64::from(self.odd.is_some());
        if odd == 0 && self.high.is_none() {
            return None;
        }
        self.text.push(char::REPLACEMENT_CHARACTER);
        Some((self.text, odd))
    }

    fn unit(&mut self, unit: u16) {
        let pair = self.high.take().into_iter().chain([unit]);
        let mut decoded = char::decode_utf16(pair).peekable();
        while let Some(next) = decoded.next() {
            match next {
                Ok(c) => self.text.push(c),
                // The next unit may complete the pair.
                Err(_) if decoded.peek().is_none() && unit < 0xDC00 => self.high = Some(unit),
                Err(_) => self.text.push(char::REPLACEMENT_CHARACTER),
            }
        }
    }
}

/// Maps an offset in a decoded line to an offset in the log.
#[derive(Clone, Debug)]
pub(super) enum Offsets {
    /// The text is identical to the log.
    Same,
    /// The log is UTF-16: a known offset in the text, and the corresponding offset in the log. A line is therefore
    /// measured only once, however many records it has.
    Utf16 { at: usize, in_log: u64 },
    /// Bytes were replaced: the end of each replacement in the text, and the difference in length up to there.
    Repaired(Vec<(usize, u64)>),
}

impl Offsets {
    /// For a line that is valid UTF-8 when decoded.
    pub(super) fn of(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Unknown | Encoding::Utf8 => Self::Same,
            Encoding::Utf16Le | Encoding::Utf16Be => Self::Utf16 { at: 0, in_log: 0 },
        }
    }

    /// Replaces invalid UTF-8 by U+FFFD.
    pub(super) fn repair(bytes: &[u8]) -> (Self, String) {
        let (mut text, mut taken, mut replaced) = (String::new(), 0_usize, Vec::new());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            taken += chunk.valid().len() + chunk.invalid().len();
            if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
                replaced.push((text.len(), (text.len() - taken) as u64));
            }
        }
        (Self::Repaired(replaced), text)
    }

    pub(super) fn is_repaired(&self) -> bool {
        matches!(self, Self::Repaired(_))
    }

    /// The position of offset `at` in a line that begins at `line`.
    pub(super) fn position(&self, line: Position, text: &str, at: usize) -> Position {
        let in_log = match self {
            Self::Same => at as u64,
            Self::Utf16 { at: before, in_log } => {
                let more = text.get(*before..at).unwrap_or_default();
                in_log + 2 * more.encode_utf16().count() as u64
            }
            Self::Repaired(replaced) => {
                let before = replaced.partition_point(|(end, _)| *end <= at);
                let longer = before.checked_sub(1).and_then(|last| replaced.get(last));
                at as u64 - longer.map_or(0, |(_, longer)| *longer)
            }
        };
        Position { offset: line.offset + in_log, ..line }
    }

    /// Like `position`, but offsets before `at` may not be requested afterwards.
    pub(super) fn reach(&mut self, line: Position, text: &str, at: usize) -> Position {
        let reached = self.position(line, text, at);
        if let Self::Utf16 { at: before, in_log } = self {
            (*before, *in_log) = (at, reached.offset - line.offset);
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced_and_whole_pairs_are_not() {
        let units = [0xD83D, 0xDE00, 0xD83D, u16::from(b'\n'), 0xD83D, 0xD83D, 0xDE00, 0xDE00];
        let bytes: Vec<u8> = units.iter().flat_map(|unit: &u16| unit.to_be_bytes()).collect();
        for size in 1..bytes.len() {
            let (mut decoder, mut text, mut total) = (Decoder::default(), String::new(), 0);
            for chunk in bytes.chunks(size) {
                decoder.decode(Encoding::Utf16Be, chunk, |more, taken, ends| {
                    text.push_str(more);
                    text.push_str(if ends { "|" } else { "" });
                    total += taken;
                });
            }
            assert!(decoder.finish().is_none());
            assert_eq!(text, "😀\u{FFFD}|\u{FFFD}😀\u{FFFD}", "in chunks of {size}");
            assert_eq!(total, bytes.len() as u64);
        }
    }

    const LINE: Position = Position { line: 3, offset: 100 };

    #[test]
    fn what_follows_a_replacement_stands_where_it_stands_in_the_log() {
        // A single byte, a truncated sequence of three bytes, and U+FFFD itself.
        let line = [b"\xff{\xe2\x82{".as_slice(), "\u{fffd}{".as_bytes()].concat();
        let (mut offsets, text) = Offsets::repair(&line);
        assert_eq!(text, "\u{fffd}{\u{fffd}{\u{fffd}{");
        let braces: Vec<_> = text
            .match_indices('{')
            .map(|(at, _)| offsets.reach(LINE, &text, at).offset - LINE.offset)
            .collect();
        assert_eq!(braces, [1, 4, 8]);
    }

    #[test]
    fn utf_16_has_two_bytes_a_unit() {
        let text = "\u{e9}{\u{1f600}{";
        let mut offsets = Offsets::of(Encoding::Utf16Be);
        let braces: Vec<_> = text
            .match_indices('{')
            .map(|(at, _)| offsets.reach(LINE, text, at).offset - LINE.offset)
            .collect();
        assert_eq!(braces, [2, 8]);
    }
}
