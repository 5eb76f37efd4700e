//! [`Gathered`]: the bytes of sinks that do not write directly.

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use foldline::processor::Collect;
use tempfile::{SpooledData, SpooledTempFile, spooled_tempfile_in};

/// The number of bytes kept in memory before they are moved to a file.
const IN_MEMORY: usize = 1 << 20;

/// The number of bytes read back at once.
const PIECE: usize = 1 << 16;

/// Bytes in memory or, if there are many, in an anonymous file: the output of a record may be several times as
/// long as the record.
pub(crate) enum Spool {
    Memory(Vec<u8>),
    File { file: File, length: usize },
}

impl Spool {
    /// The number of bytes.
    fn length(&self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::File { length, .. } => *length,
        }
    }

    /// Reads all of it, piece by piece.
    pub(crate) fn read<E: From<io::Error>>(
        self,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut file, mut rest) = match self {
            Self::Memory(bytes) => return each(&bytes),
            Self::File { file, length } => (file, length),
        };
        file.rewind()?;
        let mut buffer = vec![0; rest.min(PIECE)];
        while rest > 0 {
            let piece = &mut buffer[..rest.min(PIECE)];
            file.read_exact(piece)?;
            each(piece)?;
            rest -= piece.len();
        }
        Ok(())
    }
}

/// What a sink wrote: an output of the sinks of a run.
pub(crate) struct Written {
    pub(crate) sink: &'static str,
    pub(crate) bytes: Spool,
}

/// What sinks wrote, until it is committed.
#[derive(Default)]
pub(crate) struct Gathered {
    pieces: Vec<Written>,
    size: usize,
}

impl Collect for Gathered {
    type Item = Written;

    fn add(&mut self, written: Written) {
        self.size += written.bytes.length();
        let last = self.pieces.iter_mut().rev().find(|piece| piece.sink == written.sink);
        match (last.map(|last| &mut last.bytes), written.bytes) {
            (Some(Spool::Memory(bytes)), Spool::Memory(more)) => bytes.extend_from_slice(&more),
            (_, bytes) => self.pieces.push(Written { bytes, ..written }),
        }
    }

    fn size(&self) -> usize {
        self.size
    }
}

/// The bytes of a sink are in the order in which it wrote them.
impl IntoIterator for Gathered {
    type Item = Written;
    type IntoIter = std::vec::IntoIter<Written>;

    fn into_iter(self) -> Self::IntoIter {
        self.pieces.into_iter()
    }
}

/// A spool shared by a sink, which writes to it, and its owner, who takes what was written.
#[derive(Clone)]
pub(super) struct SharedSpool {
    folder: Option<PathBuf>,
    spool: Arc<Mutex<Spooling>>,
}

struct Spooling {
    file: SpooledTempFile,
    length: usize,
}

impl SharedSpool {
    /// Without a folder for a file, everything stays in memory.
    pub(super) fn new(folder: Option<&Path>) -> Self {
        let spool = Arc::new(Mutex::new(Spooling::new(folder)));
        Self { folder: folder.map(Path::to_owned), spool }
    }

    /// Takes what was written; `None` if nothing was.
    pub(super) fn take(&self) -> Option<Spool> {
        let mut spool = self.lock();
        if spool.length == 0 {
            return None;
        }
        let Spooling { file, length } =
            std::mem::replace(&mut *spool, Spooling::new(self.folder.as_deref()));
        Some(match file.into_inner() {
            SpooledData::InMemory(bytes) => Spool::Memory(bytes.into_inner()),
            SpooledData::OnDisk(file) => Spool::File { file, length },
        })
    }

    fn lock(&self) -> MutexGuard<'_, Spooling> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spooling {
    fn new(folder: Option<&Path>) -> Self {
        let file = match folder {
            Some(folder) => spooled_tempfile_in(IN_MEMORY, folder),
            None => SpooledTempFile::new(usize::MAX),
        };
        Self { file, length: 0 }
    }
}

impl Write for SharedSpool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut spool = self.lock();
        let written = spool.file.write(bytes)?;
        spool.length += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
