//! A SQLite database of sessions, entries, tool calls and costs, with full-text search.
//!
//! [`Database`] is the reference [`Ledger`](foldline::ledger::Ledger): a source's position and the state
//! of its reducer are committed in the transaction of its rows. A commit is durable when it returns, and
//! survives a power loss. The database is in WAL mode: there is one writer at a time, and readers
//! ([`Database::open_read_only`]) neither wait for the writer nor block it. The tables are described in
//! [`schema`], and other programs may read them with SQL.
//!
//! Rows have checksums, so [`Database::check`] detects damage that leaves the database well formed. Writers use
//! [`Database::open_sound`], which refuses a database that is damaged, and [`Database::close`], which marks it as
//! sound for the next writer.

mod access;
mod check;
mod clean;
mod copies;
mod crc;
mod error;
mod forget;
mod kept;
mod ledger;
mod limits;
mod open;
mod outbox;
mod prune;
mod replace;
pub mod schema;
mod seen;
mod sources;
mod statements;
mod store;
mod task;
mod texts;
mod tokens;
mod writer;

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, MAIN_DB, TransactionBehavior, config::DbConfig};

use self::{access::too_many_files, seen::Seen};
pub use self::{
    check::Finding,
    copies::Copy,
    error::SqliteError,
    kept::{KeptLog, KeptTotals, Unkept},
    outbox::{KnownOutput, Output},
    replace::Replacement,
    sources::{Known, Settled},
};
use crate::Store;

/// The default time that a writer waits for another writer.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(10);

/// An open database.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
    /// The state of the file before it was opened.
    seen: Option<Seen>,
    /// Whether the database is open with locks, so that other programs cannot write unnoticed.
    is_locked: bool,
    ahead: Ahead,
}

/// The transaction of the next commit.
#[derive(Debug, PartialEq, Eq)]
enum Ahead {
    /// It has not begun.
    Closed,
    /// It has begun, without segments.
    Begun,
    /// It contains segments.
    Written,
}

impl Database {
    /// Opens a database for writing; creates a missing one, and migrates an old one. Only its owner may read a
    /// new database and its sidecar files.
    ///
    /// # Errors
    /// It cannot be opened or written, or it belongs to another program or a newer version.
    pub fn open(path: &Path, wait: Duration) -> Result<Self, SqliteError> {
        let fail = |error| SqliteError::new(path, &error);
        let seen = Seen::of(path).ok().flatten();
        let mut connection = open::read_write(path, wait)?;
        if connection.is_readonly(MAIN_DB).map_err(fail)? {
            return Err(SqliteError::ReadOnly(path.to_owned()));
        }
        // Only has an effect on a new database.
        connection.pragma_update(None, "page_size", schema::PAGE).map_err(fail)?;
        schema::migrate(&mut connection).map_err(|unfit| SqliteError::unfit(path, unfit))?;
        enter_wal_mode(&connection, wait).map_err(fail)?;
        // A commit is durable when it returns, since the output files are written after it. The cache keeps the
        // changed pages of a commit in memory, which otherwise would be written twice.
        connection
            .execute_batch(
                "PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;
                 PRAGMA wal_autocheckpoint = 4096;",
            )
            .map_err(fail)?;
        open::add_vocabulary(&connection).map_err(fail)?;
        connection.set_prepared_statement_cache_capacity(64);
        // A lookup is planned once, not once for each file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fail)?;
        let database =
            Self { connection, path: path.to_owned(), seen, is_locked: true, ahead: Ahead::Closed };
        database.cascade(false).map_err(fail)?;
        Ok(database)
    }

    /// Opens a database for writing, as [`open`](Self::open) does, unless it is damaged. A database that
    /// [`close`](Self::close) closed and that was not written to since is assumed to be sound; any other
    /// database is checked by [`check`](Self::check) and [`check_search`](Self::check_search).
    ///
    /// # Errors
    /// As `open`; or the database is damaged, then nothing is written.
    pub fn open_sound(path: &Path, wait: Duration) -> Result<Self, SqliteError> {
        match Self::open_as_it_is(path, wait) {
            Ok(mut database) => database.ensure_sound()?,
            // The database is new, or is not migrated yet.
            Err(SqliteError::Missing(_) | SqliteError::Older { .. }) => {}
            Err(error) => return Err(error),
        }
        Self::open(path, wait)
    }

