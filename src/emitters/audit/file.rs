//! [`AuditFile`]: the shell round the chain, which appends to a file.

use std::{
    fs::{File, TryLockError},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    num::NonZeroU64,
    path::{Path, PathBuf},
};

use super::{About, AuditChain, Head, Verified, Verifier, format::MAX_LINE};
use crate::{
    conversation::{DomainEvent, Located},
    files::{owner_only, sync_name},
    transduce::{Batch, Emitter},
};

/// When what was written is forced onto the disk (`fsync`).
///
/// A record that was not forced survives the end of the program, but not that of the machine: the
/// trail may then end earlier, or with a torn line, which [`AuditFile::open`] refuses to go on after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Never; the system does it in its own time.
    Never,
    /// At the end of each log, and when the file is closed by [`AuditFile::sync`].
    #[default]
    End,
    /// Whenever this many records were written since the last time, and at the end.
    Every(NonZeroU64),
}

/// Why a trail cannot be continued.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file cannot be opened, read or written.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Another program is writing to it: two writers would make two chains.
    #[error("{}: another program is writing to it", .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The last line is no record to go on after.
    #[error(
        "{}: its last line, from byte {at} on, is no record to go on after; if a crash tore it, cut the file there",
        .path.display()
    )]
    Tail {
        /// The file.
        path: PathBuf,
        /// Where its last line begins.
        at: u64,
    },
    /// It belongs to a ledger, which would not know what is added here.
    #[error("{}: it belongs to a ledger, and only what is committed there is added to it", .path.display())]
    Owned {
        /// The file.
        path: PathBuf,
    },
}

/// Appends the records of an [`AuditChain`] to a file, which is locked against other writers.
///
/// Records are gathered and written in blocks, at the latest by [`flush`](Self::flush) or at the end of
/// a log. After a failed write nothing more is written, since the chain would not be whole.
///
/// As an [`Emitter`] its only output is what went wrong.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    file: File,
    chain: AuditChain,
    /// What was not written yet.
    buffer: Vec<u8>,
    /// The file's length, with what was not written yet.
    length: u64,
    sync: SyncPolicy,
    unsynced: u64,
    failed: bool,
}

/// How many bytes are gathered before they are written.
const BLOCK: usize = 64 << 10;

/// The longest first line that can belong to a ledger: more than any has.
const MAX_FIRST: u64 = 4096;

impl AuditFile {
    /// Opens a trail, or begins one if there is no such file. An existing one is continued after its
    /// last record, whose form and hash are checked; the records before it are not.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, is being written by another program, belongs to a ledger, or does not
    /// end with a record.
    pub fn open(path: impl Into<PathBuf>, sync: SyncPolicy) -> Result<Self, AuditError> {
        let (path, mut file) = open(path.into())?;
        let length = io(&path, file.seek(SeekFrom::End(0)))?;
        let head = head_at(&path, &mut file, length)?;
        if io(&path, is_owned(&mut file))? {
            return Err(AuditError::Owned { path });
        }
        Ok(Self::new(path, file, AuditChain::after(head), length, sync))
    }

    fn new(path: PathBuf, file: File, chain: AuditChain, length: u64, sync: SyncPolicy) -> Self {
        let buffer = Vec::with_capacity(BLOCK + BLOCK / 4);
        Self { path, file, chain, buffer, length, sync, unsynced: 0, failed: false }
    }

    /// The chain, to say which log and which task the next events belong to.
    pub fn chain_mut(&mut self) -> &mut AuditChain {
        &mut self.chain
    }

