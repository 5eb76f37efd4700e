//! [`OutputFile`]: a file that contains exactly the committed bytes of an output.

use std::{
    collections::BTreeSet,
    fs::{File, TryLockError},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use foldline::{
    files::{owner_only, sync_name},
    ledger::{Extent, Mark},
};
use foldline_database::sqlite::{Database, Output};
use foldline_domain::Json;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The interval between attempts to lock a file.
const SOON: Duration = Duration::from_millis(20);

/// The stored state of an output file, in addition to its outbox.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileState {
    /// The path of the file.
    pub(super) path: String,
    /// The synchronized part of the file. Later commits are in the outbox.
    pub(super) written: Extent,
    /// Further state that its owner needs to continue.
    pub(super) memory: Json,
}

/// A locked file that was not yet compared with the database.
pub(super) struct LockedFile {
    path: PathBuf,
    file: File,
    length: u64,
}

/// The file of an output. Data is copied to it from the outbox of the database after the commit, so it never
/// has to be truncated.
pub(super) struct OutputFile {
    path: PathBuf,
    file: File,
    /// Its name in the database.
    name: String,
    /// The synchronized part of the file.
    written: Extent,
    /// The synchronized part according to the database.
    known: u64,
    /// The length with all committed data.
    committed: u64,
    /// The data for the next commit.
    staged: Vec<u8>,
}

impl LockedFile {
    /// Opens or creates a file, and locks it; `wait` limits the time to wait for another program's lock.
    pub(super) fn open(path: &Path, wait: Duration) -> Result<Self, Error> {
        Self::try_open(path, wait).map_err(|error| Error::output(path, &error))
    }

    fn try_open(path: &Path, wait: Duration) -> io::Result<Self> {
        let mut options = owner_only();
        let file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if begun.elapsed() < wait => thread::sleep(SOON),
                Err(TryLockError::WouldBlock) => {
                    return Err(io::Error::other("another program is writing to it"));
                }
            }
        }
        let path = dunce::canonicalize(path)?;
        let length = file.metadata()?.len();
        if length == 0 {
            // A new file's name must be durable before its contents are.
            sync_name(&path)?;
        }
        Ok(Self { path, file, length })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path as stored in the database.
    pub(super) fn stored_path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The first line with its line end, up to `max` bytes.
    pub(super) fn first_line(&mut self, max: u64) -> Result<Vec<u8>, Error> {
        let mut line = Vec::new();
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| BufReader::new((&self.file).take(max)).read_until(b'\n', &mut line))
            .map_err(|error| Error::output(&self.path, &error))?;
        Ok(line)
    }

    /// The error for a file that is rejected.
    pub(super) fn refuse(&self, why: impl Into<String>) -> Error {
        Error::output(&self.path, &io::Error::other(why.into()))
    }

    /// An output that the database does not know yet.
    pub(super) fn begin(self, name: String) -> Result<OutputFile, Error> {
        if !self.is_empty() {
            return Err(self.refuse("it is not empty, and the database has not written it"));
        }
        let written = Extent::of(b"");
        let Self { path, file, .. } = self;
        Ok(OutputFile { path, file, name, written, known: 0, committed: 0, staged: Vec::new() })
    }

    /// Opens the known output with this name, and writes committed data that is missing in the file. A file
    /// with other contents than the committed data is rejected and stays unchanged.
    pub(super) fn resume(
        self,
        name: String,
        written: Extent,
        database: &Database,
    ) -> Result<OutputFile, Error> {
        let Self { path, file, .. } = self;
        let known = written.length;
        let mut file =
            OutputFile { path, file, name, written, known, committed: 0, staged: Vec::new() };
        let found = Extent::read(&mut file.file, written.length);
        match found.map_err(|error| file.fail(&error))? {
            None => Err(file.refuse(
                "it is shorter than what the database has written to it; if it was moved, give its new name, \
                 else name another file",
            )),
            Some(found) if found != written => {
                Err(file.refuse("it does not begin with what the database has written to it"))
            }
            Some(_) => file.deliver(database).map(|()| file),
        }
    }
}

