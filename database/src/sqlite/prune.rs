//! Removes the entries of old sessions.

use foldline_domain::Timestamp;
use rusqlite::{Connection, TransactionBehavior, params};

use super::{Database, SqliteError, crc::sum_sessions};

/// Counts of the rows that pruning removed or would remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Sessions whose entries were removed.
    pub sessions: u64,
    /// Entries.
    pub entries: u64,
    /// Tool calls among them.
    pub calls: u64,
    /// Bytes of text in them.
    pub bytes: u64,
}

/// Sessions with entries but without activity since `?1`. If the log has no timestamps, the modification time
/// of the file is used.
const OLD: &str = "SELECT sessions.id FROM sessions JOIN sources ON sources.id = sessions.source
     WHERE coalesce(last_at, ended_at, started_at, modified_at) < ?1
       AND EXISTS (SELECT 1 FROM entries WHERE entries.session = sessions.id)";

impl Database {
    /// Removes the entries, tool calls and search index of every session without activity since `before`. The
    /// session itself, its tokens, its warnings and the position in its source are kept, so the next ingest
    /// does not restore pruned entries.
    ///
    /// # Errors
    /// The database cannot be written; then nothing is removed.
    pub fn prune(&mut self, before: Timestamp, dry_run: bool) -> Result<Pruned, SqliteError> {
        self.cascading(|connection| prune(connection, before.as_millis(), dry_run))
            .map_err(|error| self.error(&error))
    }

    /// Returns the freed space to the file system. Rewrites the whole database.
    ///
    /// # Errors
    /// The database cannot be rewritten, for example because the disk is full.
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
                sessions: row.get::<_, i64>(0)?.cast_unsigned(),
                entries: row.get::<_, i64>(1)?.cast_unsigned(),
                calls: row.get::<_, i64>(2)?.cast_unsigned(),
                bytes: row.get::<_, i64>(3)?.cast_unsigned(),
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
        // Triggers update the search index, and foreign keys remove the tool calls.
        transaction.execute(&format!("DELETE FROM entries WHERE session IN ({OLD})"), [before])?;
        transaction.commit()?;
    }
    Ok(pruned)
}
