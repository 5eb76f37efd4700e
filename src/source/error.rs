//! [`SourceError`]: why a log cannot be read.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a log cannot be opened, read, or gone on with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The system refused to open it.
    #[error("cannot open {}: {error}", .path.display())]
    Open {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// The system refused to read it, or to say what it is.
    #[error("cannot read {}: {error}", .path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// It is a folder, a pipe or a device, where a regular file is needed.
    #[error("{} is not a regular file", .path.display())]
    NotRegular {
        /// Which one.
        path: PathBuf,
    },
    /// The log does not begin with what was read of it an earlier time, and no file beside it does.
    #[error(
        "{} is {}, and no file beside it is the one that was read",
        .path.display(),
        if *.is_shorter { "shorter than it was" } else { "another file than it was" }
    )]
    Unrecognised {
        /// The log's name.
        path: PathBuf,
        /// It is shorter than what was read.
        is_shorter: bool,
    },
}

impl SourceError {
    /// The file that it is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Open { path, .. }
            | Self::Read { path, .. }
            | Self::NotRegular { path }
            | Self::Unrecognised { path, .. } => path,
        }
    }

    /// Whether there is no such file.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Open { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}
