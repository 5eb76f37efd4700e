//! The [`Ledger`] implementation of [`Database`].

use std::path::Path;

use foldline::ledger::{
    Checkpoint, Commit, CommitError, Ledger, Mark, Receipt, SourceFacts, SourceName,
};
use foldline_domain::{Json, Position, Timestamp};
use rusqlite::{Connection, TransactionBehavior, params};
use tracing::debug;

use super::{
    Ahead, Database, SqliteError,
    crc::{execute_summed, sum_sessions},
    outbox::write_marks,
    statements::{find, list, run},
    writer::SourceWriter,
};
use crate::{Rows, checkpoint};

impl Database {
    pub(super) fn stored(&self, source: &SourceName) -> Result<Option<Checkpoint>, SqliteError> {
        let sql = format!("SELECT {} FROM sources WHERE name = ?1", checkpoint::COLUMNS);
        self.with(|connection| find(connection, &sql, [source.as_str()], checkpoint::read))
    }

    /// Writes segments before the next commit, which makes them visible. Until then the database is locked for
    /// other writers, and an error rolls these segments back.
    ///
    /// Not supported within a replacement.
    ///
    /// # Errors
    /// As [`commit`](Ledger::commit).
    pub fn write_ahead(
        &mut self,
        commits: &[Commit<Rows>],
    ) -> Result<Receipt, CommitError<SqliteError>> {
        let receipt = self.transact(|transaction, path| write_all(transaction, path, commits))?;
        self.ahead = Ahead::Written;
        Ok(receipt)
    }

    /// Begins the transaction of the next commit, unless a mark has another state than expected; an expected state of
    /// `null` means that there is no such mark. Until the commit, the database is locked for other writers, so a
    /// program that passes the marks of its last commit detects every other program that moves them.
    ///
    /// Returns the first mark with another state, as it is stored; then no transaction is open.
    ///
    /// Not supported within a replacement.
    ///
    /// # Errors
    /// The database is locked, or cannot be read.
    pub fn begin_after(&mut self, expected: &[Mark]) -> Result<Option<Mark>, SqliteError> {
        let sql = "SELECT state FROM outputs WHERE name = ?1";
        let compared = self.transact(|transaction, path| {
            for Mark { name, state: expected } in expected {
                let found = find(transaction, sql, [name], |row| row.state(0));
                let found = found.map_err(|error| SqliteError::new(path, &error))?;
                let found = found.unwrap_or_default();
                if found != *expected {
                    return Ok(Some(Mark { name: name.clone(), state: found }));
                }
            }
            Ok(None)
        });
        let different = compared.map_err(|error| match error {
            CommitError::Failed(error) => error,
            // No source is compared.
            CommitError::Moved { .. } => SqliteError::Overtaken(self.path.clone()),
        })?;
        if different.is_some() {
            self.with(|connection| connection.execute_batch("ROLLBACK"))?;
        }
        self.ahead = if different.is_none() { Ahead::Begun } else { Ahead::Closed };
        Ok(different)
    }

    /// Commits segments and the rows that `beside` writes in one transaction. `beside` receives the number of
    /// commits before and after this one.
    pub(super) fn commit_and(
        &mut self,
        commits: &[Commit<Rows>],
        beside: impl FnOnce(&Connection, u64, u64) -> Result<(), SqliteError>,
    ) -> Result<Receipt, CommitError<SqliteError>> {
        let adds = self.ahead == Ahead::Written || !commits.is_empty();
        let write = |transaction: &Connection, path: &Path| -> Result<_, CommitError<_>> {
            let receipt = write_all(transaction, path, commits)?;
            let counted = count_commit(transaction, adds);
            let (before, now) = counted.map_err(|error| SqliteError::new(path, &error))?;
            beside(transaction, before, now)?;
            Ok(receipt)
        };
        let receipt = if self.connection.is_autocommit() || self.ahead != Ahead::Closed {
            self.transact(|transaction, path| {
                let receipt = write(transaction, path)?;
                let committed = transaction.execute_batch("COMMIT");
                committed.map_err(|error| SqliteError::new(path, &error))?;
                Ok(receipt)
            })?
        } else {
            // A replacement is one transaction.
            let Self { connection, path, .. } = self;
            let fail = |error| SqliteError::new(path, &error);
            let part = connection.savepoint().map_err(fail)?;
            let receipt = write(&part, path)?;
            part.commit().map_err(fail)?;
            receipt
        };
        self.ahead = Ahead::Closed;
        debug!(?receipt, "committed");
        Ok(receipt)
    }