impl OutputFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The name in the database.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The data for the next commit, for appending.
    pub(super) fn staged(&mut self) -> &mut Vec<u8> {
        &mut self.staged
    }

    /// The number of bytes of the next commit.
    pub(super) fn staged_length(&self) -> usize {
        self.staged.len()
    }

    /// Whether the outbox contains data that is already synchronized.
    pub(super) fn has_delivered(&self) -> bool {
        self.known != self.written.length
    }

    /// Takes the staged data for a commit of the database.
    pub(super) fn output(&mut self, memory: Json) -> Result<Output, Error> {
        let Self { path, name, written, known, committed, staged, .. } = self;
        *known = written.length;
        let path_text = path.to_string_lossy().into_owned();
        let state = FileState { path: path_text, written: *written, memory };
        let state = Json::of(&state).map_err(|error| Error::output(path, &error.into()))?;
        let (bytes, offset) = (std::mem::take(staged), *committed);
        *committed += bytes.len() as u64;
        let mark = Mark { name: name.clone(), state };
        Ok(Output { mark, written: written.length, offset, bytes, recorded: BTreeSet::new() })
    }

    /// Discards the data staged or committed since the last delivery.
    pub(super) fn undo(&mut self) {
        self.staged.clear();
        self.committed = self.written.length;
    }

    /// Writes committed data that is not in the file yet, and synchronizes the file.
    pub(super) fn deliver(&mut self, database: &Database) -> Result<(), Error> {
        let length = self.file.metadata().map_err(|error| self.fail(&error))?.len();
        if length != self.written.length {
            self.compare(database, length)?;
        }
        let mut at = self.written.length;
        while let Some(piece) = database.outbox(&self.name, at)? {
            let written = self
                .file
                .seek(SeekFrom::Start(at))
                .and_then(|_| self.file.write_all(&piece))
                .map_err(|error| self.fail(&error));
            if written.is_err() {
                // Removes a partial line, which is written again from the outbox.
                let _ = self.file.set_len(self.written.length);
                return written;
            }
            at += piece.len() as u64;
        }
        self.committed = at;
        if at > self.written.length {
            self.written = self.settled(at).map_err(|error| self.fail(&error))?;
        }
        Ok(())
    }

    /// Synchronizes the file, and returns the synchronized part.
    fn settled(&mut self, length: u64) -> io::Result<Extent> {
        self.file.sync_data()?;
        let shorter = || io::Error::other("another program made it shorter");
        Extent::read(&mut self.file, length)?.ok_or_else(shorter)
    }

    /// Checks that the bytes after the synchronized part are a prefix of the committed data. After a power loss
    /// some of them may be zeros.
    fn compare(&mut self, database: &Database, length: u64) -> Result<(), Error> {
        let mut at = self.written.length;
        while let Some(piece) = database.outbox(&self.name, at)? {
            let mut found = Vec::new();
            self.file
                .seek(SeekFrom::Start(at))
                .and_then(|_| (&self.file).take(piece.len() as u64).read_to_end(&mut found))
                .map_err(|error| self.fail(&error))?;
            if !found.iter().zip(&piece).all(|(is, should)| is == should || *is == 0) {
                return Err(self.refuse("it does not hold what the database has committed"));
            }
            at += piece.len() as u64;
        }
        if length > at {
            return Err(self.refuse(
                "it continues after what the database wrote to it: another database, or a later state of \
                 this one, has written to it; name another file",
            ));
        }
        Ok(())
    }

    fn refuse(&self, why: &str) -> Error {
        self.fail(&io::Error::other(why))
    }

    fn fail(&self, error: &io::Error) -> Error {
        Error::output(&self.path, error)
    }
}
