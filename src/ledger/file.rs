//! [`FileLedger`]: an output file, and a journal of its committed length.

use std::{
    collections::BTreeMap,
    fs::{self, File, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use foldline_json::Json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Checkpoint, Commit, CommitError, Extent, Ledger, Mark, SourceName};
use crate::{
    files::{is_at, owner_only, replace_file, sync_name},
    position::{Digest, Position},
};

/// Appends the output of its sources to one file, and records the committed length in a second one, the journal.
/// Bytes beyond that length were never committed, and are truncated before anything else is written.
///
/// Both files are locked before they are read, and while the ledger is open, so that two writers cannot truncate each
/// other's output.
#[derive(Debug)]
pub struct FileLedger {
    output: File,
    journal: Journal,
    stored: Stored,
    /// The number of bytes written ahead of their commit.
    ahead: u64,
    /// The output was already truncated to this ledger's length.
    is_cut: bool,
}

impl FileLedger {
    /// Opens the ledger, or creates it if neither file exists. Output without a journal is not truncated: nothing says
    /// that it belongs to the ledger.
    ///
    /// # Errors
    /// The files cannot be opened, do not belong together, or another program writes to them.
    pub fn open(output: &Path, journal: &Path) -> Result<Self, FileLedgerError> {
        let output = locked(output)?;
        if !journal.exists() && output.metadata()?.len() > 0 {
            return Err(FileLedgerError::NoJournal);
        }
        let mut journal = Journal::open(journal)?;
        let stored = journal.read()?;
        Self::with(output, journal, stored)
    }

    /// Opens the ledger and discards its contents, valid or not.
    ///
    /// # Errors
    /// The files cannot be opened, or another program writes to them.
    pub fn begin_anew(output: &Path, journal: &Path) -> Result<Self, FileLedgerError> {
        let output = locked(output)?;
        let mut journal = Journal::open(journal)?;
        let stored = Stored::default();
        journal.replace(&stored)?;
        Self::with(output, journal, stored)
    }

    fn with(mut output: File, journal: Journal, stored: Stored) -> Result<Self, FileLedgerError> {
        let Extent { length, .. } = stored.output;
        if length > 0 && Extent::read(&mut output, length)? != Some(stored.output) {
            return Err(FileLedgerError::Output);
        }
        Ok(Self { output, journal, stored, ahead: 0, is_cut: false })
    }

    /// Truncates uncommitted bytes, before the first write.
    fn cut(&mut self) -> io::Result<()> {
        if !self.is_cut {
            let end = self.stored.output.length + self.ahead;
            self.output.set_len(end)?;
            self.output.seek(SeekFrom::Start(end))?;
            self.is_cut = true;
        }
        Ok(())
    }

    /// The committed extent of the output.
    pub fn committed(&self) -> Extent {
        self.stored.output
    }

    /// The name of the only source of this ledger, if it has exactly one.
    pub fn only_source(&self) -> Option<&SourceName> {
        let mut names = self.stored.sources.keys();
        names.next().filter(|_| names.next().is_none())
    }

    /// Writes the first part of the next commit's output early, so that readers see it immediately. The commit's own
    /// output follows it. Without a commit, it is truncated before the next write.
    ///
    /// # Errors
    /// It cannot be written; then no part of it remains.
    pub fn write_ahead(&mut self, bytes: &[u8]) -> Result<(), FileLedgerError> {
        self.cut()?;
        if let Err(error) = self.output.write_all(bytes) {
            self.is_cut = false;
            self.cut()?;
            return Err(error.into());
        }
        self.ahead += bytes.len() as u64;
        Ok(())
    }

    /// Syncs the data that was written ahead.
    ///
    /// # Errors
    /// The file system failed.
    pub fn sync(&self) -> Result<(), FileLedgerError> {
        Ok(self.output.sync_data()?)
    }

    fn try_commit(
        &mut self,
        commits: &[Commit<Vec<u8>>],
        beside: &[Mark],
    ) -> Result<u64, FileLedgerError> {
        // Truncates the remains of an earlier failure.
        self.cut()?;
        self.is_cut = false;
        let mut length = self.stored.output.length + self.ahead;
        let mut next = self.stored.clone();
        for commit in commits {
            let bytes = &commit.output;
            self.output.write_all(bytes)?;
            length += bytes.len() as u64;
            next.sources.insert(commit.source.clone(), commit.checkpoint.clone());
        }
        for Mark { name, state } in beside {
            next.marks.insert(name.clone(), state.clone());
        }
        self.output.sync_data()?;
        let settled = Extent::read(&mut self.output, length)?;
        next.output = settled.ok_or(FileLedgerError::Output)?;
        self.output.seek(SeekFrom::Start(length))?;
        self.journal.replace(&next)?;
        let written = length - self.stored.output.length;
        (self.stored, self.ahead, self.is_cut) = (next, 0, true);
        Ok(written)
    }
}

/// Opens the output and locks it.
fn locked(path: &Path) -> Result<File, FileLedgerError> {
    let mut options = owner_only();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(FileLedgerError::NotAFile);
    }
    match file.try_lock() {
        Ok(()) => {
            // Before a journal refers to the output.
            sync_name(path)?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => Err(FileLedgerError::Locked),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

impl Ledger for FileLedger {
    type Output = Vec<u8>;
    /// The number of bytes written.
    type Receipt = u64;
    type Error = FileLedgerError;

    fn load(&mut self, source: &SourceName) -> Result<Option<Checkpoint>, FileLedgerError> {
        Ok(self.stored.sources.get(source).cloned())
    }

    fn commit(
        &mut self,
        commits: &[Commit<Vec<u8>>],
        beside: &[Mark],
    ) -> Result<u64, CommitError<FileLedgerError>> {
        let mut at: BTreeMap<&SourceName, Option<Position>> = BTreeMap::new();
        for Commit { source, expected, checkpoint, .. } in commits {
            let stored = || self.stored.sources.get(source).map(|stored| stored.position);
            let committed = at.entry(source).or_insert_with(stored);
            if *committed != *expected {
                let (source_name, expected, stored) = (source.clone(), *expected, *committed);
                return Err(CommitError::Moved { source_name, expected, stored });
            }
            *committed = Some(checkpoint.position);
        }
        Ok(self.try_commit(commits, beside)?)
    }

    fn mark(&mut self, name: &str) -> Result<Option<Json>, FileLedgerError> {
        Ok(self.stored.marks.get(name).cloned())
    }

    /// The output of one of several sources cannot be removed from the middle of a file, so a source can be forgotten
    /// only if it is the only one, together with the whole output. Marks remain: they belong to no source.
    fn forget(&mut self, source: &SourceName) -> Result<bool, FileLedgerError> {
        if self.stored.sources.keys().any(|other| other != source) {
            return Err(io::Error::other("the output also contains other sources").into());
        }
        let had = !self.stored.sources.is_empty();
        let next = Stored { marks: self.stored.marks.clone(), ..Stored::default() };
        self.journal.replace(&next)?;
        (self.stored, self.ahead, self.is_cut) = (next, 0, false);
        self.cut()?;
        Ok(had)
    }
}

/// The reason why a file ledger cannot be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileLedgerError {
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another program is writing to the output.
    #[error("another program is writing to the output")]
    Locked,
    /// Another program has the journal open.
    #[error("another program is writing to it")]
    JournalLocked,
    /// The output is a pipe or a device, which cannot be truncated.
    #[error("the output is not a regular file")]
    NotAFile,
    /// The journal is damaged, or of another version.
    #[error("{0}")]
    Journal(String),
    /// There is output, and no journal of it.
    #[error("the output has content, and its journal is missing")]
    NoJournal,
    /// The output does not belong to the journal.
    #[error("the output does not belong to the journal, or was truncated")]
    Output,
}

const VERSION: u32 = 1;

/// How often the file may be replaced while it is opened before opening fails.
const ATTEMPTS: usize = 100;

/// The journal of a [`FileLedger`](super::FileLedger). It is replaced atomically, and locked while it is open.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Stored {
    /// The committed extent of the output.
    pub(super) output: Extent,
    pub(super) sources: BTreeMap<SourceName, Checkpoint>,
    pub(super) marks: BTreeMap<String, Json>,
}

#[derive(Deserialize)]
struct Versioned {
    foldline_ledger: u32,
}

#[derive(Deserialize)]
struct Envelope<'j> {
    sha256: Digest,
    #[serde(borrow)]
    body: &'j RawValue,
}