    /// Writes in the open transaction of earlier segments, or in a new one. An error rolls it back.
    fn transact<T>(
        &mut self,
        write: impl FnOnce(&Connection, &Path) -> Result<T, CommitError<SqliteError>>,
    ) -> Result<T, CommitError<SqliteError>> {
        let Self { connection, path, ahead, .. } = self;
        if *ahead == Ahead::Closed {
            let begun = connection.execute_batch("BEGIN IMMEDIATE");
            begun.map_err(|error| SqliteError::new(path, &error))?;
        }
        write(connection, path).inspect_err(|_| {
            *ahead = Ahead::Closed;
            // SQLite may already have rolled the transaction back.
            let _ = connection.execute_batch("ROLLBACK");
        })
    }
}

impl Ledger for Database {
    type Output = Rows;
    type Receipt = Receipt;
    type Error = SqliteError;

    fn load(&mut self, source: &SourceName) -> Result<Option<Checkpoint>, SqliteError> {
        self.stored(source)
    }

    fn commit(
        &mut self,
        commits: &[Commit<Rows>],
        beside: &[Mark],
    ) -> Result<Receipt, CommitError<SqliteError>> {
        let path = self.path.clone();
        self.commit_and(commits, |transaction, _, now| {
            write_marks(transaction, beside, now).map_err(|error| SqliteError::new(&path, &error))
        })
    }

    fn mark(&mut self, name: &str) -> Result<Option<Json>, SqliteError> {
        let sql = "SELECT state FROM outputs WHERE name = ?1";
        self.with(|connection| find(connection, sql, [name], |row| row.state(0)))
    }

    fn forget(&mut self, source: &SourceName) -> Result<bool, SqliteError> {
        let removed = self.cascading(|connection| {
            // If a transaction were already open, dependent rows would not be removed.
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let sql = "DELETE FROM sources WHERE name = ?1";
            let removed = transaction.execute(sql, [source.as_str()])?;
            transaction.commit()?;
            Ok(removed)
        });
        Ok(removed.map_err(|error| self.error(&error))? > 0)
    }
}

fn write_all(
    transaction: &Connection,
    path: &Path,
    commits: &[Commit<Rows>],
) -> Result<Receipt, CommitError<SqliteError>> {
    let fail = |error| SqliteError::new(path, &error);
    let mut receipt = Receipt::default();
    for commit in commits {
        let (id, stored) = stored_position(transaction, &commit.source).map_err(fail)?.unzip();
        if stored != commit.expected {
            let (source_name, expected) = (commit.source.clone(), commit.expected);
            return Err(CommitError::Moved { source_name, expected, stored });
        }
        receipt.add(write(transaction, id, commit).map_err(fail)?);
    }
    Ok(receipt)
}

/// Counts a commit if it adds data of a source. Returns the number of commits before and after it.
fn count_commit(transaction: &Connection, adds: bool) -> rusqlite::Result<(u64, u64)> {
    let now: i64 = transaction
        .prepare_cached(
            "UPDATE ledger SET commits = commits + ?1,
                               crc32 = row_crc32(id, commits + ?1, closed_at)
             RETURNING commits",
        )?
        .query_row([adds], |row| row.get(0))?;
    let now = now.cast_unsigned();
    Ok((now - u64::from(adds), now))
}

