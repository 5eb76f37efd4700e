//! [`LogFile`]: a log that is opened once.

use std::{
    fmt,
    fs::{File, Metadata, OpenOptions},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use sha2::{Digest as _, Sha256};
use tracing::{Span, debug, field::Empty, info_span};

use super::SourceError;
use crate::{
    conversation::{Digest, Timestamp},
    ledger::{Extent, Identity},
};

/// How many bytes are read at once.
const CHUNK: usize = 256 << 10;

/// How long ago a change must be so that no later one can bear the same time, on any usual file system.
const SETTLED: Duration = Duration::from_secs(2);

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
/// assert!(log.starts_with(&identity)?);
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
    /// The hash of what stands before `hashed`, which the next identity goes on with.
    hasher: Sha256,
    hashed: u64,
    first_line: Option<Digest>,
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
        Self::new(path, Handle::Regular(Regular::new(file)))
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

    /// What [`read`](Self::read) does, appended to `bytes`: for a reader with a buffer of its own.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_to(&mut self, bytes: &mut Vec<u8>) -> Result<(), SourceError> {
        let before = bytes.len();
        bytes.resize(before + CHUNK, 0);
        let free = &mut bytes[before..];
        let read = match &mut self.handle {
            Handle::Stream(_, kept) if !kept.is_empty() => {
                bytes.truncate(before);
                bytes.append(kept);
                Ok(bytes.len() - before)
            }
            Handle::Stream(stream, _) => retried(stream, free),
            Handle::Regular(regular) => regular.read(self.offset, free),
        };
        let length = read.map_err(|error| self.failed(error))?;
        bytes.truncate(before + length);
        self.offset += length as u64;
        self.ahead = self.ahead.max(self.offset);
        Ok(())
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
            Handle::Regular(Regular { file, position, .. }) => {
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
    /// The bytes are read once more, to digest them: all of them the first time, and then those that come
    /// after the ones of the call before.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn identity(&mut self, read: u64) -> Result<Option<Identity>, SourceError> {
        let Some(metadata) = self.metadata()? else { return Ok(None) };
        let Some(extent) = self.extent(read)? else { return Ok(None) };
        let Some(content) = self.content(read)? else { return Ok(None) };
        let (content, first_line) = (Some(content), Some(self.first_line()?));
        Ok(Some(Identity { read: extent, content, first_line, ..status(&metadata) }))
    }

    /// What the system says of the open file, without reading it: an identity of which nothing was read;
    /// `None` for a stream.
    ///
    /// # Errors
    /// The system does not say.
    pub fn status(&self) -> Result<Option<Identity>, SourceError> {
        Ok(self.metadata()?.as_ref().map(status))
    }

    /// Whether the open file begins with what was read an earlier time. A stream never does, as it cannot
    /// be compared.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn starts_with(&mut self, before: &Identity) -> Result<bool, SourceError> {
        let Extent { length, .. } = before.read;
        Ok(self.extent(length)? == Some(before.read)
            && (before.content.is_none() || self.content(length)? == before.content))
    }

    /// The SHA-256 value of the first `length` bytes; `None` if the file is shorter, or a stream. Lengths that
    /// are asked for in ascending order take one pass together.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn content(&mut self, length: u64) -> Result<Option<Digest>, SourceError> {
        let Handle::Regular(regular) = &mut self.handle else { return Ok(None) };
        regular.content(length, &mut self.chunk).map_err(|error| self.failed(error))
    }

    /// The SHA-256 value of the first line: see [`Identity::first_line`]. That of nothing for a stream.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn first_line(&mut self) -> Result<Digest, SourceError> {
        let known = match &self.handle {
            Handle::Regular(regular) => regular.first_line,
            Handle::Stream(..) => Some(Digest::of(b"")),
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let bytes = self.read_at(0, Extent::EDGE)?;
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let digest = Digest::of(line.strip_suffix(b"\r").unwrap_or(line));
        if let Handle::Regular(regular) = &mut self.handle
            && line.len() < bytes.len()
        {
            regular.first_line = Some(digest);
        }
        Ok(digest)
    }

    fn extent(&mut self, length: u64) -> Result<Option<Extent>, SourceError> {
        let Handle::Regular(Regular { file, position, .. }) = &mut self.handle else {
            return Ok(None);
        };
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
    fn new(file: File) -> Self {
        Self { file, position: Some(0), hasher: Sha256::new(), hashed: 0, first_line: None }
    }

    fn content(&mut self, length: u64, chunk: &mut Vec<u8>) -> io::Result<Option<Digest>> {
        if length < self.hashed {
            (self.hasher, self.hashed) = (Sha256::new(), 0);
        }
        chunk.resize(CHUNK, 0);
        while self.hashed < length {
            let left = usize::try_from(length - self.hashed).unwrap_or(CHUNK).min(CHUNK);
            match self.read(self.hashed, &mut chunk[..left])? {
                0 => return Ok(None),
                read => {
                    self.hasher.update(&chunk[..read]);
                    self.hashed += read as u64;
                }
            }
        }
        let digest: [u8; 32] = self.hasher.clone().finalize().into();
        Ok(Some(digest.into()))
    }

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

fn status(metadata: &Metadata) -> Identity {
    let (device, inode) = number(metadata);
    let (size, modified) = (metadata.len(), modified(metadata));
    let changed = changed(metadata).filter(is_settled);
    Identity { device, inode, size, modified, changed, ..Identity::default() }
}

/// Whether a time, in nanoseconds since 1970, is long enough ago.
fn is_settled(changed: &i64) -> bool {
    let Ok(now) = SystemTime::now().duration_since(UNIX_EPOCH) else { return false };
    u64::try_from(*changed)
        .is_ok_and(|changed| Duration::from_nanos(changed).saturating_add(SETTLED) < now)
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> Option<i64> {
    use std::os::unix::fs::MetadataExt;
    metadata.ctime().checked_mul(1_000_000_000)?.checked_add(metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> Option<i64> {
    None
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
