//! [`Opener`]: logs whose content is not the bytes of one file.

use std::{
    fmt,
    fs::{File, Metadata},
    io::{self, Read, Seek},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Follow, LogFile, SourceError, Until};
use crate::ledger::Identity;

/// The content of a log that is a database, a folder or a document: lines that are made when they are read. Any part
/// of it may change, whereas a file of lines grows at its end.
pub trait Stored: Read + Seek + fmt::Debug + Send {
    /// The metadata of all files that it consists of, as an identity with a read length of 0. It must be cheap: it is
    /// asked for whenever the log may have changed.
    ///
    /// # Errors
    /// A file cannot be read.
    fn status(&self) -> io::Result<Identity>;

    /// The metadata of the file that was opened.
    ///
    /// # Errors
    /// It cannot be read.
    fn metadata(&self) -> io::Result<Metadata>;

    /// The length of the lines in bytes.
    ///
    /// # Errors
    /// They cannot be made.
    fn length(&self) -> io::Result<u64>;
}

/// Recognises files that hold a log in another form than lines.
pub trait Opener: Send + Sync {
    /// The log in an open file, which begins with the bytes `head`; or the file, if it is not one of this kind.
    ///
    /// # Errors
    /// Not an error, but the file itself: the next opener is asked.
    fn open(&self, path: &Path, head: &[u8], file: File) -> Result<Box<dyn Stored>, File>;
}

/// The openers that a program knows, in order. Without any, a log is a file of lines, plain or compressed.
#[derive(Clone, Default)]
pub struct Openers(Arc<[Arc<dyn Opener>]>);

impl Openers {
    /// Opens a file, a pipe or a device, as [`LogFile::open`] does.
    ///
    /// # Errors
    /// As for [`LogFile::open`].
    pub fn open(&self, path: impl Into<PathBuf>) -> Result<LogFile, SourceError> {
        LogFile::open_with(path.into(), self)
    }

    /// Opens a regular file only, as [`LogFile::open_regular`] does.
    ///
    /// # Errors
    /// As for [`LogFile::open_regular`].
    pub fn open_regular(&self, path: impl Into<PathBuf>) -> Result<LogFile, SourceError> {
        LogFile::open_regular_with(path.into(), self)
    }

    /// Follows a log, as [`Follow::open`] does.
    ///
    /// # Errors
    /// As for [`Follow::open`].
    pub fn follow(&self, path: impl Into<PathBuf>, until: Until) -> Result<Follow, SourceError> {
        Follow::of(self.open_regular(path)?, until)
    }

    /// The log in an open file, or the file, if no opener knows it.
    pub(super) fn stored(
        &self,
        path: &Path,
        head: &[u8],
        file: File,
    ) -> Result<Box<dyn Stored>, File> {
        self.0
            .iter()
            .try_fold(file, |file, opener| match opener.open(path, head, file) {
                Ok(stored) => Err(stored),
                Err(file) => Ok(file),
            })
            .map_or_else(Ok, Err)
    }
}

impl FromIterator<Arc<dyn Opener>> for Openers {
    fn from_iter<I: IntoIterator<Item = Arc<dyn Opener>>>(openers: I) -> Self {
        Self(openers.into_iter().collect())
    }
}

impl fmt::Debug for Openers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Openers({})", self.0.len())
    }
}
