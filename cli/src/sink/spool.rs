//! [`Spool`]: collects the bytes of a sink until they are taken.

use std::{
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tempfile::{SpooledTempFile, spooled_tempfile_in};

/// The number of bytes kept in memory before they are moved to a file.
const IN_MEMORY: usize = 1 << 20;

/// The number of bytes read back at once.
const PIECE: usize = 1 << 16;

/// Bytes in memory or, if there are many, in an anonymous file: the output of a record may be several times as
/// long as the record.
pub(crate) struct Spool {
    file: SpooledTempFile,
    length: usize,
}

impl Spool {
    /// Without a folder for a file, everything stays in memory.
    fn new(folder: Option<&Path>) -> Self {
        let file = match folder {
            Some(folder) => spooled_tempfile_in(IN_MEMORY, folder),
            None => SpooledTempFile::new(usize::MAX),
        };
        Self { file, length: 0 }
    }

    /// The number of bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Reads all of it, piece by piece.
    pub(crate) fn read<E: From<io::Error>>(
        mut self,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.file.rewind()?;
        let mut buffer = vec![0; self.length.min(PIECE)];
        while self.length > 0 {
            let piece = &mut buffer[..self.length.min(PIECE)];
            self.file.read_exact(piece)?;
            each(piece)?;
            self.length -= piece.len();
        }
        Ok(())
    }
}

/// A spool shared by a sink, which writes to it, and its owner, who takes what was written.
#[derive(Clone)]
pub(super) struct SharedSpool {
    folder: Option<PathBuf>,
    spool: Arc<Mutex<Spool>>,
}

impl SharedSpool {
    pub(super) fn new(folder: Option<&Path>) -> Self {
        let spool = Arc::new(Mutex::new(Spool::new(folder)));
        Self { folder: folder.map(Path::to_owned), spool }
    }

    pub(super) fn take(&self) -> Spool {
        let empty = Spool::new(self.folder.as_deref());
        std::mem::replace(&mut *self.lock(), empty)
    }

    pub(super) fn length(&self) -> usize {
        self.lock().length
    }

    fn lock(&self) -> MutexGuard<'_, Spool> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
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
