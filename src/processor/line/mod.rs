//! Lines of a log: [`LineFramer`] splits bytes into lines of any encoding and length.

mod encoding;
mod framer;
mod inputs;
mod joiner;
mod shortener;

use serde::{Deserialize, Serialize};

pub use self::{
    encoding::Encoding,
    framer::{DEFAULT_MAX_LINE, LineFramer},
    shortener::JsonShortener,
};
pub(super) use self::{inputs::LineInputs, joiner::is_open_ended};
use crate::position::{Digest, Position};

/// A line of the log, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'b> {
    /// The position of its first byte.
    pub position: Position,
    /// Its bytes; of a line that is too long, its beginning, or the whole without the ends of long strings.
    pub bytes: &'b [u8],
    /// The number of further bytes of the line, which were not kept.
    pub skipped: u64,
    /// Only the ends of long strings were not kept: the bytes are a whole JSON text.
    pub is_shortened: bool,
    /// The SHA-256 digest of the whole line, if parts of it were not kept.
    pub sha256: Option<Digest>,
    /// The number of lines that it spans: more than one for an object that spans several lines.
    pub lines: u64,
    /// The state from which to continue after the line.
    pub next: FramerState,
}

impl Line<'_> {
    /// The SHA-256 digest of the line: of its bytes in the log, without the line end and without the byte order mark
    /// at the start of the log. The lines of an object that spans several lines are joined by `\n`.
    pub fn digest(&self) -> Digest {
        self.sha256.unwrap_or_else(|| Digest::of(self.bytes))
    }
}

/// The state of a [`LineFramer`] between two lines: a plain value that can be stored with serde.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FramerState {
    /// Where the next line begins.
    pub position: Position,
    /// The encoding of the input.
    pub encoding: Encoding,
    /// The last line was passed on without its line end. A line end that follows is not a separate line; other text
    /// that follows belongs to the same line of the log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unended: bool,
}

impl Default for FramerState {
    /// The beginning of a log.
    fn default() -> Self {
        let position = Position { line: 1, offset: 0 };
        Self { position, encoding: Encoding::Unknown, unended: false }
    }
}

/// Converts a position relative to `before` into a position in the log.
pub(in crate::processor) fn shift(position: &mut Position, before: Position) {
    position.line += before.line;
    position.offset += before.offset;
}
