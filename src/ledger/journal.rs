//! [`Journal`]: the file with the committed length of an output.

use std::{
    collections::BTreeMap,
    fs::{self, File, TryLockError},
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use foldline_json::Json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Checkpoint, Extent, SourceName, error::FileLedgerError};
use crate::{
    files::{is_at, owner_only, replace_file, sync_name},
    position::Digest,
};

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
