//! [`Counts`] and [`Progress`] of a lane.

use std::time::Duration;

/// What a lane has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) pieces: u64,
    pub(super) bytes: u64,
    pub(super) known: u64,
    pub(super) gaps: u64,
    pub(super) foreign: u64,
    pub(super) deleted: u64,
    pub(super) commits: u64,
    pub(super) committing: Duration,
    pub(super) restoring: Duration,
    pub(super) sources: usize,
}

/// The progress of a lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) counts: Counts,
    /// The number of sources in memory.
    pub(super) open: usize,
    /// The offset of the next message to be folded, once it is known.
    pub(super) next: Option<i64>,
    /// When the last message was sent, in milliseconds since 1970.
    pub(super) sent_at: Option<i64>,
}

impl Counts {
    /// Adds the counts of another lane.
    pub(super) fn add(&mut self, more: Self) {
        let Self { pieces, bytes, known, gaps, foreign, deleted, .. } = more;
        let Self { commits, committing, restoring, sources, .. } = more;
        self.pieces += pieces;
        self.bytes += bytes;
        self.known += known;
        self.gaps += gaps;
        self.foreign += foreign;
        self.deleted += deleted;
        self.commits += commits;
        self.committing += committing;
        self.restoring += restoring;
        self.sources += sources;
    }
}
