//! Checks whether a database is unchanged since it was closed, and whether it is sound.

use std::time::{Duration, SystemTime};

use rusqlite::ErrorCode;
use tracing::debug;

use super::{
    Database, Finding, SqliteError,
    seen::{Seen, set_time},
};

impl Database {
    /// Ensures that a database is sound. If its file is unchanged, nothing else is checked.
    pub(super) fn ensure_sound(&mut self) -> Result<(), SqliteError> {
        if self.is_as_it_was_closed()? {
            return Ok(());
        }
        debug!(path = ?self.path, "changed since it was closed");
        let mut findings = self.check()?;
        if findings.is_empty() {
            // The check takes the write lock. If another program holds it, that program has already checked the
            // database.
            self.with(|connection| connection.busy_timeout(Duration::ZERO))?;
            match self.check_search() {
                Err(SqliteError::Locked(_) | SqliteError::ReadOnly(_)) => {}
                checked => findings = checked?,
            }
        }
        let Some(finding) = findings.into_iter().next() else { return Ok(()) };
        let message = format!(
            "{}. Nothing was written to it. `foldline check` reports further damage, and how to repair it",
            finding.message
        );
        Err(SqliteError::Damaged { path: self.path.clone(), message })
    }

    /// The first damage that a reader of the database has to report. Like a writer, it checks nothing if the file is
    /// unchanged since it was closed, and everything but the search index otherwise.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn damage(&self) -> Result<Option<Finding>, SqliteError> {
        if self.is_as_it_was_closed()? {
            return Ok(None);
        }
        debug!(path = ?self.path, "changed since it was closed");
        Ok(self.check()?.into_iter().next())
    }

    /// The same of the search index. Comparing it takes the write lock; it is not compared while another program
    /// writes, or if the database is read-only.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn search_damage(&self) -> Result<Option<Finding>, SqliteError> {
        if self.is_as_it_was_closed()? {
            return Ok(None);
        }
        let compared = Self::open_as_it_is(&self.path, Duration::ZERO)
            .and_then(|mut database| database.check_search());
        match compared {
            Err(SqliteError::Locked(_) | SqliteError::ReadOnly(_) | SqliteError::Unmerged(_)) => {
                Ok(None)
            }
            compared => Ok(compared?.into_iter().next()),
        }
    }

    /// Closes a database that [`open_sound`](Self::open_sound) opened, so that the next
    /// [`open_sound`](Self::open_sound) detects later writes: the modification time of the file is set to a
    /// time stored in the database. If this is not possible, or if other programs have the database open, the
    /// next one checks it completely.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn close(self) -> Result<(), SqliteError> {
        if self.connection.total_changes() == 0 && self.is_as_it_was_closed()? {
            return Ok(());
        }
        let fail = |error| self.error(&error);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or_default();
        self.connection.busy_timeout(Duration::ZERO).map_err(fail)?;
        let mark = "UPDATE ledger SET closed_at = ?1, crc32 = row_crc32(id, commits, ?1)";
        let closed = self.connection.execute(mark, [now]).and_then(|_| {
            // Moves all changes into the file, even if another program has it open.
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        });
        match closed {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                return Ok(());
            }
            closed => closed.map_err(fail)?,
        }
        let Self { connection, path, .. } = self;
        connection.close().map_err(|(_, error)| SqliteError::new(&path, &error))?;
        if let Ok(Some(_)) = Seen::of(&path)
            && let Err(error) = set_time(&path, now)
        {
            // Another user owns the file.
            debug!(?path, ?error, "not marked as closed");
        }
        Ok(())
    }

    /// Confirms that all data that was read is consistent. A database in a folder that is not writable is read
    /// without locks, so another program may write to it meanwhile. Other databases are always read as a
    /// snapshot.
    ///
    /// # Errors
    /// The database was written to since it was opened, or is missing.
    pub fn confirm(&self) -> Result<(), SqliteError> {
        if self.is_locked || Seen::of(&self.path).ok().flatten() == self.seen {
            return Ok(());
        }
        Err(SqliteError::Changed(self.path.clone()))
    }

    fn is_as_it_was_closed(&self) -> Result<bool, SqliteError> {
        let Some(seen) = &self.seen else { return Ok(false) };
        let sql = "SELECT closed_at FROM ledger";
        let closed: Option<i64> =
            self.with(|connection| connection.query_row(sql, [], |row| row.get(0)))?;
        Ok(closed.is_some_and(|closed| seen.has_time(closed)))
    }
}
