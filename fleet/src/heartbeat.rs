//! [`Heartbeat`]: what a shipper reports about itself, as a message of a compacted topic.
//!
//! The key is the name of the shipper: its machine and its checkpoint. A shipper that no longer reports, and has not
//! ended, has died, or cannot reach the brokers.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The interval at which a shipper reports.
pub(crate) const INTERVAL: Duration = Duration::from_secs(30);

/// The maximum number of positions in a heartbeat at which bytes may be missing.
pub(crate) const HOLES: usize = 100;

/// The report of a shipper. Times are milliseconds since 1970, by the clock of its machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Heartbeat {
    /// The machine.
    pub(crate) host: String,
    /// The version of the program.
    pub(crate) version: String,
    /// When this run began.
    pub(crate) started: i64,
    /// When this was sent.
    pub(crate) at: i64,
    /// The run has ended as intended.
    pub(crate) ended: bool,
    /// The number of logs.
    pub(crate) logs: u64,
    /// The number of logs that cannot be read at present.
    pub(crate) unreadable: u64,
    /// Pieces and bytes that this run has sent.
    pub(crate) pieces: u64,
    pub(crate) bytes: u64,
    /// Pieces that the brokers have not acknowledged.
    pub(crate) unacknowledged: u64,
    /// When the brokers last acknowledged a piece in this run.
    pub(crate) acknowledged_at: Option<i64>,
    /// The number of positions at which bytes may be missing, and the first of them.
    pub(crate) hole_count: u64,
    pub(crate) holes: Vec<MissingBytes>,
}

/// A position of a log at which bytes may be missing: they were destroyed before they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct MissingBytes {
    pub(crate) source: String,
    pub(crate) path: String,
    /// `FILE:OFFSET`, as in messages.
    pub(crate) position: String,
    pub(crate) note: String,
}

/// The present time in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    milliseconds(SystemTime::now())
}

/// A time in milliseconds since 1970.
pub(crate) fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
