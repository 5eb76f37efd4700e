//! [`FileLedger`]: an output file, and beside it the file that says how much of it counts.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Checkpoint, Commit, CommitError, Extent, Ledger, Mark, SourceName};
use crate::conversation::{Digest, Json, Position};

const VERSION: u32 = 1;

/// Appends to one file what its sources give, and keeps in a second one how much of it was committed. What
/// is behind that was never committed: it is cut off when the ledger is opened.
#[derive(Debug)]
pub struct FileLedger {
    output: File,
    journal: PathBuf,
    stored: Stored,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Stored {
    /// What was committed of the output.
    output: Extent,
    sources: BTreeMap<SourceName, Checkpoint>,
    marks: BTreeMap<String, Json>,
}

#[derive(Deserialize)]
struct Envelope<'j> {
    foldline_ledger: u32,
    sha256: Digest,
    #[serde(borrow)]
    body: &'j RawValue,
}

/// Why a file ledger cannot be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileLedgerError {
    /// The file system says so.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The journal is damaged, or of another version.
    #[error("the journal cannot be gone on with: {0}")]
    Journal(String),
    /// The output is not the one that the journal belongs to.
    #[error("the output is another one than the journal\'s, or was cut")]
    Output,
}

impl FileLedger {
    /// Opens the ledger; makes it where there is none.
    ///
    /// # Errors
    /// The files cannot be opened, or do not belong together.
    pub fn open(output: &Path, journal: &Path) -> Result<Self, FileLedgerError> {
        let stored = match fs::read(journal) {
            Ok(bytes) => parse(&bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Stored::default(),
            Err(error) => return Err(error.into()),
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(output)?;
        let Extent { length, .. } = stored.output;
        if length > 0 && Extent::read(&mut file, length)? != Some(stored.output) {
            return Err(FileLedgerError::Output);
        }
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
        Ok(Self { output: file, journal: journal.to_owned(), stored })
    }

    fn try_commit(
        &mut self,
        commits: &[Commit<Vec<u8>>],
        beside: &[Mark],
    ) -> Result<u64, FileLedgerError> {
        // Whatever an earlier failure left goes first.
        let Extent { length, .. } = self.stored.output;
        self.output.set_len(length)?;
        self.output.seek(SeekFrom::Start(length))?;
        let mut written = 0;
        let mut next = self.stored.clone();
        for commit in commits {
            let bytes = &commit.output;
            self.output.write_all(bytes)?;
            written += bytes.len() as u64;
            next.sources.insert(commit.source.clone(), commit.checkpoint.clone());
        }
        for Mark { name, state } in beside {
            next.marks.insert(name.clone(), state.clone());
        }
        self.output.sync_data()?;
        let settled = Extent::read(&mut self.output, length + written)?;
        next.output = settled.ok_or(FileLedgerError::Output)?;
        replace(&self.journal, &next)?;
        self.stored = next;
        Ok(written)
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

    /// What came from a source cannot be taken out of the middle of a file: only the only source can be
    /// forgotten, and the whole output with it. Marks stay: they belong to no source.
    fn forget(&mut self, source: &SourceName) -> Result<bool, FileLedgerError> {
        if self.stored.sources.keys().any(|other| other != source) {
            return Err(io::Error::other("the output holds other sources, too").into());
        }
        let had = !self.stored.sources.is_empty();
        let next = Stored { marks: self.stored.marks.clone(), ..Stored::default() };
        replace(&self.journal, &next)?;
        self.stored = next;
        self.output.set_len(0)?;
        Ok(had)
    }
}

fn parse(bytes: &[u8]) -> Result<Stored, FileLedgerError> {
    let damaged = |error: serde_json::Error| FileLedgerError::Journal(error.to_string());
    let Envelope { foldline_ledger, sha256, body } =
        serde_json::from_slice(bytes).map_err(damaged)?;
    if foldline_ledger != VERSION || Digest::of(body.get().as_bytes()) != sha256 {
        return Err(FileLedgerError::Journal("another version, or damaged".to_owned()));
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
