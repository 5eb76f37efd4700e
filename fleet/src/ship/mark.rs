//! [`Mark`]: a position from which a log can be resumed.

use foldline::ledger::Identity;

use super::checkpoint::Before;
use crate::place::Place;

/// A position to resume from.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) place: Place,
    /// The file, up to there.
    pub(super) identity: Identity,
    /// The file before it, if it is known.
    pub(super) previous: Option<Before>,
}
