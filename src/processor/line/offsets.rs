//! [`Offsets`]: maps a decoded line to offsets in the log.

use crate::position::Position;

use super::encoding::Encoding;

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
