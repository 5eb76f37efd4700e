//! [`LogFile`]: a log that is opened once.

use std::{
    fmt,
    fs::{File, Metadata, OpenOptions},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use tracing::{Span, debug, field::Empty, info_span};

use super::SourceError;
use crate::{
    conversation::Timestamp,
    ledger::{Extent, Identity},
};

/// How many bytes are read at once.
const CHUNK: usize = 256 << 10;

/// A log that is opened once: a file, a pipe, or standard input.
///
/// Whatever is said of it is said of the open file and not of its name: when the file is renamed and
/// another one takes its name, this one is read on, and its [`identity`](Self::identity) remains its own.
///
/// ```
/// use foldline::source::LogFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("session.jsonl");
/// std::fs::write(&path, "one\ntwo\n")?;
///
/// let mut log = LogFile::open_regular(&path)?;
/// // Look at the beginning, to tell which agent wrote it; nothing is consumed.
/// assert!(log.read_ahead()?.starts_with(b"one"));
/// assert_eq!(log.read()?, b"one\ntwo\n");
/// assert_eq!(log.read()?, b"");
///
/// let identity = log.identity(4)?.expect("it has four bytes");
/// assert_eq!((identity.size, identity.read.length), (8, 4));
/// assert!(log.starts_with(identity.read)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    handle: Handle,
    /// Where [`LogFile::read`] goes on.
    offset: u64,
    /// Where [`LogFile::read_ahead`] goes on; not before `offset`.
    ahead: u64,
    chunk: Vec<u8>,
}

enum Handle {
    Regular(Regular),
    /// What cannot be read twice, and what was read ahead of it.
    Stream(Box<dyn Read + Send>, Vec<u8>),
}

struct Regular {
    file: File,
    /// The position of the file itself, if it is known.
    position: Option<u64>,
}

