//! Errors of a database, with human-readable messages.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::{
    access::why_not_opened,
    schema::{self, Unfit},
};

/// An error of opening, reading or writing a database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteError {
    /// The file does not exist.
    #[error("there is no database at {}; `foldline ingest` creates one", .0.display())]
    Missing(PathBuf),
    /// The file is not a SQLite database.
    #[error("{} is not a SQLite database", .0.display())]
    NotADatabase(PathBuf),
    /// The database belongs to another program.
    #[error("{} is a database of another program; choose another file", .0.display())]
    Foreign(PathBuf),
    /// A later version of this program created the database.
    #[error(
        "{} was made by a later version of foldline (its schema is {found}; this version supports schemas up to {known})",
        .path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The latest supported version.
        known: i64,
    },
    /// An earlier version created the database, which is open for reading only.
    #[error(
        "{} was made by an earlier version of foldline (its schema is {found}); the next `foldline ingest` brings it up to date",
        .path.display()
    )]
    Older {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
    },
    /// Another program held the write lock for too long.
    #[error("{} is locked: another program is writing to it; try again, or wait longer with --wait", .0.display())]
    Locked(PathBuf),
    /// Another program committed without the required outputs.
    #[error("another program wrote to {} meanwhile, without the same outputs", .0.display())]
    Overtaken(PathBuf),
    /// The database is read-only.
    #[error("cannot write to {}: the database, or its folder, is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// The database cannot be opened.
    #[error("cannot open the database {}: {reason}", .path.display())]
    CannotOpen {
        /// The database.
        path: PathBuf,
        /// The reason, if it is known.
        reason: String,
    },
    /// The folder is not writable, and the write-ahead log contains changes.
    #[error(
        "cannot read {}: its latest changes are in the -wal file next to it, and the folder is not writable; copy both files to another folder",
        .0.display()
    )]
    Unmerged(PathBuf),
    /// Another program wrote to the database while it was read without locks.
    #[error("{} was written to while it was read; try again", .0.display())]
    Changed(PathBuf),
    /// The database is damaged.
    #[error("the database {} is damaged: {message}", .path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        message: String,
    },
    /// The disk is full.
    #[error("cannot write to {}: the disk is full", .0.display())]
    Full(PathBuf),
    /// Invalid SQL, or an invalid search query.
    #[error("{0}")]
    Query(String),
    /// Any other error of SQLite.
    #[error("the database {} failed: {message}", .path.display())]
    Other {
        /// The database.
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
