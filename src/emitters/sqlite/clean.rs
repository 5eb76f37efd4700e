//! Whether a database is as it was left, and whether it is sound.

use std::time::{Duration, SystemTime};

use rusqlite::ErrorCode;
use tracing::debug;

use super::{
    Database, SqliteError,
    seen::{Seen, set_time},
};

impl Database {
    /// Makes sure that a database is sound, by a look at its file if that is enough.
    pub(super) fn ensure_sound(&mut self) -> Result<(), SqliteError> {
        if self.is_as_it_was_closed()? {
            return Ok(());
        }
        debug!(path = ?self.path, "not as it was closed");
        let mut findings = self.check()?;
        if findings.is_empty() {
            // It takes the lock of a writer. Where somebody else has it, the database is in use, and was looked
            // through before that.
            self.with(|connection| connection.busy_timeout(Duration::ZERO))?;
            match self.check_search() {
                Err(SqliteError::Locked(_) | SqliteError::ReadOnly(_)) => {}
                checked => findings = checked?,
            }
        }
        let Some(finding) = findings.into_iter().next() else { return Ok(()) };
        let message = format!(
            "{}. Nothing was written to it. `foldline check` tells what else is wrong, and what to do",
            finding.message
        );
        Err(SqliteError::Damaged { path: self.path.clone(), message })
    }

    /// Closes a database that [`open_sound`](Self::open_sound) opened, so that the next one to open it sees whether anything else has
    /// written to it since: its file gets the time that is stored in it. Without that, and while other
    /// programs have it open, it is only not known to be sound.
    ///
    /// # Errors
    /// It cannot be written.
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
            // All changes into the file, also if another program has it open.
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
            // The file belongs to somebody else.
            debug!(?path, ?error, "not marked as closed");
        }
        Ok(())
    }

    /// Confirms that what was read belongs together. A database that was opened for reading where nothing can be
    /// written is read without locks: somebody else may have written to it meanwhile. Others are always read
    /// as they were at one moment.
    ///
    /// # Errors
    /// It was written to since it was opened, or cannot be found any more.
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
