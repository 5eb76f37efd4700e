//! [`SessionDatabase`]: a database of sessions, read as lines.

mod lines;
mod open;

use std::{
    cell::OnceCell,
    fs::{self, File, Metadata},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use super::status::{status, written};
use crate::ledger::Identity;

/// The magic bytes of SQLite's files.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The number of attempts to read a database that its program changes at the same time.
const ATTEMPTS: usize = 3;

/// opencode's database, whose content is a line for each session: the document that `opencode export` prints.
///
/// The lines are written to an unlinked temporary file when they are needed first. They are those of one moment: a
/// database does not grow like a log.
#[derive(Debug)]
pub(super) struct SessionDatabase {
    path: PathBuf,
    file: File,
    lines: OnceCell<SessionLines>,
}

#[derive(Debug)]
struct SessionLines {
    file: File,
    /// The metadata of the database before it was read.
    status: Identity,
}

impl SessionDatabase {
    /// Whether a file that begins with these bytes is a database of sessions.
    pub(super) fn is_at(path: &Path, magic: &[u8]) -> bool {
        magic.starts_with(MAGIC) && open::connect(path).is_ok_and(|open| lines::has_sessions(&open))
    }

    pub(super) fn new(path: &Path, file: File) -> Self {
        Self { path: path.to_owned(), file, lines: OnceCell::new() }
    }

    /// The metadata of the database file.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// The length of the lines in bytes.
    pub(super) fn length(&self) -> io::Result<u64> {
        Ok(self.lines()?.file.metadata()?.len())
    }

    /// The metadata of the file together with its write-ahead log, which alone changes with most commits. The size is
    /// that of both files, since the length of the lines is not known without reading them.
    pub(super) fn status(&self) -> io::Result<Identity> {
        if let Some(lines) = self.lines.get() {
            return Ok(lines.status);
        }
        let file = status(&self.file.metadata()?);
        let Ok(log) = fs::metadata(open::write_ahead_log(&self.path)) else { return Ok(file) };
        // SQLite sets the owner of the log when it opens it, which changes its other time.
        let (log, written) = (status(&log), written(&log));
        Ok(Identity {
            size: file.size.saturating_add(log.size),
            modified: file.modified.max(log.modified),
            changed: file.changed.zip(written).map(|(file, log)| file.max(log)),
            ..file
        })
    }

    fn lines(&self) -> io::Result<&SessionLines> {
        if let Some(lines) = self.lines.get() {
            return Ok(lines);
        }
        let lines = self.unpack()?;
        Ok(self.lines.get_or_init(|| lines))
    }

    fn unpack(&self) -> io::Result<SessionLines> {
        let mut attempt = 1;
        loop {
            let status = self.status()?;
            let connection = open::connect(&self.path).map_err(io::Error::other)?;
            let mut out = BufWriter::new(tempfile::tempfile()?);
            lines::write(&connection, &mut out)?;
            out.flush()?;
            let now = self.status()?;
            let is_unchanged = (now.size, now.modified) == (status.size, status.modified);
            if is_unchanged || attempt == ATTEMPTS {
                let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                (&file).rewind()?;
                return Ok(SessionLines { file, status });
            }
            attempt += 1;
        }
    }
}

impl Read for SessionDatabase {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.lines()?.file).read(buffer)
    }
}

impl Seek for SessionDatabase {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.lines()?.file).seek(to)
    }
}
