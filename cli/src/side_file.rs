//! [`SideFile`]: a side output, whose committed length is a mark in the ledger.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use foldline::{
    conversation::Json,
    ledger::{Extent, Mark},
};

use crate::error::Error;

/// The file of a sink whose output is not the ledger's own. The ledger's mark is its committed length;
/// bytes after that are truncated and written again.
pub(crate) struct SideFile {
    path: PathBuf,
    file: File,
    length: u64,
    /// Its name in the ledger.
    name: String,
}

impl SideFile {
    /// The name of such a file in a ledger.
    pub(crate) fn name(sink: &str, path: &Path) -> Result<String, Error> {
        let absolute = std::path::absolute(path)
            .map_err(|error| Error::Input { path: path.to_owned(), error })?;
        Ok(format!("sink {sink} {}", absolute.display()))
    }

    /// Opens the file at its committed length, or starts it again. A file that the ledger does not know must
    /// be empty.
    pub(crate) fn open(
        path: &Path,
        name: String,
        stored: Option<&Json>,
        anew: bool,
    ) -> Result<Self, Error> {
        let fail = |error: io::Error| Error::output(path, &error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(fail(io::Error::other("another program is writing to it")));
            }
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
        let stored = stored.map(|json| serde_json::from_str::<Extent>(json.get()));
        let length = match stored.transpose().map_err(|error| fail(error.into()))? {
            _ if anew => 0,
            None if file.metadata().map_err(fail)?.len() > 0 => {
                return Err(fail(io::Error::other(
                    "it is not empty, and was not written by this ledger",
                )));
            }
            None => 0,
            Some(Extent { length: 0, .. }) => 0,
            Some(stored) => {
                if Extent::read(&mut file, stored.length).map_err(fail)? != Some(stored) {
                    let what = "it is another file than the ledger's, or was cut";
                    return Err(fail(io::Error::other(what)));
                }
                stored.length
            }
        };
        file.set_len(length).and_then(|()| file.seek(SeekFrom::Start(length))).map_err(fail)?;
        Ok(Self { path: path.to_owned(), file, length, name })
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(bytes);
        written.map_err(|error| Error::output(&self.path, &error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Syncs the file to disk, and returns its mark.
    pub(crate) fn mark(&mut self) -> Result<Mark, Error> {
        self.try_mark().map_err(|error| Error::output(&self.path, &error))
    }

    fn try_mark(&mut self) -> io::Result<Mark> {
        self.file.sync_data()?;
        let extent = match self.length {
            0 => Extent::default(),
            length => Extent::read(&mut self.file, length)?
                .ok_or_else(|| io::Error::other("somebody else made it shorter"))?,
        };
        self.file.seek(SeekFrom::Start(self.length))?;
        Ok(Mark { name: self.name.clone(), state: Json::of(&extent)? })
    }
}
