//! Removes the entries of old sessions.

use super::{Database, SqliteError};
use crate::removal::{self, Prune, Pruned};

impl Database {
    /// Removes the entries, tool calls and search index of old sessions. The session itself, its tokens, its warnings and
    /// the position in its source are kept, so the next ingest does not restore pruned entries.
    ///
    /// # Errors
    /// The database cannot be written; then nothing is removed.
    pub fn prune(&mut self, which: Prune, dry_run: bool) -> Result<Pruned, SqliteError> {
        self.removing(dry_run, |mut transaction| removal::prune(&mut transaction, which, dry_run))
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
