//! Making anew what is made from the rows.

use std::{fs, io, path::PathBuf, time::Duration};

use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
    ffi,
};

use super::{
    finding::{Finding, found},
    structure,
};
use crate::{
    emitters::sqlite::{Database, SqliteError, crc, open, schema, seen::beside},
    files::temporary_of,
};

/// The numbers of entries, as [`numbers_of_entries`](super::rows::numbers_of_entries) wants them. How many were
/// pruned no row tells.
const COUNT_ENTRIES: &str = "
    UPDATE fresh.sessions SET entries = max(
        iif(pruned_to IS NULL, 0, entries),
        coalesce((SELECT max(idx) + 1 FROM fresh.entries WHERE session = sessions.id), 0)
    )";

impl Database {
    /// Makes everything anew that is made from the rows of the tables: indices, the search index, the
    /// numbers of entries of the sessions. Says what is still wrong then.
    ///
    /// The rows are copied to a new database beside this one, which takes about as much room. It takes the
    /// place of this one in one transaction, if all rows can be read.
    ///
    /// # Errors
    /// Other programs use the database, a table itself is damaged, so that rows of it may be gone, or the new
    /// database cannot be written; then nothing is changed.
    pub fn repair(&mut self) -> Result<Vec<Finding>, SqliteError> {
        let others = structure::others(&self.connection).map_err(|error| self.error(&error))?;
        if !others.is_empty() {
            let message = format!(
                "it has what foldline did not make, and would be lost: {}",
                others.join(", ")
            );
            return Err(SqliteError::Other { path: self.path.clone(), message });
        }
        // In the new database nothing would show that rows are gone.
        let torn = [structure::schema, structure::pages].into_iter().try_fold(
            Vec::new(),
            |findings, check| {
                Ok([findings, found("the structure", false, check(&self.connection))?].concat())
            },
        );
        let torn = torn.map_err(|error| self.error(&error))?;
        if let Some(finding) = torn.into_iter().find(|finding| !finding.is_derived) {
            let message =
                format!("{}. It is not repaired, since rows may be gone", finding.message);
            return Err(SqliteError::Damaged { path: self.path.clone(), message });
        }
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let fresh = Fresh::make(temporary_of(&path))?;
        self.try_repair(&fresh).map_err(|error| self.error(&error))?;
        Ok([self.check()?, self.check_search()?].concat())
    }

    fn try_repair(&mut self, fresh: &Fresh) -> rusqlite::Result<()> {
        // Nobody else writes between the copying and the replacing.
        self.connection
            .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;")?;
        self.connection.execute("ATTACH ?1 AS fresh", [fresh.path.to_string_lossy()])?;
        for table in crc::tables(&schema::empty()?)? {
            // Without a condition SQLite would copy the pages of the indices as they are.
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

/// A database beside another one, which is removed in the end.
struct Fresh {
    path: PathBuf,
}

impl Fresh {
    /// Makes it, empty. What a run that was killed left is removed.
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
