//! [`Candidate`]: a file that may be a log.

use std::time::Instant;

use super::super::look::Look;

/// A file that may be a log.
pub(super) struct Candidate {
    pub(super) since: Instant,
    /// Its metadata when it was last examined.
    pub(super) seen: Option<Look>,
    pub(super) next: Instant,
    /// It was reported as not shipped.
    pub(super) is_said: bool,
}

impl Candidate {
    /// A file that was just found, due for examination.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { since: now, seen: None, next: now, is_said: false }
    }
}
