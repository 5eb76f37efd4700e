//! [`Offsets`]: where in the log the text of a decoded line stands.

use crate::position::Position;

use super::encoding::Encoding;

/// The way from a byte of a decoded line to the byte of the log that it was decoded from.
#[derive(Clone, Debug)]
pub(super) enum Offsets {
    /// The text is the log's own.
    Same,
    /// The log is in UTF-16: a byte of the text, and where it stands in the log. So a line is measured once,
    /// however many records it has.
    Utf16 { at: usize, in_log: u64 },
    /// Bytes were replaced: where in the text each replacement ends, and by how many bytes the text up to there
    /// is longer.
    Repaired(Vec<(usize, u64)>),
}

impl Offsets {
    /// For a line that is whole UTF-8 when decoded.
    pub(super) fn of(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Unknown | Encoding::Utf8 => Self::Same,
            Encoding::Utf16Le | Encoding::Utf16Be => Self::Utf16 { at: 0, in_log: 0 },
        }
    }

    /// Replaces what is not UTF-8 by U+FFFD.
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

    /// The position of byte `at` of a line that begins at `line`.
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

    /// The same; nothing before `at` is asked for after that.
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
        // One byte, a beginning of three, and U+FFFD itself.
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
