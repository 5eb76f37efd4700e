//! What the system says of an open file, without reading it.

use std::{
    fs::Metadata,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{conversation::Timestamp, ledger::Identity};

/// How long ago a change must be so that no later one can bear the same time, on any usual file system.
const SETTLED: Duration = Duration::from_secs(2);

/// What the system says of an open file: an identity of which nothing was read.
pub(super) fn status(metadata: &Metadata) -> Identity {
    let (device, inode) = number(metadata);
    let (size, modified) = (metadata.len(), modified(metadata));
    let changed = changed(metadata).filter(is_settled);
    Identity { device, inode, size, modified, changed, ..Identity::default() }
}

/// Whether a time, in nanoseconds since 1970, is long enough ago.
fn is_settled(changed: &i64) -> bool {
    let Ok(now) = SystemTime::now().duration_since(UNIX_EPOCH) else { return false };
    u64::try_from(*changed)
        .is_ok_and(|changed| Duration::from_nanos(changed).saturating_add(SETTLED) < now)
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> Option<i64> {
    use std::os::unix::fs::MetadataExt;
    metadata.ctime().checked_mul(1_000_000_000)?.checked_add(metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> Option<i64> {
    None
}

fn modified(metadata: &Metadata) -> Option<Timestamp> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp::from_millis)
}

/// The device that a file is on, and its inode number there; neither where the system has none.
pub(super) type Number = (Option<u64>, Option<u64>);

#[cfg(unix)]
pub(super) fn number(metadata: &Metadata) -> Number {
    use std::os::unix::fs::MetadataExt;
    (Some(metadata.dev()), Some(metadata.ino()))
}

#[cfg(not(unix))]
pub(super) fn number(_: &Metadata) -> Number {
    (None, None)
}
