//! [`Finding`]: a fault of a database.

use rusqlite::{Connection, ErrorCode};

/// The largest number of findings of one kind that are reported.
pub(super) const TOLD: usize = 20;

/// `SQLITE_IOERR_SHORT_READ`.
const SHORT_READ: i32 = 522;

/// A fault of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The fault and its place.
    pub message: String,
    /// Whether the fault is in data that is derived from the rows of the tables, and that
    /// [`Database::repair`](crate::sqlite::Database::repair) rebuilds: an index, the search index, or
    /// a number of entries.
    pub is_derived: bool,
}

impl Finding {
    pub(super) fn new(message: impl Into<String>, is_derived: bool) -> Self {
        Self { message: message.into(), is_derived }
    }
}

/// A check that fails because of damage is a finding. SQLite has many errors for damage, including errors of
/// statements, so every error is a finding unless it comes from the system or from other programs.
pub(super) fn found(
    what: &str,
    is_derived: bool,
    checked: rusqlite::Result<Vec<Finding>>,
) -> rusqlite::Result<Vec<Finding>> {
    let Err(error) = checked else { return checked };
    match error.sqlite_error_code() {
        // An expected page is beyond the end of the file.
        Some(ErrorCode::SystemIoFailure)
            if error.sqlite_error().is_some_and(|error| error.extended_code == SHORT_READ) => {}
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::OperationInterrupted
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::SystemIoFailure,
        ) => return Err(error),
        _ => {}
    }
    let message = error.to_string();
    let is_derived = is_derived || message.starts_with("fts5: ");
    Ok(vec![Finding::new(format!("{what} cannot be checked: {message}"), is_derived)])
}

/// The findings of a query that returns messages.
pub(super) fn told(
    connection: &Connection,
    sql: &str,
    is_derived: bool,
) -> rusqlite::Result<Vec<Finding>> {
    connection
        .prepare(&format!("{sql} LIMIT {TOLD}"))?
        .query_map([], |row| Ok(Finding::new(row.get::<_, String>(0)?, is_derived)))?
        .collect()
}
