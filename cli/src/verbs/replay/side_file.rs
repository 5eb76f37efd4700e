//! [`SideFile`]: a side output, whose committed length is a mark in the ledger.

use std::{
    fs::{File, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use foldline::{
    files::{owner_only, sync_name},
    ledger::{Extent, Mark},
};
use foldline_domain::{Json, Position};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The stored state of a side file.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    extent: Extent,
    /// The position up to which the log was read.
    position: Position,
}

/// The file of a sink whose output is not the ledger's own. The ledger's mark is its committed length;
/// bytes after that are truncated and written again.
pub(super) struct SideFile {
    path: PathBuf,
    file: File,
    length: u64,
    /// Its name in the ledger.
    name: String,
}

impl SideFile {
    /// The name of such a file in a ledger.
    pub(super) fn name(sink: &str, path: &Path) -> Result<String, Error> {
        let absolute = std::path::absolute(path)
            .map_err(|error| Error::Input { path: path.to_owned(), error })?;
        Ok(format!("sink {sink} {}", absolute.display()))
    }

    /// Opens the file at its committed length, or starts it again. `position` is the position of the ledger. A
    /// file that is unknown to the ledger must be empty, and a known file must be at this position.
    pub(super) fn open(
        path: &Path,
        name: String,
        stored: Option<&Json>,
        position: Option<Position>,
        restarts: bool,
    ) -> Result<Self, Error> {
        let fail = |error: io::Error| Error::output(path, &error);
        let refuse = |why: &str| Err(fail(io::Error::other(why)));
        let mut options = owner_only();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return refuse("another program is writing to it");
            }
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
        // Before the ledger states that the file exists.
        sync_name(path).map_err(fail)?;
        let stored = stored.map(|json| serde_json::from_str::<Stored>(json.get()));
        let length = match stored.transpose().map_err(|error| fail(error.into()))? {
            _ if restarts => 0,
            None if file.metadata().map_err(fail)?.len() > 0 => {
                return refuse("it is not empty, and was not written by this ledger");
            }
            None => 0,
            Some(Stored { position: its, .. }) if Some(its) != position => {
                return refuse("a run without it has read on, so something is missing in it");
            }
            Some(Stored { extent: Extent { length: 0, .. }, .. }) => 0,
            Some(Stored { extent, .. }) => {
                if Extent::read(&mut file, extent.length).map_err(fail)? != Some(extent) {
                    return refuse("it is another file than the ledger's, or was cut");
                }
                extent.length
            }
        };
        file.set_len(length).and_then(|()| file.seek(SeekFrom::Start(length))).map_err(fail)?;
        Ok(Self { path: path.to_owned(), file, length, name })
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(bytes);
        written.map_err(|error| Error::output(&self.path, &error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Syncs the file to disk.
    pub(super) fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(|error| Error::output(&self.path, &error))
    }

    /// Syncs the file to disk, and returns its mark for a commit at this position.
    pub(super) fn mark(&mut self, position: Position) -> Result<Mark, Error> {
        self.try_mark(position).map_err(|error| Error::output(&self.path, &error))
    }

    fn try_mark(&mut self, position: Position) -> io::Result<Mark> {
        self.file.sync_data()?;
        let extent = match self.length {
            0 => Extent::default(),
            length => Extent::read(&mut self.file, length)?
                .ok_or_else(|| io::Error::other("another program truncated it"))?,
        };
        self.file.seek(SeekFrom::Start(self.length))?;
        Ok(Mark { name: self.name.clone(), state: Json::of(&Stored { extent, position })? })
    }
}
