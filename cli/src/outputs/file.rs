//! [`OutputFile`]: a file that holds what a database has committed of an output, and nothing else.

use std::{
    fs::{self, File, TryLockError},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use foldline::{
    conversation::Json,
    emitters::sqlite::{Database, Output},
    files::{owner_only, sync_name},
    ledger::{Extent, Mark},
};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// How often to try to lock a file.
const SOON: Duration = Duration::from_millis(20);

/// What the database stores of an output file, besides its outbox.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileState {
    /// Where the file is.
    pub(super) path: String,
    /// What is on the disk for certain. What is committed after it is in the outbox.
    pub(super) written: Extent,
    /// What else its owner needs to go on.
    pub(super) memory: Json,
}

/// A file that no other program writes to, and that was not yet compared with the database.
pub(super) struct LockedFile {
    path: PathBuf,
    file: File,
    length: u64,
}

/// The file of an output. It gets what is committed after the commit, from the outbox of the database, and so
/// never has to be truncated.
pub(super) struct OutputFile {
    path: PathBuf,
    file: File,
    /// Its name in the database.
    name: String,
    /// What is on the disk for certain.
    written: Extent,
    /// How much of that the database knows.
    known: u64,
    /// The length with everything that is committed.
    committed: u64,
    /// What the next commit appends.
    staged: Vec<u8>,
}

impl LockedFile {
    /// Opens a file, or creates it, and locks it; waits so long for another program that has locked it.
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
        let path = fs::canonicalize(path)?;
        let length = file.metadata()?.len();
        if length == 0 {
            // It may be new, and its name must not be lost when its contents are not.
            sync_name(&path)?;
        }
        Ok(Self { path, file, length })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its path as the database stores it.
    pub(super) fn stored_path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Its first line with its line end; not more than `max` bytes of it.
    pub(super) fn first_line(&mut self, max: u64) -> Result<Vec<u8>, Error> {
        let mut line = Vec::new();
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| BufReader::new((&self.file).take(max)).read_until(b'\n', &mut line))
            .map_err(|error| Error::output(&self.path, &error))?;
        Ok(line)
    }

    /// Why the file is not written to.
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

    /// The output that the database knows by this name. What is committed and missing in the file is written.
    /// Nothing is written to a file that holds anything else than the database has committed.
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

    /// What the next commit appends, to add to it.
    pub(super) fn staged(&mut self) -> &mut Vec<u8> {
        &mut self.staged
    }

    /// How many bytes the next commit appends.
    pub(super) fn staged_length(&self) -> usize {
        self.staged.len()
    }

    /// Whether the outbox holds something that is on the disk by now.
    pub(super) fn has_delivered(&self) -> bool {
        self.known != self.written.length
    }

    /// What the database is to commit: takes what is staged.
    pub(super) fn output(&mut self, memory: Json) -> Result<Output, Error> {
        let Self { path, name, written, known, committed, staged, .. } = self;
        *known = written.length;
        let path_text = path.to_string_lossy().into_owned();
        let state = FileState { path: path_text, written: *written, memory };
        let state = Json::of(&state).map_err(|error| Error::output(path, &error.into()))?;
        let (bytes, offset) = (std::mem::take(staged), *committed);
        *committed += bytes.len() as u64;
        let mark = Mark { name: name.clone(), state };
        Ok(Output { mark, written: written.length, offset, bytes })
    }

    /// What was staged or committed since the last delivery is undone.
    pub(super) fn undo(&mut self) {
        self.staged.clear();
        self.committed = self.written.length;
    }

    /// Writes what is committed and not in the file yet, and forces it onto the disk.
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
                // No part of a line stays behind. It is written again from the outbox.
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

    /// Forces the file onto the disk, and says what it holds then.
    fn settled(&mut self, length: u64) -> io::Result<Extent> {
        self.file.sync_data()?;
        let shorter = || io::Error::other("another program made it shorter");
        Extent::read(&mut self.file, length)?.ok_or_else(shorter)
    }

    /// Checks that what the file holds after the part that is on the disk for certain is the beginning of what
    /// is committed. After a loss of power some of it may be zeros.
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
