//! Replaces the stored rows of a source when the source is read again.

use foldline::ledger::SourceName;
use rusqlite::{Connection, params};

use super::{
    Ahead, Database, SqliteError,
    copies::{self, Copy},
    crc::sum_sessions,
    forget,
    statements::{find, list, run},
};

/// A started replacement, with the data of the old rows that is kept.
#[derive(Debug)]
#[must_use = "a replacement is rolled back unless it is committed"]
pub struct Replacement {
    source: SourceName,
    sessions: Vec<Kept>,
    copies: Vec<Copy>,
}

/// User decisions about a session, which are not in its log.
#[derive(Debug)]
struct Kept {
    session_id: Option<String>,
    task: Option<String>,
    pruned_to: Option<i64>,
}

impl Database {
    /// Begins to replace all rows of a source: they are removed, and all later commits become visible together
    /// at the end of the replacement, or not at all.
    ///
    /// # Errors
    /// The database cannot be written, or segments were written before their commit, which are rolled back.
    /// Nothing is removed then.
    pub fn begin_replacing(&mut self, source: &SourceName) -> Result<Replacement, SqliteError> {
        self.try_begin(source).map_err(|error| {
            // There is no transaction if it could not begin.
            let _ = self.end("ROLLBACK");
            self.ahead = Ahead::Closed;
            self.error(&error)
        })
    }

    fn try_begin(&self, source: &SourceName) -> rusqlite::Result<Replacement> {
        self.cascade(true)?;
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        reserve(&self.connection, source)?;
        let sql = "SELECT session_id, task, pruned_to FROM sessions
                   WHERE source = (SELECT id FROM sources WHERE name = ?1) ORDER BY id";
        let sessions = list(&self.connection, sql, [source.as_str()], |row| {
            Ok(Kept { session_id: row.get(0)?, task: row.get(1)?, pruned_to: row.get(2)? })
        })?;
        let copies = copies::copies_of(&self.connection, source)?;
        forget::renumber(&self.connection, source)?;
        run(&self.connection, "DELETE FROM sources WHERE name = ?1", [source.as_str()])?;
        Ok(Replacement { source: source.clone(), sessions, copies })
    }

    /// Makes the new rows visible instead of the old ones. A session that existed before keeps its task, and
    /// its pruned entries stay pruned.
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
            // The former last line may have been incomplete, so its position can belong to a later line.
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
        self.connection.execute_batch("DROP TABLE IF EXISTS temp.replaced")?;
        self.cascade(false)
    }

    /// Keeps the old rows, and rolls back all commits since the beginning of the replacement.
    ///
    /// # Errors
    /// The database failed; the rollback happens nevertheless, at the latest when the database is next opened.
    pub fn undo_replacing(&mut self, replacement: Replacement) -> Result<(), SqliteError> {
        drop(replacement);
        self.end("ROLLBACK").map_err(|error| self.error(&error))
    }
}

/// Keeps the numbers of the sessions that are replaced, by which they are known to people.
fn reserve(connection: &Connection, source: &SourceName) -> rusqlite::Result<()> {
    let sql = "CREATE TEMP TABLE IF NOT EXISTS replaced (id INTEGER PRIMARY KEY, number INTEGER, session_id TEXT);
               DELETE FROM temp.replaced";
    connection.execute_batch(sql)?;
    let sql = "INSERT INTO temp.replaced SELECT id, number, session_id FROM sessions
               WHERE source = (SELECT id FROM sources WHERE name = ?1)";
    run(connection, sql, [source.as_str()]).map(drop)
}

/// The number for a new session: that of the replaced session with the same id, or without one at the same place; `None`
/// for the next one.
pub(super) fn reserved(
    connection: &Connection,
    number: i64,
    session_id: Option<&str>,
) -> rusqlite::Result<Option<i64>> {
    let is_replacing = "SELECT 1 FROM temp.sqlite_schema WHERE name = 'replaced'";
    if find(connection, is_replacing, [], |_| Ok(()))?.is_none() {
        return Ok(None);
    }
    let sql = "SELECT coalesce(
                   (SELECT id FROM temp.replaced WHERE session_id IS ?2 AND (?2 IS NOT NULL OR number = ?1)
                    AND id NOT IN (SELECT id FROM sessions) ORDER BY number = ?1 DESC, id LIMIT 1),
                   1 + max((SELECT coalesce(max(id), 0) FROM sessions), (SELECT coalesce(max(id), 0) FROM temp.replaced)))";
    find(connection, sql, params![number, session_id], |row| row.get(0))
}
