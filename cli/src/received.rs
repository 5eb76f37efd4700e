//! [`ReceivedAt`]: what a sender of logs says of bytes. The receiver answers with the
//! [`Extent`](foldline::ledger::Extent) that it has.

use serde::{Deserialize, Serialize};

/// Where bytes of a log belong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReceivedAt {
    /// Their offset in the log.
    pub(crate) offset: u64,
    /// The length of the log, if it replaces the earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) of: Option<u64>,
}
