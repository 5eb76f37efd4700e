//! [`Seen`]: the metadata of a database file.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The metadata of a database file that contains all changes. A later difference shows that it was written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) length: u64,
    pub(super) modified: Option<SystemTime>,
}

impl Seen {
    /// Reads the metadata; `None` if the write-ahead log may contain changes.
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        let path = dunce::canonicalize(path)?;
        let has_log = fs::metadata(beside(&path, "-wal")).is_ok_and(|log| log.len() > 0);
        let metadata = fs::metadata(&path)?;
        let (length, modified) = (metadata.len(), metadata.modified().ok());
        Ok((!has_log).then_some(Self { length, modified }))
    }

    /// Whether the file has exactly this modification time, in milliseconds since 1970.
    pub(super) fn has_time(&self, millis: i64) -> bool {
        let since = self.modified.and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
        since.is_some() && since == u64::try_from(millis).ok().map(Duration::from_millis)
    }
}

/// Sets the modification time of a file, in milliseconds since 1970.
#[cfg(unix)]
pub(super) fn set_time(path: &Path, millis: i64) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, utimensat};
    // The file is not opened: closing it would release the locks of other connections of this process.
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec {
            tv_sec: millis.div_euclid(1000),
            tv_nsec: 1_000_000 * millis.rem_euclid(1000),
        },
    };
    Ok(utimensat(CWD, path, &times, AtFlags::empty())?)
}

/// For systems where closing a file does not release other locks.
#[cfg(not(unix))]
pub(super) fn set_time(path: &Path, millis: i64) -> io::Result<()> {
    let time = UNIX_EPOCH + Duration::from_millis(millis.cast_unsigned());
    fs::OpenOptions::new().write(true).open(path)?.set_modified(time)
}

/// A file that SQLite keeps next to a database.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        fs::write(&path, "one").unwrap();
        let before = Seen::of(&path).unwrap();
        assert_eq!(Seen::of(&path).unwrap(), before);
        fs::write(beside(&path, "-wal"), "").unwrap();
        assert_eq!(Seen::of(&path).unwrap(), before);
        fs::write(beside(&path, "-wal"), "more").unwrap();
        assert_eq!(Seen::of(&path).unwrap(), None);
        fs::remove_file(beside(&path, "-wal")).unwrap();
        set_time(&path, 1_700_000_000_001).unwrap();
        let seen = Seen::of(&path).unwrap().unwrap();
        assert!(seen.has_time(1_700_000_000_001) && !seen.has_time(1_700_000_000_002));
        fs::write(&path, "longer").unwrap();
        assert_ne!(Seen::of(&path).unwrap(), before);
    }
}