impl LogFile {
    /// Opens a file, a pipe or a device. To open a named pipe waits until somebody writes to it.
    ///
    /// # Errors
    /// It cannot be opened, or is a folder.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, SourceError> {
        let path = path.into();
        match File::open(&path).and_then(|file| Ok((file.metadata()?, file))) {
            Err(error) => Err(SourceError::Open { path, error }),
            Ok((metadata, _)) if metadata.is_dir() => {
                let error = io::ErrorKind::IsADirectory.into();
                Err(SourceError::Open { path, error })
            }
            Ok((metadata, file)) if metadata.is_file() => Ok(Self::regular(path, file)),
            Ok((_, stream)) => Ok(Self::stream(path, stream)),
        }
    }

    /// Opens a regular file, and nothing else. Never waits, whatever the name belongs to.
    ///
    /// # Errors
    /// It cannot be opened, or is not a regular file.
    pub fn open_regular(path: impl Into<PathBuf>) -> Result<Self, SourceError> {
        let path = path.into();
        match open_without_waiting(&path).and_then(|file| Ok((file.metadata()?, file))) {
            Err(error) => Err(SourceError::Open { path, error }),
            Ok((metadata, file)) if metadata.is_file() => Ok(Self::regular(path, file)),
            Ok(_) => Err(SourceError::NotRegular { path }),
        }
    }

    /// Standard input, as a stream called `-`.
    pub fn stdin() -> Self {
        Self::stream("-", io::stdin())
    }

    /// Anything else that can be read once: a socket, the output of a process.
    pub fn stream(path: impl Into<PathBuf>, reader: impl Read + Send + 'static) -> Self {
        Self::new(path.into(), Handle::Stream(Box::new(reader), Vec::new()))
    }

    fn regular(path: PathBuf, file: File) -> Self {
        Self::new(path, Handle::Regular(Regular { file, position: Some(0) }))
    }

    fn new(path: PathBuf, handle: Handle) -> Self {
        debug!(?path, is_regular = matches!(handle, Handle::Regular(_)), "log opened");
        Self { path, handle, offset: 0, ahead: 0, chunk: Vec::new() }
    }

    /// The name that it was opened by. Another file may have it by now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A span for all that is done with this log, with its path; `format` can be recorded later.
    pub fn span(&self) -> Span {
        span(&self.path)
    }

    /// How many bytes stand before what [`read`](Self::read) gives next.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Its length in bytes as it is now; `None` for a stream.
    ///
    /// # Errors
    /// The system does not say.
    pub fn length(&self) -> Result<Option<u64>, SourceError> {
        Ok(self.metadata()?.map(|metadata| metadata.len()))
    }

    /// The next bytes, none at the end; a file may have grown when it is asked again. Waits for more only
    /// where it is a stream.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&mut self) -> Result<&[u8], SourceError> {
        let length = self.fill_next()?;
        Ok(&self.chunk[..length])
    }

    /// What [`LogFile::read`] does; the bytes are in [`LogFile::chunk`] then.
    pub(super) fn fill_next(&mut self) -> Result<usize, SourceError> {
        let length = match &mut self.handle {
            Handle::Stream(_, kept) if !kept.is_empty() => {
                self.chunk = std::mem::take(kept);
                self.chunk.len()
            }
            _ => self.fill(self.offset)?,
        };
        self.offset += length as u64;
        self.ahead = self.ahead.max(self.offset);
        Ok(length)
    }

    /// What was read last.
    pub(super) fn chunk(&self) -> &[u8] {
        &self.chunk
    }

    /// The bytes behind those that were read, or read ahead, before; none at the end. They are not
    /// consumed: [`read`](Self::read) goes on where it was, and gives them again. A stream keeps them in
    /// memory until then.
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

    /// Goes on reading at `offset`, which may lie behind the end of a file.
    ///
    /// # Errors
    /// It is a stream, which has no way back ([`NotSeekable`](io::ErrorKind::NotSeekable)).
    pub fn seek(&mut self, offset: u64) -> Result<(), SourceError> {
        match self.handle {
            Handle::Stream(..) => Err(self.failed(io::ErrorKind::NotSeekable.into())),
            Handle::Regular(_) => {
                (self.offset, self.ahead) = (offset, offset);
                Ok(())
            }
        }
    }

    /// At most `length` bytes that stand at `offset`, fewer at the end. Does not change where reading goes
    /// on.
    ///
    /// # Errors
    /// It is a stream, or cannot be read.
    pub fn read_at(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, SourceError> {
        let mut bytes = Vec::new();
        let read = match &mut self.handle {
            Handle::Stream(..) => Err(io::ErrorKind::NotSeekable.into()),
            Handle::Regular(Regular { file, position }) => {
                *position = None;
                file.seek(SeekFrom::Start(offset))
                    .and_then(|_| file.take(length as u64).read_to_end(&mut bytes))
            }
        };
        read.map_err(|error| self.failed(error))?;
        Ok(bytes)
    }

    /// By what the open file is recognised again when `read` bytes of it were read; `None` if it is
    /// shorter than that, or a stream. Does not change where reading goes on.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn identity(&mut self, read: u64) -> Result<Option<Identity>, SourceError> {
        let Some(metadata) = self.metadata()? else { return Ok(None) };
        let Some(read) = self.extent(read)? else { return Ok(None) };
        let (device, inode) = number(&metadata);
        let (size, modified) = (metadata.len(), modified(&metadata));
        Ok(Some(Identity { device, inode, size, modified, read }))
    }

    /// Whether the open file begins with what was read an earlier time. A stream never does, as it cannot
    /// be compared.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn starts_with(&mut self, read: Extent) -> Result<bool, SourceError> {
        Ok(self.extent(read.length)? == Some(read))
    }

    fn extent(&mut self, length: u64) -> Result<Option<Extent>, SourceError> {
        let Handle::Regular(Regular { file, position }) = &mut self.handle else { return Ok(None) };
        *position = None;
        Extent::read(file, length).map_err(|error| self.failed(error))
    }

    /// What the system says of the open file; `None` for a stream.
    pub(super) fn metadata(&self) -> Result<Option<Metadata>, SourceError> {
        match &self.handle {
            Handle::Stream(..) => Ok(None),
            Handle::Regular(Regular { file, .. }) => {
                file.metadata().map(Some).map_err(|error| self.failed(error))
            }
        }
    }

    /// Reads a chunk that stands at `offset`, or for a stream the next one.
    fn fill(&mut self, offset: u64) -> Result<usize, SourceError> {
        self.chunk.resize(CHUNK, 0);
        let read = match &mut self.handle {
            Handle::Stream(stream, _) => retried(stream, &mut self.chunk),
            Handle::Regular(regular) => regular.read(offset, &mut self.chunk),
        };
        read.map_err(|error| self.failed(error))
    }

    pub(super) fn failed(&self, error: io::Error) -> SourceError {
        SourceError::Read { path: self.path.clone(), error }
    }
}

impl Regular {
    fn read(&mut self, offset: u64, chunk: &mut [u8]) -> io::Result<usize> {
        if self.position.take() != Some(offset) {
            self.file.seek(SeekFrom::Start(offset))?;
        }
        let length = retried(&mut self.file, chunk)?;
        self.position = Some(offset + length as u64);
        Ok(length)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Regular(Regular { file, .. }) => file.fmt(f),
            Self::Stream(_, kept) => write!(f, "Stream({} bytes read ahead)", kept.len()),
        }
    }
}

fn retried(reader: &mut impl Read, chunk: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// To open a pipe that nobody writes to would wait for a writer.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// Where pipes have no names among those of files.
#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

/// The span of a source, of level `INFO`.
pub(super) fn span(path: &Path) -> Span {
    info_span!("source", ?path, format = Empty)
}

fn modified(metadata: &Metadata) -> Option<Timestamp> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp::from_millis)
}

/// The device that a file is on, and its inode number there; neither where the system has none.
pub(super) type Number = (Option<u64>, Option<u64>);

#[cfg(unix)]
pub(super) fn number(metadata: &Metadata) -> Number {
    use std::os::unix::fs::MetadataExt;
    (Some(metadata.dev()), Some(metadata.ino()))
}

#[cfg(not(unix))]
pub(super) fn number(_: &Metadata) -> Number {
    (None, None)
}
