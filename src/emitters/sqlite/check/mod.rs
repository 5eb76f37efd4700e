//! Whether a database is sound, and what can be made anew if it is not.

mod finding;
mod repair;
mod rows;
mod structure;

use rusqlite::Connection;

pub use self::finding::Finding;
use self::finding::found;

use super::{Database, SqliteError};

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
