//! [`Look`]: the metadata of a path, read without opening it.

use std::{fs, path::Path, time::SystemTime};

/// The device and inode of a file.
pub(super) type Number = (Option<u64>, Option<u64>);

/// The metadata of a path: equal metadata means no change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) number: Number,
    pub(super) length: u64,
    pub(super) modified: Option<SystemTime>,
}

impl Look {
    /// Reads the metadata of a path; `None` if there is no such file.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let modified = metadata.modified().ok();
        Some(Self { number: number(&metadata), length: metadata.len(), modified })
    }
}

/// When a file was created, or else last changed, in milliseconds since 1970.
pub(super) fn created(path: &Path) -> Option<i64> {
    let metadata = fs::metadata(path).ok()?;
    let at = metadata.created().or_else(|_| metadata.modified()).ok()?;
    i64::try_from(at.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(unix)]
pub(super) fn number(metadata: &fs::Metadata) -> Number {
    use std::os::unix::fs::MetadataExt;
    (Some(metadata.dev()), Some(metadata.ino()))
}

#[cfg(not(unix))]
pub(super) fn number(_: &fs::Metadata) -> Number {
    (None, None)
}
