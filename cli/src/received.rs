//! [`ReceivedAt`]: what a sender of logs says of bytes. The receiver answers with the
//! [`Extent`](foldline::ledger::Extent) that it has.

use serde::Deserialize;

/// Where bytes of a log belong.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(crate) struct ReceivedAt {
    /// Their offset in the log.
    pub(crate) offset: u64,
    /// The length of the log, if it replaces the earlier one.
    pub(crate) of: Option<u64>,
    /// When the log was modified, in milliseconds since 1970: without timestamps in it, that is the age of its sessions.
    pub(crate) modified: Option<u64>,
}
