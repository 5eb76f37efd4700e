//! [`Hole`]: bytes of a log that may never have been read.

use serde::{Deserialize, Serialize};

/// A position of a log at which bytes may be missing, because they were destroyed before they were read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hole {
    /// The number of the file of the log.
    pub(super) file: u64,
    /// The end of the data that was read from it.
    pub(super) offset: u64,
    /// What happened to the file.
    pub(super) note: String,
}
