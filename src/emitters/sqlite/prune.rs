//! Forgetting what was said long ago.

use rusqlite::{Connection, TransactionBehavior, params};

use super::{Database, SqliteError, crc::sum_sessions, statements::unsigned};
use crate::conversation::Timestamp;

/// What pruning removed, or would remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Sessions whose entries went.
    pub sessions: u64,
    /// Entries.
    pub entries: u64,
    /// Tool calls among them.
    pub calls: u64,
    /// Bytes of text in them.
    pub bytes: u64,
}

/// Sessions that have entries, and in which nothing happened since `?1`. Where the log names no
/// moment, the file's own counts.
const OLD: &str = "SELECT sessions.id FROM sessions JOIN sources ON sources.id = sessions.source
     WHERE coalesce(last_at, ended_at, started_at, modified_at) < ?1
       AND EXISTS (SELECT 1 FROM entries WHERE entries.session = sessions.id)";

impl Database {
    /// Removes the entries, tool calls and search index of every session in which nothing happened
    /// since `before`. The session itself, its tokens and its warnings stay, and so does the position
    /// in its source: what was pruned does not come back with the next ingest.
    ///
    /// # Errors
    /// The database cannot be written; then nothing is removed.
    pub fn prune(&mut self, before: Timestamp, dry_run: bool) -> Result<Pruned, SqliteError> {
        self.cascading(|connection| prune(connection, before.as_millis(), dry_run))
            .map_err(|error| self.error(&error))
    }

    /// Gives the room of what was removed back to the file system. Rewrites the whole database.
    ///
    /// # Errors
    /// The database cannot be rewritten, for lack of room on the disk for instance.
    pub fn compact(&mut self) -> Result<(), SqliteError> {
        let sql = "INSERT INTO search (search) VALUES ('optimize'); VACUUM;
                   PRAGMA wal_checkpoint(TRUNCATE);";
        self.with(|connection| connection.execute_batch(sql))
    }
}

fn prune(connection: &mut Connection, before: i64, dry_run: bool) -> rusqlite::Result<Pruned> {
    let behavior = match dry_run {
        true => TransactionBehavior::Deferred,
        false => TransactionBehavior::Immediate,
    };
    let transaction = connection.transaction_with_behavior(behavior)?;
    let pruned = transaction.query_row(
        &format!(
            "WITH old AS MATERIALIZED ({OLD})
             SELECT (SELECT count(*) FROM old), count(*), count(tool_calls.entry),
                    coalesce(sum(octet_length(content) + coalesce(octet_length(output), 0)), 0)
             FROM old JOIN entries ON entries.session = old.id
             LEFT JOIN tool_calls ON tool_calls.entry = entries.id"
        ),
        [before],
        |row| {
            Ok(Pruned {
                sessions: unsigned(row, 0)?,
                entries: unsigned(row, 1)?,
                calls: unsigned(row, 2)?,
                bytes: unsigned(row, 3)?,
            })
        },
    )?;
    if !dry_run && pruned.sessions > 0 {
        transaction.execute(
            &format!(
                "UPDATE sessions SET pruned_to =
                     (SELECT offset FROM sources WHERE sources.id = sessions.source)
                 WHERE id IN ({OLD})"
            ),
            params![before],
        )?;
        sum_sessions(&transaction, &format!("id IN ({OLD})"), [before])?;
        // The search index follows by its triggers, tool calls by their foreign keys.
        transaction.execute(&format!("DELETE FROM entries WHERE session IN ({OLD})"), [before])?;
        transaction.commit()?;
    }
    Ok(pruned)
}
