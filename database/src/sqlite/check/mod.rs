//! Checks whether a database is sound, and rebuilds derived data if it is not.

mod finding;
mod repair;
mod rows;
mod structure;

use rusqlite::Connection;

pub use self::finding::Finding;
use self::finding::found;

use super::{Database, SqliteError};

/// A search for findings of one kind.
type Check = fn(&Connection) -> rusqlite::Result<Vec<Finding>>;

/// The checks after that of the schema.
const CHECKS: [(&str, Check); 5] = [
    ("the pages and the indices", structure::pages),
    ("the references between rows", structure::references),
    ("the checksums of the rows", rows::checksums),
    ("the numbers of entries", rows::numbers_of_entries),
    ("the positions of the sources", rows::positions),
];

impl Database {
    /// Reads the whole database, and reports damage: in its schema and SQLite's own structures, indices that do
    /// not match their tables, references to missing rows, rows with a wrong checksum, and sessions with a
    /// wrong number of entries. Reports only a few findings of each kind.
    ///
    /// [`check_search`](Self::check_search) compares the search index with the entries. Damage in unused parts
    /// of the file is not detected.
    ///
    /// # Errors
    /// The database cannot be read for another reason than damage.
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
            // A failed check can be caused by earlier findings.
            let is_derived =
                !findings.is_empty() && findings.iter().all(|finding| finding.is_derived);
            findings.extend(found(what, is_derived, check(&moment))?);
        }
        Ok(findings)
    }

    /// Compares the search index with the entries. Every text is read and split into words again.
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