    /// Opens an existing database for inspection. Its file is never written, not even on closing: the
    /// write-ahead log is kept.
    ///
    /// # Errors
    /// As [`open_read_only`](Self::open_read_only).
    pub fn open_as_it_is(path: &Path, wait: Duration) -> Result<Self, SqliteError> {
        if !path.exists() {
            return Err(SqliteError::Missing(path.to_owned()));
        }
        let seen = Seen::of(path).ok().flatten();
        let usual = open::read_write(path, wait).and_then(|connection| {
            connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
                .map_err(|error| SqliteError::new(path, &error))?;
            schema::check(&connection).map_err(|unfit| SqliteError::unfit(path, unfit))?;
            open::add_vocabulary(&connection).map_err(|error| SqliteError::new(path, &error))?;
            Ok(Self {
                connection,
                path: path.to_owned(),
                seen,
                is_locked: true,
                ahead: Ahead::Closed,
            })
        });
        match usual {
            // SQLite also writes files next to a database.
            Err(SqliteError::CannotOpen { .. } | SqliteError::ReadOnly(_)) => {
                Self::open_read_only(path, wait)
            }
            usual => usual,
        }
    }

    /// Opens an existing database for reading only.
    ///
    /// If its folder is not writable, for example on a read-only file system, it is read without locks; see
    /// [`confirm`](Self::confirm).
    ///
    /// # Errors
    /// It does not exist, cannot be read, or belongs to another program or another version.
    pub fn open_read_only(path: &Path, wait: Duration) -> Result<Self, SqliteError> {
        if !path.exists() {
            return Err(SqliteError::Missing(path.to_owned()));
        }
        let seen = Seen::of(path).ok().flatten();
        let database = |connection, seen, is_locked| {
            schema::check(&connection).map_err(|unfit| SqliteError::unfit(path, unfit))?;
            open::add_vocabulary(&connection).map_err(|error| SqliteError::new(path, &error))?;
            Ok(Self { connection, path: path.to_owned(), seen, is_locked, ahead: Ahead::Closed })
        };
        let usual = open::read_only(path, wait).and_then(|open| database(open, seen.clone(), true));
        match usual {
            Err(SqliteError::CannotOpen { .. } | SqliteError::ReadOnly(_))
                if too_many_files(path).is_none() =>
            {
                let Some(seen) = seen else { return Err(SqliteError::Unmerged(path.to_owned())) };
                database(open::immutable(path)?, Some(seen), false)
            }
            usual => usual,
        }
    }

    /// Moves commits from the write-ahead log into the database file, up to the point that readers still use. A
    /// writer with its own connection is not blocked.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn checkpoint(&self) -> Result<(), SqliteError> {
        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        self.with(|connection| connection.query_row(sql, [], |_| Ok(())))
    }

    /// Sets whether deleting a row also deletes the rows that refer to it, beginning with the next transaction.
    ///
    /// SQLite checks foreign keys only then. The checks would take 5 % of the time of an ingest, and a commit
    /// only refers to rows that it has found or added itself.
    fn cascade(&self, on: bool) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "foreign_keys", on)
    }

    /// Removes rows, and the rows that refer to them.
    fn cascading<T>(
        &mut self,
        remove: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.cascade(true)?;
        let removed = remove(&mut self.connection);
        self.cascade(false)?;
        removed
    }

    /// Runs a query or a statement, and converts its error.
    fn with<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, SqliteError> {
        ask(&self.connection).map_err(|error| self.error(&error))
    }

    /// Changes rows in a separate transaction.
    fn change<T>(
        &mut self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, SqliteError> {
        let Self { connection, path, .. } = self;
        let change = || {
            let immediate = TransactionBehavior::Immediate;
            let transaction = connection.transaction_with_behavior(immediate)?;
            let changed = change(&transaction)?;
            transaction.commit()?;
            Ok(changed)
        };
        change().map_err(|error| SqliteError::new(path, &error))
    }

    /// The path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The connection, for queries.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Converts an error of SQLite to an error of this database.
    pub fn error(&self, error: &rusqlite::Error) -> SqliteError {
        SqliteError::new(&self.path, error)
    }
}

/// A database is a store: the queries are methods of `dyn Store`.
impl Deref for Database {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        self
    }
}

/// Retries, since SQLite does not wait while another connection changes the journal mode.
fn enter_wal_mode(connection: &Connection, wait: Duration) -> rusqlite::Result<()> {
    let begun = Instant::now();
    loop {
        match connection.execute_batch("PRAGMA journal_mode = WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begun.elapsed() < wait =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            result => return result,
        }
    }
}
