//! Replacing what is stored of a source by what is read of it anew.

use rusqlite::params;

use super::{
    Database, SqliteError,
    copies::{self, Copy},
    crc::sum_sessions,
    statements::{find, list, run},
};
use crate::ledger::SourceName;

/// A replacement that was begun, with what is kept of the rows before it.
#[derive(Debug)]
#[must_use = "it is undone unless it is ended"]
pub struct Replacement {
    source: SourceName,
    sessions: Vec<Kept>,
    copies: Vec<Copy>,
}

/// What people decided about a session, which no log says.
#[derive(Debug)]
struct Kept {
    session_id: Option<String>,
    task: Option<String>,
    pruned_to: Option<i64>,
}

impl Database {
    /// Begins to replace everything that is stored of a source: it is removed, and all commits from now on
    /// become visible together, with the end of the replacement, or not at all.
    ///
    /// # Errors
    /// The database cannot be written; then nothing is removed. Neither is it where something was written ahead of its
    /// commit, which is undone.
    pub fn begin_replacing(&mut self, source: &SourceName) -> Result<Replacement, SqliteError> {
        self.try_begin(source).map_err(|error| {
            // There is none where the transaction could not begin.
            let _ = self.end("ROLLBACK");
            self.is_ahead = false;
            self.error(&error)
        })
    }

    fn try_begin(&self, source: &SourceName) -> rusqlite::Result<Replacement> {
        self.cascade(true)?;
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let sql = "SELECT session_id, task, pruned_to FROM sessions
                   WHERE source = (SELECT id FROM sources WHERE name = ?1) ORDER BY id";
        let sessions = list(&self.connection, sql, [source.as_str()], |row| {
            Ok(Kept { session_id: row.get(0)?, task: row.get(1)?, pruned_to: row.get(2)? })
        })?;
        let copies = copies::copies_of(&self.connection, source)?;
        run(&self.connection, "DELETE FROM sources WHERE name = ?1", [source.as_str()])?;
        Ok(Replacement { source: source.clone(), sessions, copies })
    }

    /// Makes the new rows visible in the place of the old ones. A session that there was before keeps its
    /// task, and what was pruned of it stays pruned.
    ///
    /// # Errors
    /// The database cannot be written; then the old rows stay.
    pub fn end_replacing(&mut self, replacement: Replacement) -> Result<(), SqliteError> {
        let Replacement { source, sessions, copies } = replacement;
        self.try_end(&source, &sessions, &copies).map_err(|error| {
            let _ = self.end("ROLLBACK");
            self.error(&error)
        })
    }

    fn try_end(
        &self,
        source: &SourceName,
        sessions: &[Kept],
        copies: &[Copy],
    ) -> rusqlite::Result<()> {
        copies::write(&self.connection, copies)?;
        for Kept { session_id, task, pruned_to } in sessions {
            let sql = "SELECT id FROM sessions WHERE session_id IS ?2
                       AND source = (SELECT id FROM sources WHERE name = ?1)";
            let key = params![source.as_str(), session_id];
            let session: Option<i64> = find(&self.connection, sql, key, |row| row.get(0))?;
            let Some(session) = session else { continue };
            let sql = "DELETE FROM entries WHERE session = ?1 AND offset < ?2";
            run(&self.connection, sql, params![session, pruned_to])?;
            // What was the beginning of a last line may be a line that is still to come.
            let sql = "UPDATE sessions SET task = ?2, pruned_to =
                           min(?3, (SELECT offset FROM sources WHERE sources.id = source))
                       WHERE id = ?1";
            run(&self.connection, sql, params![session, task, pruned_to])?;
            sum_sessions(&self.connection, "id = ?1", [session])?;
        }
        self.end("COMMIT")
    }

    fn end(&self, how: &str) -> rusqlite::Result<()> {
        self.connection.execute_batch(how)?;
        self.cascade(false)
    }

    /// The old rows stay, and what was committed since the beginning of the replacement is undone.
    ///
    /// # Errors
    /// The database failed; it is undone all the same, at the latest when it is opened the next time.
    pub fn undo_replacing(&mut self, replacement: Replacement) -> Result<(), SqliteError> {
        drop(replacement);
        self.end("ROLLBACK").map_err(|error| self.error(&error))
    }
}
