//! Metadata of an open file, without reading it.

use std::{
    fs::Metadata,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::ledger::Identity;
use crate::position::Timestamp;

/// The age at which a change can no longer share its time with a later one, on any usual file system.
const SETTLED: Duration = Duration::from_secs(2);

/// The metadata of an open file, as an identity with a read length of 0.
pub fn status(metadata: &Metadata) -> Identity {
    let (device, inode) = number(metadata);
    let (size, modified) = (metadata.len(), modified(metadata));
    let changed = changed(metadata).filter(is_settled);
    Identity { device, inode, size, modified, changed, ..Identity::default() }
}

/// The time of the last write, in nanoseconds since 1970, under the same condition as [`Identity::changed`].
pub fn written(metadata: &Metadata) -> Option<i64> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_nanos()).ok().filter(is_settled)
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
    milliseconds(metadata.modified().ok()?)
}

/// A time as it is stored in an identity.
pub(super) fn milliseconds(time: SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp::from_millis)
}

/// The device of a file, and its inode; both `None` on a system without inodes.
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
