//! What can go wrong with a database, in sentences for people.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::{
    access::why_not_opened,
    schema::{self, Unfit},
};

/// Why a database could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteError {
    /// There is no such file.
    #[error("there is no database at {}; `foldline ingest` makes one", .0.display())]
    Missing(PathBuf),
    /// The file is something else.
    #[error("{} is not a SQLite database", .0.display())]
    NotADatabase(PathBuf),
    /// Another program made it.
    #[error("{} is a database of another program; choose another file", .0.display())]
    Foreign(PathBuf),
    /// A later version of this program made it.
    #[error(
        "{} was made by a later version of foldline (its schema is {found}; this one knows up to {known})",
        .path.display()
    )]
    Newer {
        /// Which database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The latest that is known here.
        known: i64,
    },
    /// An earlier version made it, and it is only being read.
    #[error(
        "{} was made by an earlier version of foldline (its schema is {found}); the next `foldline ingest` brings it up to date",
        .path.display()
    )]
    Older {
        /// Which database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
    },
    /// Somebody else is writing, and did not end in time.
    #[error("{} is locked: another program is writing to it; try again, or wait longer with --wait", .0.display())]
    Locked(PathBuf),
    /// Somebody else committed to it, without the outputs that were to be committed with everything.
    #[error("another program wrote to {} meanwhile, without the same outputs", .0.display())]
    Overtaken(PathBuf),
    /// It cannot be written to.
    #[error("cannot write to {}: the database, or its folder, is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// It cannot be opened.
    #[error("cannot open the database {}: {reason}", .path.display())]
    CannotOpen {
        /// Which database.
        path: PathBuf,
        /// What the system says, as far as it can be found out.
        reason: String,
    },
    /// Nothing can be written beside it, and a part of it is in its write-ahead log.
    #[error(
        "cannot read {}: its latest changes are beside it, in the -wal file, and nothing can be written there; copy both files to another folder",
        .0.display()
    )]
    Unmerged(PathBuf),
    /// Nothing can be written beside it, and somebody else wrote to it while it was read.
    #[error("{} was written to while it was read; try again", .0.display())]
    Changed(PathBuf),
    /// It is damaged.
    #[error("the database {} is damaged: {message}", .path.display())]
    Damaged {
        /// Which database.
        path: PathBuf,
        /// What SQLite says.
        message: String,
    },
    /// There is no room left.
    #[error("cannot write to {}: the disk is full", .0.display())]
    Full(PathBuf),
    /// What was asked is not valid SQL, or not a valid search.
    #[error("{0}")]
    Query(String),
    /// Anything else that SQLite says.
    #[error("the database {} failed: {message}", .path.display())]
    Other {
        /// Which database.
        path: PathBuf,
        /// What SQLite says.
        message: String,
    },
}

impl SqliteError {
    pub(super) fn new(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let message = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked(path),
            Some(ErrorCode::ReadOnly) => Self::ReadOnly(path),
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                let reason = why_not_opened(&path);
                Self::CannotOpen { path, reason }
            }
            Some(ErrorCode::NotADatabase) => Self::NotADatabase(path),
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, message },
            Some(ErrorCode::DiskFull) => Self::Full(path),
            _ => Self::Other { path, message },
        }
    }

    pub(super) fn unfit(path: &Path, unfit: Unfit) -> Self {
        let known = schema::VERSION;
        match unfit {
            Unfit::Foreign => Self::Foreign(path.to_owned()),
            Unfit::Newer { found } => Self::Newer { path: path.to_owned(), found, known },
            Unfit::Older { found } => Self::Older { path: path.to_owned(), found },
            Unfit::Failed(error) => Self::new(path, &error),
        }
    }
}