/// Writes a commit; `id` is its source's row, if it has one.
fn write(
    transaction: &Connection,
    id: Option<i64>,
    commit: &Commit<Rows>,
) -> rusqlite::Result<Receipt> {
    let Commit { source, checkpoint, output, expected: _ } = commit;
    let Checkpoint { facts, position, state, complete } = checkpoint;
    let SourceFacts { path, format, task, host, user, identity } = facts;
    if let Some(id) = id {
        leave_file(transaction, id, commit)?;
    }
    // Two statements: for an upsert, SQLite would first flush the whole search index to be able to undo it.
    let sql = match id {
        None => {
            "INSERT INTO sources (name, path, format, device, inode, size, modified_at, changed_ns,
                                  read_length, read_edges, read_sha256, first_line, line, offset,
                                  state, complete, host, user_name, crc32, id, max_offset)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?14)"
        }
        Some(_) => {
            "UPDATE sources SET
                 name = ?1, path = ?2, format = ?3, device = ?4, inode = ?5, size = ?6,
                 modified_at = ?7, changed_ns = ?8, read_length = ?9, read_edges = ?10,
                 read_sha256 = ?11, first_line = ?12, line = ?13, offset = ?14, state = ?15,
                 complete = ?16, host = ?17, user_name = ?18, crc32 = ?19, max_offset = max(max_offset, ?14)
             WHERE id = ?20"
        }
    };
    execute_summed(
        &mut *transaction.prepare_cached(sql)?,
        params![
            source.as_str(),
            path,
            format,
            identity.device.map(u64::cast_signed),
            identity.inode.map(u64::cast_signed),
            identity.size.cast_signed(),
            identity.modified.map(Timestamp::as_millis),
            identity.changed,
            identity.read.length.cast_signed(),
            identity.read.edges.as_bytes(),
            identity.content.map(|digest| *digest.as_bytes()),
            identity.first_line.map(|digest| *digest.as_bytes()),
            position.line.cast_signed(),
            position.offset.cast_signed(),
            state.get(),
            complete,
            host,
            user,
        ],
        id,
    )?;
    let id = id.unwrap_or_else(|| transaction.last_insert_rowid());
    // The segment continues in another file, and its first entries are further on in the file before.
    if let Some(reached) = output.max_offset().filter(|reached| *reached > position.offset) {
        let sql = "UPDATE sources SET max_offset = max(max_offset, ?2) WHERE id = ?1";
        run(transaction, sql, params![id, reached.cast_signed()])?;
    }
    let mut receipt =
        SourceWriter::new(transaction, id, source, task.as_deref())?.write(&output.parts)?;
    receipt.warnings += output.warnings;
    Ok(receipt)
}

/// Forgets up to which byte the sessions of a source were pruned, unless the commit certainly continues the same file:
/// in the next file of a rotated log, positions restart, and its entries were not pruned.
fn leave_file(transaction: &Connection, id: i64, commit: &Commit<Rows>) -> rusqlite::Result<()> {
    let Checkpoint { facts, position, .. } = &commit.checkpoint;
    let first_line = facts.identity.first_line.map(|digest| *digest.as_bytes());
    let sql = "SELECT id FROM sources WHERE id = ?1 AND first_line = ?2 AND offset <= ?3";
    let key = params![id, first_line, position.offset.cast_signed()];
    let same: Option<i64> = find(transaction, sql, key, |row| row.get(0))?;
    if same.is_some() {
        return Ok(());
    }
    // No offset is less than 0. The session is marked as pruned nevertheless.
    let pruned = "source = ?1 AND pruned_to > 0";
    let sql = format!("UPDATE sessions SET pruned_to = 0 WHERE {pruned} RETURNING id");
    let sessions: Vec<i64> = list(transaction, &sql, [id], |row| row.get(0))?;
    sessions.iter().try_for_each(|session| sum_sessions(transaction, "id = ?1", [session]))
}

/// The row of a source, and its read position.
fn stored_position(
    transaction: &Connection,
    source: &SourceName,
) -> rusqlite::Result<Option<(i64, Position)>> {
    let sql = "SELECT id, line, offset FROM sources WHERE name = ?1";
    find(transaction, sql, [source.as_str()], |row| Ok((row.get(0)?, row.position(1)?)))
}
