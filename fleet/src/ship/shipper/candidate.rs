//! [`Candidate`]: a file that may be a log.

use std::time::Instant;

use super::super::look::Look;

/// A file that may be a log.
pub(super) struct Candidate {
    pub(super) since: Instant,
    /// Its state when it was last examined.
    pub(super) seen: Option<Look>,
    pub(super) next: Instant,
    /// It was reported that it is not shipped.
    pub(super) is_said: bool,
}

impl Candidate {
    /// A file that was found now, and is to be examined at once.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { since: now, seen: None, next: now, is_said: false }
    }
}