impl Journal {
    /// Opens the journal; a missing file is an empty journal.
    pub(super) fn open(path: &Path) -> Result<Self, FileLedgerError> {
        for _ in 0..ATTEMPTS {
            let file =
                owner_only().read(true).write(true).create(true).truncate(false).open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(FileLedgerError::JournalLocked),
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            let path = fs::canonicalize(path)?;
            if file.metadata()?.len() == 0 {
                // Its name must survive a power loss before anything is written to the output.
                sync_name(&path)?;
            }
            // The file may have been replaced before it was locked.
            if is_at(&file, &path) {
                return Ok(Self { path, file });
            }
        }
        Err(FileLedgerError::JournalLocked)
    }

    pub(super) fn read(&mut self) -> Result<Stored, FileLedgerError> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut bytes)?;
        if bytes.is_empty() { Ok(Stored::default()) } else { parse(&bytes) }
    }

    pub(super) fn replace(&mut self, stored: &Stored) -> Result<(), FileLedgerError> {
        if !is_at(&self.file, &self.path) {
            return Err(FileLedgerError::Journal("another program has replaced it".to_owned()));
        }
        let body = foldline_json::to_string(stored).map_err(std::io::Error::from)?;
        let sha256 = Digest::of(body.as_bytes());
        let journal =
            format!("{{\"foldline_ledger\":{VERSION},\"sha256\":\"{sha256}\",\"body\":{body}}}\n");
        self.file = replace_file(&self.path, journal.as_bytes())?;
        Ok(())
    }
}

fn parse(bytes: &[u8]) -> Result<Stored, FileLedgerError> {
    let damaged =
        |error: serde_json::Error| FileLedgerError::Journal(format!("it is damaged: {error}"));
    let Versioned { foldline_ledger: version } = serde_json::from_slice(bytes).map_err(damaged)?;
    if version != VERSION {
        let what = format!("it has version {version}, and this program reads version {VERSION}");
        return Err(FileLedgerError::Journal(what));
    }
    let Envelope { sha256, body } = serde_json::from_slice(bytes).map_err(damaged)?;
    if Digest::of(body.get().as_bytes()) != sha256 {
        return Err(FileLedgerError::Journal(
            "it is damaged: its digest does not match".to_owned(),
        ));
    }
    serde_json::from_str(body.get()).map_err(damaged)
}
