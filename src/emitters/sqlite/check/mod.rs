//! Whether a database is sound, and what can be made anew if it is not.

mod repair;
mod rows;
mod structure;

use rusqlite::{Connection, ErrorCode};

use super::{Database, SqliteError};

/// How many findings of one kind are told.
const TOLD: usize = 20;

/// `SQLITE_IOERR_SHORT_READ`.
const SHORT_READ: i32 = 522;

/// Something that is wrong with a database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong, and where.
    pub message: String,
    /// It is about something that is made from the rows of the tables, and that
    /// [`Database::repair`] makes anew: an index, the search index, or a number of entries.
    pub is_derived: bool,
}

impl Finding {
    fn new(message: impl Into<String>, is_derived: bool) -> Self {
        Self { message: message.into(), is_derived }
    }
}

/// What looks for findings of one kind.
type Check = fn(&Connection) -> rusqlite::Result<Vec<Finding>>;

/// What is looked at, if the schema is as it should be.
const CHECKS: [(&str, Check); 5] = [
    ("the pages and the indices", structure::pages),
    ("the references between rows", structure::references),
    ("the checksums of the rows", rows::checksums),
    ("the numbers of entries", rows::numbers_of_entries),
    ("the positions of the sources", rows::positions),
];

impl Database {
    /// Reads all of the database, and tells what is wrong with it: its schema, SQLite's own structures, indices
    /// that do not fit their tables, references to rows that are not there, rows that are not what was
    /// written, and sessions with another number of entries than they state. No more than a few findings of each
    /// kind are told.
    ///
    /// Whether the search index fits the entries, [`check_search`](Self::check_search) tells. Damage in parts of
    /// the file that hold nothing is not noticed.
    ///
    /// # Errors
    /// It cannot be read for another reason than damage.
    pub fn check(&self) -> Result<Vec<Finding>, SqliteError> {
        self.try_check().map_err(|error| self.error(&error))
    }

    fn try_check(&self) -> rusqlite::Result<Vec<Finding>> {
        let moment = self.connection.unchecked_transaction()?;
        let mut findings = found("the schema", false, structure::schema(&moment))?;
        if findings.iter().any(|finding| !finding.is_derived) {
            return Ok(findings);
        }
        for (what, check) in CHECKS {
            // What cannot be read then may be what was found before.
            let is_derived =
                !findings.is_empty() && findings.iter().all(|finding| finding.is_derived);
            findings.extend(found(what, is_derived, check(&moment))?);
        }
        Ok(findings)
    }

    /// Compares the search index with the entries. Every text is read and cut into words anew.
    ///
    /// # Errors
    /// The database is not open for writing, is locked, or cannot be read for another reason than damage.
    pub fn check_search(&mut self) -> Result<Vec<Finding>, SqliteError> {
        let compare = "INSERT INTO search (search, rank) VALUES ('integrity-check', 1)";
        let compared = self.connection.transaction().and_then(|undone| {
            let compared = undone.execute(compare, []);
            found("the search index", true, compared.map(|_| Vec::new()))
        });
        compared.map_err(|error| self.error(&error))
    }
}

/// That a check cannot be made for damage is a finding. SQLite has many errors for damage, some of which say that a
/// statement is wrong. So everything is one that does not come from the system or from other programs.
fn found(
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

#[cfg(test)]
mod tests;
