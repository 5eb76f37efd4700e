//! [`LogFile`]: a log that is opened once.

use std::{
    fmt,
    fs::{File, Metadata, OpenOptions},
    io::{self, Read},
    path::{Path, PathBuf},
};

use tracing::{Span, debug, field::Empty, info_span};

use super::{
    SourceError,
    content::FileContent,
    opener::Openers,
    regular::{CHUNK, Regular, retried},
};
use crate::{
    ledger::{Extent, Identity},
    position::Digest,
};

/// A log that is opened once: a file, a pipe, or standard input.
///
/// A file that is compressed with gzip or Zstandard is its content: offsets, lengths and digests are those of the uncompressed
/// bytes, so that a log stays the same log when it is compressed. What an [`Opener`](super::Opener)
/// opens is the lines that it makes.
///
/// All information is about the open file, not its name: if the file is renamed and another one takes its name,
/// reading continues in this file, and its [`identity`](Self::identity) stays the same.
///
/// ```
/// use foldline::source::LogFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("session.jsonl");
/// std::fs::write(&path, "one\ntwo\n")?;
///
/// let mut log = LogFile::open_regular(&path)?;
/// // Look at the beginning, to recognise the format; nothing is consumed.
/// assert!(log.read_ahead()?.starts_with(b"one"));
/// assert_eq!(log.read()?, b"one\ntwo\n");
/// assert_eq!(log.read()?, b"");
///
/// let identity = log.identity(4)?.expect("it has four bytes");
/// assert_eq!((identity.size, identity.read.length), (8, 4));
/// assert!(log.starts_with(&identity)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    handle: Handle,
    /// The position of [`LogFile::read`].
    offset: u64,
    /// The position of [`LogFile::read_ahead`]; not before `offset`.
    ahead: u64,
    chunk: Vec<u8>,
    /// How it was opened, and how the file that follows it is.
    openers: Openers,
}

enum Handle {
    Regular(Regular),
    /// A reader that cannot seek, and the bytes read ahead from it.
    Stream(Box<dyn Read + Send>, Vec<u8>),
}

