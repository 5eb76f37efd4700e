//! [`Overlong`]: the length and the digest of a truncated line.

use sha2::{Digest as _, Sha256};

use crate::position::Digest;

/// Measures a line and computes its digest, without the `\r` of its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlong {
    length: u64,
    hasher: Sha256,
    /// The last byte was `\r`, which may belong to the line's end.
    held: bool,
}

impl Overlong {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Some((last, before)) = bytes.split_last() else { return };
        if std::mem::take(&mut self.held) {
            self.add(b"\r");
        }
        self.held = *last == b'\r';
        self.add(if self.held { before } else { bytes });
    }

    /// The line's length in bytes, and its digest.
    pub(super) fn finish(self) -> (u64, Digest) {
        (self.length, Digest::from(<[u8; 32]>::from(self.hasher.finalize())))
    }

    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.hasher.update(bytes);
    }
}
