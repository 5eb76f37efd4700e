//! [`Unfinished`]: the bytes of a line whose end is not known yet.

use std::{borrow::Cow, mem};

use serde::{Deserialize, Serialize};

/// The maximum number of bytes in a state. A state is written whole at each commit of its source.
const MOST: usize = 1 << 20;

/// The bytes of an incomplete line, as a part of the state of its source. Otherwise the offset of its partition could
/// not move beyond their messages, until the line ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unfinished {
    /// The bytes up to the first that is not UTF-8.
    text: String,
    /// The others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rest: Vec<u8>,
    /// The line has more than [`MOST`] bytes: only its first ones are kept.
    #[serde(skip)]
    is_cut: bool,
}

impl Unfinished {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.rest.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn bytes(&self) -> Cow<'_, [u8]> {
        match self.rest.is_empty() {
            true => self.text.as_bytes().into(),
            false => [self.text.as_bytes(), &self.rest].concat().into(),
        }
    }

    /// Adds bytes of the log, after which an incomplete line has this length. Returns whether all of it is kept.
    pub(super) fn push(&mut self, bytes: &[u8], length: u64) -> bool {
        let begins_before = length > bytes.len() as u64;
        if !begins_before {
            self.clear();
        }
        self.is_cut |= length > MOST as u64;
        if !self.is_cut {
            let own = usize::try_from(length).unwrap_or(MOST).min(bytes.len());
            self.rest.extend_from_slice(&bytes[bytes.len() - own..]);
        }
        !self.is_cut
    }

    /// The bytes as they are stored.
    pub(super) fn stored(&mut self) -> Self {
        let rest = mem::take(&mut self.rest);
        match String::from_utf8(rest) {
            Ok(text) => self.text.push_str(&text),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let bytes = error.into_bytes();
                self.text.push_str(&String::from_utf8_lossy(&bytes[..valid]));
                self.rest = bytes[valid..].to_vec();
            }
        }
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However the log is cut, the bytes after the last line end are there.
    #[test]
    fn the_bytes_after_the_last_line_end_are_kept() {
        let log = "first\nsécond \u{1f980}\nthe ünfinished".as_bytes();
        let log = [log, b" \xff\xfe line"].concat();
        for size in 1..log.len() {
            let mut unfinished = Unfinished::default();
            let mut end = 0;
            for bytes in log.chunks(size) {
                end += bytes.len();
                let read = &log[..end];
                let line = read.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                unfinished.push(bytes, (end - line) as u64);
                let json = serde_json::to_string(&unfinished.stored()).unwrap();
                unfinished = serde_json::from_str(&json).unwrap();
                assert_eq!(*unfinished.bytes(), read[line..], "{size}");
            }
        }
    }

    #[test]
    fn of_a_line_that_is_too_long_the_beginning_is_kept() {
        let mut unfinished = Unfinished::default();
        let bytes = [b'x'; 1 << 10];
        for length in 1..2000_u64 {
            assert_eq!(unfinished.push(&bytes, length << 10), length <= 1024);
            assert_eq!(unfinished.bytes().len() as u64, length.min(1024) << 10);
        }
        assert!(unfinished.push(b"\nnext", 4));
        assert_eq!(*unfinished.bytes(), *b"next");
        assert!(unfinished.push(b"\n", 0) && unfinished.is_empty());
    }
}