    /// How far the chain goes.
    pub fn head(&self) -> Head {
        self.chain.head()
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the record of an event.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or something before it could not.
    pub fn append(&mut self, event: &Located<DomainEvent>) -> io::Result<()> {
        self.check()?;
        let before = self.buffer.len();
        self.chain.append(event, &mut self.buffer);
        self.length += (self.buffer.len() - before) as u64;
        self.unsynced += 1;
        match self.sync {
            SyncPolicy::Every(records) if self.unsynced >= records.get() => self.sync(),
            _ if self.buffer.len() >= BLOCK => self.flush(),
            _ => Ok(()),
        }
    }

    /// Writes what was gathered.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or something before it could not.
    pub fn flush(&mut self) -> io::Result<()> {
        self.check()?;
        let written = self.file.write_all(&self.buffer);
        if written.is_err() {
            self.failed = true;
            // No part of a record stays behind, so that the trail can be gone on with as it is.
            let _ = self.file.set_len(self.length - self.buffer.len() as u64);
        }
        self.buffer.clear();
        written
    }

    /// Writes what was gathered and forces it onto the disk, whatever the [`SyncPolicy`] is.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or something before it could not.
    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        let synced = self.file.sync_data();
        self.failed = synced.is_err();
        self.unsynced = 0;
        synced
    }

    fn check(&self) -> io::Result<()> {
        let message = "an earlier record could not be written, so the chain ends there";
        if self.failed { Err(io::Error::other(message)) } else { Ok(()) }
    }
}

/// What was gathered is written, as far as it can be.
impl Drop for AuditFile {
    fn drop(&mut self) {
        let _ = self.flush();
        // Closing the file would leave the lock with a child process that is just being started.
        let _ = self.file.unlock();
    }
}

impl Emitter<Located<DomainEvent>, io::Error> for AuditFile {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        Batch::from(self.append(event).err())
    }

    /// The log ends: what was gathered is written, and unless the policy is never, forced onto the
    /// disk.
    fn finish(&mut self) -> Batch<io::Error> {
        self.chain.begin_log(None);
        let written = match self.sync {
            SyncPolicy::Never => self.flush(),
            SyncPolicy::End | SyncPolicy::Every(_) => self.sync(),
        };
        Batch::from(written.err())
    }
}

fn open(path: PathBuf) -> Result<(PathBuf, File), AuditError> {
    let file = owner_only().read(true).append(true).create(true).open(&path);
    let file = io(&path, file)?;
    match file.try_lock() {
        Ok(()) => {
            // Before anybody stores that the trail exists.
            io(&path, sync_name(&path))?;
            Ok((path, file))
        }
        Err(TryLockError::WouldBlock) => Err(AuditError::Locked { path }),
        Err(TryLockError::Error(error)) => Err(AuditError::Io { path, error }),
    }
}

/// The head of a trail that ends at `end`: from its last line.
fn head_at(path: &Path, file: &mut File, end: u64) -> Result<Head, AuditError> {
    if end == 0 {
        return Ok(Head::default());
    }
    let line = io(path, last_line(file, end))?;
    let at = end - line.len() as u64;
    match Verifier::alone(&line) {
        Ok(Verified { seq: count, hash, .. }) => Ok(Head { count, hash }),
        Err(_) => Err(AuditError::Tail { path: path.to_owned(), at }),
    }
}

/// Whether a trail belongs to a ledger: its first line says so.
fn is_owned(file: &mut File) -> io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut first = Vec::new();
    BufReader::new(Read::take(file, MAX_FIRST)).read_until(b'\n', &mut first)?;
    let verified = Verifier::alone(&first);
    Ok(verified.is_ok_and(|verified| matches!(verified.about, About::Trail { .. })))
}

/// The last line before `end`, with its line end if it has one.
fn last_line(file: &mut File, end: u64) -> io::Result<Vec<u8>> {
    let mut length = 4096;
    loop {
        let start = end.saturating_sub(length);
        file.seek(SeekFrom::Start(start))?;
        let mut tail = Vec::new();
        Read::take(&mut *file, end - start).read_to_end(&mut tail)?;
        let before = tail.len().saturating_sub(1);
        let line_end = tail.iter().take(before).rposition(|byte| *byte == b'\n');
        match line_end {
            Some(at) => return Ok(tail.split_off(at + 1)),
            None if start == 0 => return Ok(tail),
            // It is longer than any record.
            None if length > MAX_LINE as u64 => return Ok(tail),
            None => length = length.saturating_mul(4),
        }
    }
}

fn io<T>(path: &Path, result: io::Result<T>) -> Result<T, AuditError> {
    result.map_err(|error| AuditError::Io { path: path.to_owned(), error })
}
