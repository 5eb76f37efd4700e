//! Rebuilds the data that is derived from the rows.

use std::{fs, io, path::PathBuf, time::Duration};

use foldline::files::temporary_of;
use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
    ffi,
};

use super::{
    finding::{Finding, found},
    structure,
};
use crate::sqlite::{Database, SqliteError, crc, open, schema, seen::beside};

/// Recomputes the numbers of entries for [`numbers_of_entries`](super::rows::numbers_of_entries). The number of
/// pruned entries is not derivable.
const COUNT_ENTRIES: &str = "
    UPDATE fresh.sessions SET entries = max(
        iif(pruned_to IS NULL, 0, entries),
        coalesce((SELECT max(idx) + 1 FROM fresh.entries WHERE session = sessions.id), 0)
    )";

impl Database {
    /// Rebuilds all data that is derived from the rows of the tables: indices, the search index, the numbers of
    /// entries of the sessions. Returns the remaining findings.
    ///
    /// The rows are copied to a new database in the same folder, which needs about the same space. If all rows
    /// can be read, it replaces this one in one transaction.
    ///
    /// # Errors
    /// Other programs use the database, a table itself is damaged, so that rows may be missing, or the new
    /// database cannot be written; then nothing is changed.
    pub fn repair(&mut self) -> Result<Vec<Finding>, SqliteError> {
        let others = structure::others(&self.connection).map_err(|error| self.error(&error))?;
        if !others.is_empty() {
            let message = format!(
                "it contains objects that foldline did not create, and that would be lost: {}",
                others.join(", ")
            );
            return Err(SqliteError::Other { path: self.path.clone(), message });
        }
        // The new database would hide that rows are missing.
        let torn = [structure::schema, structure::pages].into_iter().try_fold(
            Vec::new(),
            |findings, check| {
                Ok([findings, found("the structure", false, check(&self.connection))?].concat())
            },
        );
        let torn = torn.map_err(|error| self.error(&error))?;
        if let Some(finding) = torn.into_iter().find(|finding| !finding.is_derived) {
            let message =
                format!("{}. It is not repaired, since rows may be missing", finding.message);
            return Err(SqliteError::Damaged { path: self.path.clone(), message });
        }
        let path = dunce::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let fresh = Fresh::make(temporary_of(&path))?;
        self.try_repair(&fresh).map_err(|error| self.error(&error))?;
        Ok([self.check()?, self.check_search()?].concat())
    }

    fn try_repair(&mut self, fresh: &Fresh) -> rusqlite::Result<()> {
        // Blocks other writers from the copy to the replacement.
        self.connection
            .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;")?;
        self.connection.execute("ATTACH ?1 AS fresh", [fresh.path.to_string_lossy()])?;
        for table in crc::tables(&schema::empty()?)? {
            // Without a condition SQLite would copy the pages of the indices unchanged.
            let copy = format!(
                "DELETE FROM fresh.{table};
                 INSERT INTO fresh.{table} SELECT * FROM main.{table} NOT INDEXED WHERE true;"
            );
            self.connection.execute_batch(&copy)?;
        }
        self.connection.execute_batch(COUNT_ENTRIES)?;
        self.connection
            .execute_batch("INSERT INTO fresh.search (search) VALUES ('rebuild'); DETACH fresh;")?;
        let source = Connection::open(&fresh.path)?;
        // In one step: all pages or none.
        if Backup::new(&source, &mut self.connection)?.step(-1)? != StepResult::Done {
            return Err(locked());
        }
        self.connection.execute_batch("PRAGMA locking_mode = NORMAL")?;
        self.connection.query_row("SELECT 1 FROM sqlite_schema LIMIT 1", [], |_| Ok(()))
    }
}

/// A temporary database, which is removed on drop.
struct Fresh {
    path: PathBuf,
}

impl Fresh {
    /// Creates an empty database. Removes the file of a run that was killed.
    fn make(path: PathBuf) -> Result<Self, SqliteError> {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let reason = error.to_string();
                return Err(SqliteError::CannotOpen { path, reason });
            }
            _ => {}
        }
        let fresh = Self { path };
        let path = &fresh.path;
        let mut connection = open::read_write(path, Duration::ZERO)?;
        connection
            .pragma_update(None, "page_size", schema::PAGE)
            .map_err(|error| SqliteError::new(path, &error))?;
        schema::migrate(&mut connection).map_err(|unfit| SqliteError::unfit(path, unfit))?;
        Ok(fresh)
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(beside(&self.path, "-journal"));
    }
}

fn locked() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None)
}