impl LogFile {
    /// Opens a file, a pipe or a device. Opening a named pipe waits for a writer. A file is one of lines; for other
    /// logs, use [`Openers::open`].
    ///
    /// # Errors
    /// It cannot be opened, or is a folder.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, SourceError> {
        Self::open_with(path.into(), &Openers::default())
    }

    pub(super) fn open_with(path: PathBuf, openers: &Openers) -> Result<Self, SourceError> {
        match File::open(&path).and_then(|file| Ok((file.metadata()?, file))) {
            Err(error) => Err(SourceError::Open { path, error }),
            Ok((metadata, _)) if metadata.is_dir() => {
                let error = io::ErrorKind::IsADirectory.into();
                Err(SourceError::Open { path, error })
            }
            Ok((metadata, file)) if metadata.is_file() => Self::regular(path, file, openers),
            Ok((_, stream)) => Ok(Self::stream(path, stream)),
        }
    }

    /// Opens a regular file only. Never blocks, whatever the path refers to. A file is one of lines; for other logs,
    /// use [`Openers::open_regular`].
    ///
    /// # Errors
    /// It cannot be opened, or is not a regular file.
    pub fn open_regular(path: impl Into<PathBuf>) -> Result<Self, SourceError> {
        Self::open_regular_with(path.into(), &Openers::default())
    }

    pub(super) fn open_regular_with(path: PathBuf, openers: &Openers) -> Result<Self, SourceError> {
        match open_without_waiting(&path).and_then(|file| Ok((file.metadata()?, file))) {
            Err(error) => Err(SourceError::Open { path, error }),
            Ok((metadata, file)) if metadata.is_file() => Self::regular(path, file, openers),
            Ok(_) => Err(SourceError::NotRegular { path }),
        }
    }

    /// Standard input, as a stream called `-`.
    pub fn stdin() -> Self {
        Self::stream("-", io::stdin())
    }

    /// Any other reader: a socket, the output of a process.
    pub fn stream(path: impl Into<PathBuf>, reader: impl Read + Send + 'static) -> Self {
        Self::new(path.into(), Handle::Stream(Box::new(reader), Vec::new()))
    }

    fn regular(path: PathBuf, file: File, openers: &Openers) -> Result<Self, SourceError> {
        match FileContent::of(&path, file, openers) {
            Ok(content) => Ok(Self {
                openers: openers.clone(),
                ..Self::new(path, Handle::Regular(Regular::new(content)))
            }),
            Err(error) => Err(SourceError::Read { path, error }),
        }
    }

    fn new(path: PathBuf, handle: Handle) -> Self {
        debug!(?path, is_regular = matches!(handle, Handle::Regular(_)), "log opened");
        let (chunk, openers) = Default::default();
        Self { path, handle, offset: 0, ahead: 0, chunk, openers }
    }

    /// The path with which it was opened. Another file may have it by now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The openers that it was opened with.
    pub(super) fn openers(&self) -> &Openers {
        &self.openers
    }

    /// A span for all work on this log, with its path; `format` can be recorded later.
    pub fn span(&self) -> Span {
        span(&self.path)
    }

    /// The offset of the next bytes that [`read`](Self::read) returns.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The current length of its content in bytes; `None` for a stream. A compressed file is read once for it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn length(&self) -> Result<Option<u64>, SourceError> {
        self.ask(FileContent::length)
    }

    /// The next bytes, none at the end; a file may have grown at the next call. Blocks for more only if it is a
    /// stream.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&mut self) -> Result<&[u8], SourceError> {
        let length = self.fill_next()?;
        Ok(&self.chunk[..length])
    }

    /// Like [`read`](Self::read), but appends to `bytes`, for a reader with its own buffer.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_to(&mut self, bytes: &mut Vec<u8>) -> Result<(), SourceError> {
        let before = bytes.len();
        bytes.append(&mut self.handle.take_kept());
        if bytes.len() == before {
            bytes.resize(before + CHUNK, 0);
            let read = self.handle.read(self.offset, &mut bytes[before..]);
            let length = read.map_err(|error| self.failed(error))?;
            bytes.truncate(before + length);
        }
        self.advance(bytes.len() - before);
        Ok(())
    }

    /// Like [`LogFile::read`]; the bytes are in [`LogFile::chunk`] afterwards.
    pub(super) fn fill_next(&mut self) -> Result<usize, SourceError> {
        let kept = self.handle.take_kept();
        let length = if kept.is_empty() {
            self.fill(self.offset)?
        } else {
            self.chunk = kept;
            self.chunk.len()
        };
        self.advance(length);
        Ok(length)
    }

    fn advance(&mut self, length: usize) {
        self.offset += length as u64;
        self.ahead = self.ahead.max(self.offset);
    }

    /// The bytes of the last read.
    pub(super) fn chunk(&self) -> &[u8] {
        &self.chunk
    }

    /// The bytes after those that were already read or read ahead; none at the end. They are not consumed:
    /// [`read`](Self::read) continues at its own position, and returns them again. A stream keeps them in memory
    /// until then.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_ahead(&mut self) -> Result<&[u8], SourceError> {
        let length = self.fill(self.ahead)?;
        let read = &self.chunk[..length];
        if let Handle::Stream(_, kept) = &mut self.handle {
            kept.extend_from_slice(read);
        }
        self.ahead += length as u64;
        Ok(read)
    }

    /// Moves the read position to `offset`, which may be beyond the end of a file.
    ///
    /// # Errors
    /// It is a stream, which cannot seek ([`NotSeekable`](io::ErrorKind::NotSeekable)).
    pub fn seek(&mut self, offset: u64) -> Result<(), SourceError> {
        match self.handle {
            Handle::Stream(..) => Err(self.failed(io::ErrorKind::NotSeekable.into())),
            Handle::Regular(_) => {
                (self.offset, self.ahead) = (offset, offset);
                Ok(())
            }
        }
    }

    /// Up to `length` bytes at `offset`, fewer at the end. Does not change the read position.
    ///
    /// # Errors
    /// It is a stream, or cannot be read.
    pub fn read_at(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, SourceError> {
        let read = match &mut self.handle {
            Handle::Stream(..) => Err(io::ErrorKind::NotSeekable.into()),
            Handle::Regular(regular) => regular.read_at(offset, length),
        };
        read.map_err(|error| self.failed(error))
    }

    /// The identity of the open file after `read` bytes; `None` if it is shorter, or a stream. Does not change the
    /// read position.
    ///
    /// The bytes are read once more to compute their digest: all of them the first time, later only those after the
    /// previous call's.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn identity(&mut self, read: u64) -> Result<Option<Identity>, SourceError> {
        let Some(status) = self.status()? else { return Ok(None) };
        let Some(extent) = self.extent(read)? else { return Ok(None) };
        let Some(content) = self.content(read)? else { return Ok(None) };
        let (content, first_line) = (Some(content), Some(self.first_line()?));
        Ok(Some(Identity { read: extent, content, first_line, ..status }))
    }

    /// The metadata of the open file, as an identity with a read length of 0; `None` for a stream.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn status(&self) -> Result<Option<Identity>, SourceError> {
        self.ask(FileContent::status)
    }

    /// Whether it was opened by an [`Opener`](super::Opener): any part of it may change, whereas other logs grow at
    /// their end. Its status has the size of all its files, and its offsets are those of the lines that are made of it.
    pub fn is_rewritten(&self) -> bool {
        matches!(&self.handle, Handle::Regular(regular) if regular.file.is_rewritten())
    }

    /// Whether it is a document: [rewritten](Self::is_rewritten), and [one file](super::Opener::is_of_one_file).
    pub fn is_document(&self) -> bool {
        matches!(&self.handle, Handle::Regular(regular) if regular.file.is_document())
    }

    /// Whether the open file begins with the data that was read earlier. Never true for a stream, which cannot be
    /// compared.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn starts_with(&mut self, before: &Identity) -> Result<bool, SourceError> {
        let Extent { length, .. } = before.read;
        Ok(self.extent(length)? == Some(before.read)
            && (before.content.is_none() || self.content(length)? == before.content))
    }

    /// The SHA-256 digest of the first `length` bytes; `None` if the file is shorter, or a stream. Requests in
    /// ascending order of length take one pass in total.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn content(&mut self, length: u64) -> Result<Option<Digest>, SourceError> {
        let Handle::Regular(regular) = &mut self.handle else { return Ok(None) };
        regular.content(length, &mut self.chunk).map_err(|error| self.failed(error))
    }

    /// The SHA-256 digest of the first line: see [`Identity::first_line`]. For a stream, the digest of no bytes.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn first_line(&mut self) -> Result<Digest, SourceError> {
        match &mut self.handle {
            Handle::Stream(..) => Ok(Digest::of(b"")),
            Handle::Regular(regular) => regular.first_line().map_err(|error| self.failed(error)),
        }
    }

    fn extent(&mut self, length: u64) -> Result<Option<Extent>, SourceError> {
        let Handle::Regular(regular) = &mut self.handle else { return Ok(None) };
        regular.extent(length).map_err(|error| self.failed(error))
    }

    pub(super) fn is_compressed(&self) -> bool {
        matches!(&self.handle, Handle::Regular(regular) if regular.file.is_compressed())
    }

    /// The metadata of the open file; `None` for a stream.
    pub(super) fn metadata(&self) -> Result<Option<Metadata>, SourceError> {
        self.ask(FileContent::metadata)
    }

    /// Asks a file; `None` for a stream.
    fn ask<T>(
        &self,
        question: impl FnOnce(&FileContent) -> io::Result<T>,
    ) -> Result<Option<T>, SourceError> {
        let Handle::Regular(regular) = &self.handle else { return Ok(None) };
        question(&regular.file).map(Some).map_err(|error| self.failed(error))
    }

    /// Reads a chunk at `offset`; for a stream, the next chunk.
    fn fill(&mut self, offset: u64) -> Result<usize, SourceError> {
        self.chunk.resize(CHUNK, 0);
        self.handle.read(offset, &mut self.chunk).map_err(|error| self.failed(error))
    }

    pub(super) fn failed(&self, error: io::Error) -> SourceError {
        SourceError::Read { path: self.path.clone(), error }
    }
}

impl Handle {
    /// Reads a chunk at `offset`; for a stream, the next chunk.
    fn read(&mut self, offset: u64, chunk: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stream(stream, _) => retried(stream, chunk),
            Self::Regular(regular) => regular.read(offset, chunk),
        }
    }

    /// The bytes read ahead from a stream.
    fn take_kept(&mut self) -> Vec<u8> {
        match self {
            Self::Stream(_, kept) => std::mem::take(kept),
            Self::Regular(_) => Vec::new(),
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Regular(regular) => regular.fmt(f),
            Self::Stream(_, kept) => write!(f, "Stream({} bytes read ahead)", kept.len()),
        }
    }
}

/// Opening a pipe without a writer would block.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// On this platform, pipes have no paths in the file system.
#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

/// The span of a source, of level `INFO`.
pub(super) fn span(path: &Path) -> Span {
    info_span!("source", ?path, format = Empty)
}
