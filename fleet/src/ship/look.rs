//! [`Look`]: what the system says of a name, without opening it.

use std::{fs, path::Path, time::SystemTime};

/// The device that a file is on, and its number there.
pub(super) type Number = (Option<u64>, Option<u64>);

/// What the system says of a name: if it says the same again, there is nothing new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) number: Number,
    pub(super) length: u64,
    pub(super) modified: Option<SystemTime>,
}

impl Look {
    /// Looks at a name; `None` if there is no such file.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let modified = metadata.modified().ok();
        Some(Self { number: number(&metadata), length: metadata.len(), modified })
    }
}

#[cfg(unix)]
fn number(metadata: &fs::Metadata) -> Number {
    use std::os::unix::fs::MetadataExt;
    (Some(metadata.dev()), Some(metadata.ino()))
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> Number {
    (None, None)
}
