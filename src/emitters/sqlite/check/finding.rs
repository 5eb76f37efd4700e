//! [`Finding`]: something that is wrong with a database.

use rusqlite::{Connection, ErrorCode};

/// The largest number of findings of one kind that are reported.
pub(super) const TOLD: usize = 20;

/// `SQLITE_IOERR_SHORT_READ`.
const SHORT_READ: i32 = 522;

/// Something that is wrong with a database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong, and where.
    pub message: String,
    /// It is about something that is made from the rows of the tables, and that
    /// [`Database::repair`](crate::emitters::sqlite::Database::repair) rebuilds: an index, the search index, or a number of entries.
    pub is_derived: bool,
}

impl Finding {
    pub(super) fn new(message: impl Into<String>, is_derived: bool) -> Self {
        Self { message: message.into(), is_derived }
    }
}

/// That a check cannot be made for damage is a finding. SQLite has many errors for damage, some of which say that a
/// statement is wrong. So everything is one that does not come from the system or from other programs.
pub(super) fn found(
    what: &str,
    is_derived: bool,
    checked: rusqlite::Result<Vec<Finding>>,
) -> rusqlite::Result<Vec<Finding>> {
    let Err(error) = checked else { return checked };
    match error.sqlite_error_code() {
        // A page that should be there is behind the end of the file.
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

/// The findings that a query gives, each a message.
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
