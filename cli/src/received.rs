//! What a sender and a receiver of logs say of them: [`ReceivedPart`], [`ReceivedAt`].

use foldline::ledger::Extent;
use serde::{Deserialize, Serialize};

/// What a sender and a receiver compare: the part of a log that the receiver has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReceivedPart {
    /// The part from the beginning of the log.
    pub(crate) whole: Extent,
    /// The length in bytes of what is collected of a log that replaces it.
    pub(crate) collected: u64,
}

/// Where bytes of a log belong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReceivedAt {
    /// Their offset in the log.
    pub(crate) offset: u64,
    /// The length of the log, if it replaces the earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) of: Option<u64>,
}
