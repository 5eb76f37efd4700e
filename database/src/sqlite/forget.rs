//! Removes sessions for good.
//!
//! Each removed session leaves a mark in the table `forgotten`: its number within its source, and the agent's id of it.
//! No row of that session is written again when its log grows, nor of another log with the id, unless a session of that
//! id was kept. A source without further sessions is forgotten as a whole, with everything that is added to its log
//! later: its row only keeps the path and the digests by which the log, its copies and its growth are recognised. A
//! source with sessions that were not chosen, such as the database of an agent, is read on. Of neither, a copy of the raw
//! log is kept.

use foldline::ledger::SourceName;
use rusqlite::{Connection, TransactionBehavior, params};

use super::{
    Database, SqliteError,
    statements::{list, run},
};
use crate::query::with_companions;

/// Counts of what was forgotten, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Sessions, without the further logs that belong to them.
    pub sessions: u64,
    /// Entries.
    pub entries: u64,
    /// Tool calls among them.
    pub calls: u64,
    /// Bytes of text in them.
    pub bytes: u64,
    /// The paths of the logs that they were read from.
    pub logs: Vec<String>,
    /// The files of copies of these logs, which are to be removed.
    pub kept: Vec<String>,
}

/// The rows of the chosen sessions, whose ids are a JSON array.
const CHOSEN: &str = "(SELECT value FROM json_each(?1))";

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
        let forgotten = self.cascading(|connection| forget(connection, sessions, dry_run));
        let forgotten = forgotten.map_err(|error| self.error(&error))?;
        if !dry_run && forgotten.sessions > 0 {
            // The words of deleted entries stay in the index until its pieces are merged.
            let merge =
                "INSERT INTO search (search) VALUES ('optimize'); PRAGMA secure_delete = OFF;";
            self.with(|connection| connection.execute_batch(merge))?;
        }
        Ok(forgotten)
    }

    /// The sessions without activity since a moment, in milliseconds since 1970. If a log has no timestamps, the
    /// modification time of the file is used.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn inactive_since(&self, before: i64) -> Result<Vec<i64>, SqliteError> {
        let sql = "SELECT sessions.id FROM sessions JOIN sources ON sources.id = sessions.source
                   WHERE coalesce(last_at, ended_at, started_at, modified_at) < ?1";
        self.with(|connection| list(connection, sql, [before], |row| row.get(0)))
    }
}

fn forget(
    connection: &mut Connection,
    sessions: &[i64],
    dry_run: bool,
) -> rusqlite::Result<Forgotten> {
    let behavior = match dry_run {
        true => TransactionBehavior::Deferred,
        false => TransactionBehavior::Immediate,
    };
    if !dry_run {
        connection.execute_batch("PRAGMA secure_delete = ON")?;
    }
    let transaction = connection.transaction_with_behavior(behavior)?;
    let sql = format!("SELECT id FROM sessions WHERE id IN {CHOSEN}");
    let chosen: Vec<i64> = list(&transaction, &sql, [array(sessions)], |row| row.get(0))?;
    let sql = with_companions(CHOSEN);
    let all: Vec<i64> = list(&transaction, &sql, [array(&chosen)], |row| row.get(0))?;
    let all = array(&all);
    let mut forgotten = count(&transaction, &all)?;
    forgotten.sessions = chosen.len() as u64;
    let sql = format!(
        "SELECT DISTINCT path FROM sources WHERE id IN (SELECT source FROM sessions WHERE id IN {CHOSEN})
         ORDER BY path"
    );
    forgotten.logs = list(&transaction, &sql, [&all], |row| row.get(0))?;
    let sources =
        "source IN (SELECT name FROM sources JOIN sessions ON sessions.source = sources.id
                              WHERE sessions.id IN (SELECT value FROM json_each(?1)))";
    let sql = format!("SELECT file FROM kept GROUP BY file HAVING min({sources}) ORDER BY file");
    forgotten.kept = list(&transaction, &sql, [&all], |row| row.get(0))?;
    if !dry_run && !chosen.is_empty() {
        run(&transaction, &format!("DELETE FROM kept WHERE {sources}"), [&all])?;
        remove_chosen(&transaction, &all)?;
        transaction.commit()?;
    }
    Ok(forgotten)
}

fn array(ids: &[i64]) -> String {
    let ids: Vec<_> = ids.iter().map(i64::to_string).collect();
    format!("[{}]", ids.join(","))
}

fn count(transaction: &Connection, chosen: &str) -> rusqlite::Result<Forgotten> {
    let sql = format!(
        "SELECT count(*), count(tool_calls.entry),
                coalesce(sum(octet_length(content) + coalesce(octet_length(output), 0)), 0)
         FROM entries LEFT JOIN tool_calls ON tool_calls.entry = entries.id
         WHERE entries.session IN {CHOSEN}"
    );
    let number =
        |row: &rusqlite::Row<'_>, column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    transaction.query_row(&sql, [chosen], |row| {
        let (entries, calls, bytes) = (number(row, 0)?, number(row, 1)?, number(row, 2)?);
        Ok(Forgotten { entries, calls, bytes, ..Forgotten::default() })
    })
}

fn remove_chosen(transaction: &Connection, chosen: &str) -> rusqlite::Result<()> {
    let mark = format!(
        "INSERT INTO forgotten (source, number, agent, session_id, anywhere, crc32)
         SELECT name, number, agent, session_id, anywhere,
                row_crc32(name, number, agent, session_id, anywhere)
         FROM (SELECT name, number, agent, session_id, session_id IS NOT NULL AND NOT EXISTS (
                   SELECT 1 FROM sessions AS kept WHERE kept.session_id = chosen.session_id
                   AND kept.agent IS chosen.agent AND kept.id NOT IN {CHOSEN}) AS anywhere
               FROM sessions AS chosen JOIN sources ON sources.id = chosen.source
               WHERE chosen.id IN {CHOSEN})"
    );
    run(transaction, &mark, [chosen])?;
    let sql = format!("SELECT DISTINCT source FROM sessions WHERE id IN {CHOSEN}");
    let sources: Vec<i64> = list(transaction, &sql, [chosen], |row| row.get(0))?;
    // Triggers update the search index, and foreign keys remove everything that belongs to a session.
    run(transaction, &format!("DELETE FROM sessions WHERE id IN {CHOSEN}"), [chosen])?;
    // A run that has read from the position before finds that it is overtaken: no line has the number 0.
    let empty = format!(
        "UPDATE sources SET forgotten = 1, state = '{{}}', line = 0, offset = 0,
             crc32 = row_crc32(name, path, format, device, inode, size, modified_at, changed_ns, read_length,
                               read_edges, read_sha256, first_line, 0, 0, '{{}}', complete, host, user_name)
         WHERE id IN {CHOSEN} AND NOT EXISTS (SELECT 1 FROM sessions WHERE source = sources.id)"
    );
    run(transaction, &empty, [array(&sources)])?;
    let unused =
        "DELETE FROM folders WHERE folder NOT IN (SELECT cwd FROM sessions WHERE cwd IS NOT NULL)";
    run(transaction, unused, []).map(drop)
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
pub(super) fn remove(transaction: &Connection, session: i64) -> rusqlite::Result<()> {
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
