//! [`FileLedger`]: an output file, and a journal that records how much of it is committed.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Checkpoint, Commit, CommitError, Extent, Ledger, Mark, SourceName};
use crate::conversation::{Digest, Json, Position};

const VERSION: u32 = 1;

/// Appends the output of its sources to one file, and records in a second one, the journal, how much of it
/// was committed. Bytes after that were never committed, and are truncated before anything else is written.
///
/// The output is locked before it is read, and as long as the ledger is open, so that two writers cannot
/// truncate each other's output.
#[derive(Debug)]
pub struct FileLedger {
    output: File,
    journal: PathBuf,
    stored: Stored,
    /// How many bytes were written ahead of their commit.
    ahead: u64,
    /// The output was already truncated to this ledger's own length.
    is_cut: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Stored {
    /// What was committed of the output.
    output: Extent,
    sources: BTreeMap<SourceName, Checkpoint>,
    marks: BTreeMap<String, Json>,
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

/// Why a file ledger cannot be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileLedgerError {
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another program is writing to the output.
    #[error("another program is writing to the output")]
    Locked,
    /// The output is a pipe or a device, which cannot be truncated.
    #[error("the output is no file")]
    NotAFile,
    /// The journal is damaged, or of another version.
    #[error("{0}")]
    Journal(String),
    /// The output is not the one that the journal belongs to.
    #[error("the output is another one than the journal's, or was cut")]
    Output,
}

impl FileLedger {
    /// Opens the ledger; makes it where there is none.
    ///
    /// # Errors
    /// The files cannot be opened, do not belong together, or another program writes to them.
    pub fn open(output: &Path, journal: &Path) -> Result<Self, FileLedgerError> {
        let output = locked(output)?;
        let stored = match fs::read(journal) {
            Ok(bytes) => parse(&bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Stored::default(),
            Err(error) => return Err(error.into()),
        };
        Self::with(output, journal, stored)
    }

    /// Opens the ledger and discards its contents, valid or not.
    ///
    /// # Errors
    /// The files cannot be opened, or another program writes to them.
    pub fn begin_anew(output: &Path, journal: &Path) -> Result<Self, FileLedgerError> {
        let output = locked(output)?;
        let stored = Stored::default();
        replace(journal, &stored)?;
        Self::with(output, journal, stored)
    }

    fn with(mut output: File, journal: &Path, stored: Stored) -> Result<Self, FileLedgerError> {
        let Extent { length, .. } = stored.output;
        if length > 0 && Extent::read(&mut output, length)? != Some(stored.output) {
            return Err(FileLedgerError::Output);
        }
        Ok(Self { output, journal: journal.to_owned(), stored, ahead: 0, is_cut: false })
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

    /// The committed length of the output in bytes.
    pub fn committed(&self) -> Extent {
        self.stored.output
    }

    /// The name of the only source of this ledger, if it has exactly one.
    pub fn only_source(&self) -> Option<&SourceName> {
        let mut names = self.stored.sources.keys();
        names.next().filter(|_| names.next().is_none())
    }

    /// Writes the first part of the next commit's output early, so that readers see it at once. The commit's
    /// own output follows it. Without a commit, it is truncated before the next write.
    ///
    /// # Errors
    /// It cannot be written; then no part of it stays.
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

    /// Forces what was written ahead onto the disk.
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
        // Truncates what an earlier failure left.
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
        replace(&self.journal, &next)?;
        let written = length - self.stored.output.length;
        (self.stored, self.ahead, self.is_cut) = (next, 0, true);
        Ok(written)
    }
}

/// Opens the output and locks it.
fn locked(path: &Path) -> Result<File, FileLedgerError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(FileLedgerError::NotAFile);
    }
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(FileLedgerError::Locked),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

impl Ledger for FileLedger {
    type Output = Vec<u8>;
    /// How many bytes were written.
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
            let stands = at.entry(source).or_insert_with(stored);
            if *stands != *expected {
                let (source_name, expected, stored) = (source.clone(), *expected, *stands);
                return Err(CommitError::Moved { source_name, expected, stored });
            }
            *stands = Some(checkpoint.position);
        }
        Ok(self.try_commit(commits, beside)?)
    }

    fn mark(&mut self, name: &str) -> Result<Option<Json>, FileLedgerError> {
        Ok(self.stored.marks.get(name).cloned())
    }

    /// The output of one of several sources cannot be removed from the middle of a file, so a source can be
    /// forgotten only if it is the only one, together with the whole output. Marks stay: they belong to no
    /// source.
    fn forget(&mut self, source: &SourceName) -> Result<bool, FileLedgerError> {
        if self.stored.sources.keys().any(|other| other != source) {
            return Err(io::Error::other("the output holds other sources, too").into());
        }
        let had = !self.stored.sources.is_empty();
        let next = Stored { marks: self.stored.marks.clone(), ..Stored::default() };
        replace(&self.journal, &next)?;
        (self.stored, self.ahead, self.is_cut) = (next, 0, false);
        self.cut()?;
        Ok(had)
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
        return Err(FileLedgerError::Journal("it is damaged: its digest is another".to_owned()));
    }
    serde_json::from_str(body.get()).map_err(damaged)
}

fn replace(path: &Path, stored: &Stored) -> io::Result<()> {
    let body = serde_json::to_string(stored)?;
    let sha256 = Digest::of(body.as_bytes());
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let mut file = File::create(&temporary)?;
    writeln!(file, "{{\"foldline_ledger\":{VERSION},\"sha256\":\"{sha256}\",\"body\":{body}}}")?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new("."))).map_or(Ok(()), |folder| folder.sync_all())
}
