//! [`Checkpoint`]: the file with the acknowledged position of each log; [`Mark`]: a position to resume from.

use std::{
    collections::BTreeMap,
    fs::{self, File, TryLockError},
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use foldline::{
    files::{owner_only, replace_file},
    ledger::Identity,
    source::{LogFile, SourceError},
};
use foldline_domain::Digest;
use serde::{Deserialize, Serialize};

use crate::{error::Error, piece::Place};

const VERSION: u32 = 1;

/// The interval at which acknowledged positions are stored.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// How often the file may be replaced while it is opened before opening fails.
const ATTEMPTS: usize = 100;

/// The acknowledged position of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shipped {
    /// The path of the log, with non-Unicode parts replaced.
    pub(super) path: String,
    /// The name of the format.
    pub(super) format: String,
    /// The number of files of the log before the current one.
    pub(super) file: u64,
    /// The offset in that file up to which everything was acknowledged.
    pub(super) offset: u64,
    /// The identity of that file.
    pub(super) identity: Identity,
    /// The file before it, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<Before>,
    /// The files that were read to their end, possibly after that position.
    pub(super) before: Vec<Before>,
    /// The log was declared complete.
    pub(super) is_complete: bool,
    /// The file was replaced by another one that does not continue it.
    pub(super) is_replaced: bool,
    /// Where bytes may be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) holes: Vec<Hole>,
}

/// A file that was read to its end, and belongs to a log that continues in another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Before {
    pub(super) device: Option<u64>,
    pub(super) inode: Option<u64>,
    /// Needed because inodes are reused.
    pub(super) first_line: Option<Digest>,
}

impl Before {
    /// The file of this identity.
    pub(super) fn of(identity: &Identity) -> Self {
        let Identity { device, inode, first_line, .. } = *identity;
        Self { device, inode, first_line }
    }

    /// The identity of the file, without what was read.
    pub(super) fn identity(&self) -> Identity {
        let mut identity = Identity::default();
        (identity.device, identity.inode) = (self.device, self.inode);
        identity
    }

    /// The file at this path.
    pub(super) fn at(path: &Path) -> Result<Option<Self>, SourceError> {
        let mut file = LogFile::open_regular(path)?;
        let first_line = Some(file.first_line()?);
        Ok(file.status()?.map(|status| Self { first_line, ..Self::of(&status) }))
    }
}

/// The logs of a checkpoint by name.
pub(super) type Logs = BTreeMap<String, Shipped>;

#[derive(Serialize, Deserialize)]
struct Stored<L> {
    foldline_ship: u32,
    logs: L,
}

/// The checkpoint of this run. It is replaced atomically, and locked while it is open, so that two runs never share
/// one.
#[derive(Debug)]
pub(super) struct Checkpoint {
    path: PathBuf,
    /// Holds the lock.
    file: File,
}

impl Checkpoint {
    /// Opens the checkpoint; a missing file is an empty checkpoint.
    pub(super) fn open(path: &Path) -> Result<(Self, Logs), Error> {
        let fail = |error: io::Error| Error::output(path, &error);
        for _ in 0..ATTEMPTS {
            let mut options = owner_only();
            options.read(true).write(true).create(true).truncate(false);
            let mut file = options.open(path).map_err(fail)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(fail(in_use())),
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
            let path = fs::canonicalize(path).map_err(fail)?;
            // The file may have been replaced before it was locked.
            if is_at(&file, &path) {
                let logs =
                    read(&mut file).map_err(|error| Error::Input { path: path.clone(), error })?;
                return Ok((Self { path, file }, logs));
            }
        }
        Err(fail(in_use()))
    }

    /// Its full path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces it.
    pub(super) fn store(&mut self, logs: &Logs) -> Result<(), Error> {
        let fail = |error: io::Error| Error::output(&self.path, &error);
        if !is_at(&self.file, &self.path) {
            return Err(fail(io::Error::other("another program replaced or removed it")));
        }
        let stored = Stored { foldline_ship: VERSION, logs };
        let mut text = serde_json::to_vec(&stored).map_err(|error| fail(error.into()))?;
        text.push(b'\n');
        self.file = replace_file(&self.path, &text).map_err(fail)?;
        Ok(())
    }
}

fn in_use() -> io::Error {
    io::Error::other(
        "another foldline-fleet ship uses it; specify a different file with --checkpoint",
    )
}

fn read(file: &mut File) -> io::Result<Logs> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    if text.is_empty() {
        return Ok(Logs::new());
    }
    let no_checkpoint = |why: &dyn std::fmt::Display| {
        io::Error::other(format!(
            "not a checkpoint of foldline-fleet ship ({why}); if you remove it, everything is shipped again"
        ))
    };
    match serde_json::from_str::<Stored<Logs>>(&text) {
        Err(error) => Err(no_checkpoint(&error)),
        Ok(Stored { foldline_ship: VERSION, logs }) => Ok(logs),
        Ok(Stored { foldline_ship: other, .. }) => {
            Err(no_checkpoint(&format!("version {other}; this program reads version {VERSION}")))
        }
    }
}

/// Whether the file is still the one at this path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().ok().map(number) == fs::metadata(path).ok().map(number)
}

/// A locked file cannot be replaced on this platform.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

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

/// A position to resume from.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) place: Place,
    /// The file, up to there.
    pub(super) identity: Identity,
    /// The file before it, if it is known.
    pub(super) previous: Option<Before>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_read_as_it_was_stored_and_used_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ship.json");
        let (mut checkpoint, logs) = Checkpoint::open(&path).unwrap();
        assert!(logs.is_empty());
        let shipped = Shipped {
            path: "/é.jsonl".to_owned(),
            format: "droid".to_owned(),
            file: 1,
            offset: 7,
            identity: Identity::default(),
            previous: None,
            before: vec![Before { device: Some(1), inode: Some(2), first_line: None }],
            is_complete: false,
            is_replaced: false,
            holes: vec![Hole { file: 0, offset: 9, note: "was truncated".to_owned() }],
        };
        let logs = Logs::from([("host/1-2-ab".to_owned(), shipped)]);
        for _ in 0..2 {
            checkpoint.store(&logs).unwrap();
            let refused = Checkpoint::open(&path).unwrap_err().to_string();
            assert!(refused.contains("another foldline-fleet ship uses it"), "{refused}");
        }
        drop(checkpoint);
        assert_eq!(Checkpoint::open(&path).unwrap().1, logs);
        fs::write(&path, "something else").unwrap();
        let refused = Checkpoint::open(&path).unwrap_err().to_string();
        assert!(refused.contains("not a checkpoint"), "{refused}");
    }
}
