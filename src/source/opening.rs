//! Opening logs with [`Openers`].

use std::path::PathBuf;

use super::{Follow, LogFile, Openers, SourceError, Until};

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
}
