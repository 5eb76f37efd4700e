//! Removes sessions for good: see [`removal`].

use foldline::ledger::SourceName;
use rusqlite::{Connection, TransactionBehavior, params, params_from_iter};

use super::{
    Database, SqliteError,
    crc::sum_sessions,
    statements::{list, run},
};
use crate::{
    Dialect, Parameter, Row, StoreError,
    removal::{self, Forgotten, Removal, Size},
};

impl Database {
    /// Removes these sessions and everything that belongs to them, such as their entries, tokens, warnings and words in
    /// the search index, and the logs that state more about them. They do not come back when their logs are read again.
    ///
    /// Deleted contents are overwritten in the file.
    ///
    /// # Errors
    /// The database cannot be written; then nothing is removed.
    pub fn forget_sessions(
        &mut self,
        sessions: &[i64],
        dry_run: bool,
    ) -> Result<Forgotten, SqliteError> {
        if !dry_run {
            self.with(|connection| connection.execute_batch("PRAGMA secure_delete = ON"))?;
        }
        let forgotten = self.removing(dry_run, |mut transaction| {
            removal::forget(&mut transaction, sessions, dry_run)
        })?;
        if !dry_run && forgotten.sessions > 0 {
            self.with(|mut connection| connection.merge_words())?;
            self.with(|connection| connection.execute_batch("PRAGMA secure_delete = OFF"))?;
        }
        Ok(forgotten)
    }

    /// Removes rows in a separate transaction, and the rows that refer to them.
    pub(super) fn removing<T>(
        &mut self,
        dry_run: bool,
        remove: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, SqliteError> {
        let behavior = match dry_run {
            true => TransactionBehavior::Deferred,
            false => TransactionBehavior::Immediate,
        };
        let removed = self.cascading(|connection| {
            let transaction = connection.transaction_with_behavior(behavior)?;
            let removed = remove(&transaction)?;
            transaction.commit()?;
            Ok(removed)
        });
        removed.map_err(|error| self.error(&error))
    }
}

impl Removal for &Connection {
    type Error = rusqlite::Error;

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn change(&mut self, sql: &str, parameters: &[Parameter]) -> rusqlite::Result<()> {
        run(self, sql, params_from_iter(parameters)).map(drop)
    }

    fn select<T>(
        &mut self,
        sql: &str,
        parameters: &[Parameter],
        read: impl FnMut(&dyn Row) -> Result<T, StoreError>,
    ) -> rusqlite::Result<Vec<T>> {
        list(self, sql, params_from_iter(parameters), read)
    }

    fn sum_sessions(&mut self, which: &str, parameters: &[Parameter]) -> rusqlite::Result<()> {
        sum_sessions(self, which, params_from_iter(parameters))
    }

    fn remove_session(&mut self, session: i64) -> rusqlite::Result<()> {
        remove(self, session)
    }

    fn take_kept(&mut self, sessions: &Parameter, dry_run: bool) -> rusqlite::Result<Vec<String>> {
        let sources =
            "source IN (SELECT name FROM sources JOIN sessions ON sessions.source = sources.id
                        WHERE sessions.id IN (SELECT value FROM json_each(?1)))";
        let sql =
            format!("SELECT file FROM kept GROUP BY file HAVING min({sources}) ORDER BY file");
        let kept = list(self, &sql, [sessions], |row| row.get(0))?;
        if !dry_run {
            run(self, &format!("DELETE FROM kept WHERE {sources}"), [sessions])?;
        }
        Ok(kept)
    }

    /// The prices are those of the program.
    fn remove_unused(&mut self) -> rusqlite::Result<()> {
        Ok(())
    }

    /// Free pages do not count, nor does free space within the pages from which pruning removes rows.
    fn size(&mut self) -> rusqlite::Result<Size> {
        let sql = "
            WITH kinds (name, is_of_entries) AS (
                SELECT name, tbl_name IN ('entries', 'tool_calls', 'tool_paths', 'open_entries') OR name LIKE 'search%'
                FROM sqlite_schema
            )
            SELECT coalesce(sum(iif(is_of_entries, pgsize - unused, 0)), 0),
                   coalesce(sum(iif(is_of_entries, 0, pgsize)), 0)
            FROM dbstat LEFT JOIN kinds USING (name) WHERE aggregate = TRUE";
        let sizes = list(self, sql, [], |row| {
            Ok(Size { entries: row.unsigned(0)?, rest: row.unsigned(1)? })
        })?;
        Ok(sizes.into_iter().next().unwrap_or_default())
    }

    /// They stay in the index until its pieces are merged.
    fn merge_words(&mut self) -> rusqlite::Result<()> {
        run(self, "INSERT INTO search (search) VALUES ('optimize')", []).map(drop)
    }
}

/// The source is read again from its beginning, which may renumber its sessions: those with an id are recognised by
/// that.
pub(super) fn renumber(transaction: &Connection, source: &SourceName) -> rusqlite::Result<()> {
    let sql = "UPDATE forgotten SET number = NULL,
                   crc32 = row_crc32(source, NULL, agent, session_id, anywhere)
               WHERE source = ?1 AND session_id IS NOT NULL";
    run(transaction, sql, [source.as_str()]).map(drop)
}

/// Removes a session without foreign keys, which are off in a commit.
fn remove(transaction: &Connection, session: i64) -> rusqlite::Result<()> {
    let paths =
        "DELETE FROM tool_paths WHERE entry IN (SELECT entry FROM tool_calls WHERE session = ?1)";
    run(transaction, paths, [session])?;
    // The words of an entry are removed with it, those of its call included.
    let tables = "open_entries entries tool_calls message_usage warnings authority limits leaves record_titles";
    for table in tables.split(' ') {
        run(transaction, &format!("DELETE FROM {table} WHERE session = ?1"), [session])?;
    }
    run(transaction, "UPDATE sources SET session = NULL WHERE session = ?1", [session])?;
    run(transaction, "DELETE FROM sessions WHERE id = ?1", params![session]).map(drop)
}
