//! [`SourceError`]: the errors of reading a log.

use std::{
    io,
    path::{Path, PathBuf},
};

/// The reason why a log cannot be opened, read or resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The system refused to open the file.
    #[error("cannot open {}: {error}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        error: io::Error,
    },
    /// The system refused to read the file or its metadata.
    #[error("cannot read {}: {error}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        error: io::Error,
    },
    /// The path is a folder, a pipe or a device instead of a regular file.
    #[error("{} is not a regular file", .path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
    },
    /// The log does not begin with the data that was read earlier, and neither does any file next to it.
    #[error(
        "{} is {}, and no file beside it is the one that was read",
        .path.display(),
        if *.is_shorter { "shorter than it was" } else { "another file than it was" }
    )]
    Unrecognised {
        /// The path of the log.
        path: PathBuf,
        /// It is shorter than the data that was read.
        is_shorter: bool,
    },
}

impl SourceError {
    /// The file concerned.
    pub fn path(&self) -> &Path {
        match self {
            Self::Open { path, .. }
            | Self::Read { path, .. }
            | Self::NotRegular { path }
            | Self::Unrecognised { path, .. } => path,
        }
    }

    /// Whether the file does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Open { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}
