//! [`OpencodeSource`]: the sessions that opencode keeps, read as lines.

mod database;
mod document;
mod open;
mod tree;

use std::{
    cell::OnceCell,
    fs::{self, File, Metadata},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use foldline::{
    ledger::Identity,
    source::{Opener, Stored, status, written},
};

use self::tree::SessionTree;

/// The magic bytes of SQLite's files.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The number of attempts to read sessions that their program changes at the same time.
const ATTEMPTS: usize = 3;

/// Opens opencode's database, or a session in the folders of an older release. The content is a line for each session:
/// the document that `opencode export` prints.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpencodeSource;

impl Opener for OpencodeSource {
    fn open(&self, path: &Path, head: &[u8], file: File) -> Result<Box<dyn Stored>, File> {
        Ok(Box::new(OpencodeSessions::open(path, head, file)?))
    }
}

/// The lines are written to an unlinked temporary file when they are needed first. They are those of one moment:
/// neither grows like a log.
#[derive(Debug)]
struct OpencodeSessions {
    origin: Origin,
    file: File,
    lines: OnceCell<SessionLines>,
}

#[derive(Debug)]
enum Origin {
    /// A database at this path.
    Database(PathBuf),
    /// A session in several files.
    Tree(SessionTree),
}

#[derive(Debug)]
struct SessionLines {
    file: File,
    /// The metadata of the files before they were read.
    status: Identity,
}

impl OpencodeSessions {
    /// The sessions in an open file, which begins with these bytes; or the file, if it has none.
    fn open(path: &Path, magic: &[u8], file: File) -> Result<Self, File> {
        let has_sessions = || open::connect(path).is_ok_and(|open| database::has_sessions(&open));
        let origin = match magic {
            magic if magic.starts_with(MAGIC) => {
                has_sessions().then(|| Origin::Database(path.to_owned()))
            }
            magic if magic.starts_with(b"{") => SessionTree::at(path).map(Origin::Tree),
            _ => None,
        };
        match origin {
            Some(origin) => Ok(Self { origin, file, lines: OnceCell::new() }),
            None => Err(file),
        }
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
            let mut out = BufWriter::new(tempfile::tempfile()?);
            match &self.origin {
                Origin::Database(path) => {
                    let connection = open::connect(path).map_err(io::Error::other)?;
                    database::write(&connection, &mut out)?;
                }
                Origin::Tree(tree) => tree.write(&self.file, &mut out)?,
            }
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

impl Stored for OpencodeSessions {
    /// The metadata of the file.
    fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// The length of the lines in bytes.
    fn length(&self) -> io::Result<u64> {
        Ok(self.lines()?.file.metadata()?.len())
    }

    /// The metadata of the file together with that of the others: a write-ahead log, which alone changes with most
    /// commits, or messages and parts. The size is that of all files, since the length of the lines is not known without
    /// reading them.
    fn status(&self) -> io::Result<Identity> {
        if let Some(lines) = self.lines.get() {
            return Ok(lines.status);
        }
        let file = status(&self.file.metadata()?);
        let path = match &self.origin {
            Origin::Tree(tree) => return tree.status(file),
            Origin::Database(path) => path,
        };
        let Ok(log) = fs::metadata(open::write_ahead_log(path)) else { return Ok(file) };
        // SQLite sets the owner of the log when it opens it, which changes its other time.
        let (log, written) = (status(&log), written(&log));
        Ok(Identity {
            size: file.size.saturating_add(log.size),
            modified: file.modified.max(log.modified),
            changed: file.changed.zip(written).map(|(file, log)| file.max(log)),
            ..file
        })
    }
}

impl Read for OpencodeSessions {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.lines()?.file).read(buffer)
    }
}

impl Seek for OpencodeSessions {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.lines()?.file).seek(to)
    }
}
