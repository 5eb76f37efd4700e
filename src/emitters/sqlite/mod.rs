//! A SQLite database of sessions, entries, tool calls and what they cost, with full-text search.
//!
//! [`Database`] is the reference [`Ledger`](crate::ledger::Ledger): a source's position and the state
//! of its reducer are committed in the transaction of its rows. A commit is on the disk when it returns, and
//! survives a power loss. The database is in WAL mode: there is one writer at a time, and readers
//! ([`Database::open_read_only`]) neither wait for it nor hold it up.
//! The tables are described in [`schema`], and are meant to be read with SQL by anyone.
//!
//! Rows have checksums, so that damage is noticed which leaves the database well formed: [`Database::check`].
//! Writers use [`Database::open_sound`], which refuses a database that is damaged, and [`Database::close`], which
//! marks it as sound for the next one.

mod access;
mod check;
mod clean;
mod copies;
mod crc;
mod error;
mod fold;
mod ledger;
mod open;
mod outbox;
mod prepared;
mod prune;
pub mod query;
mod read;
mod replace;
mod row;
pub mod schema;
mod seen;
mod sources;
mod statements;
mod stored;
mod task;
mod tokens;
mod writer;

use std::{
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
    outbox::{KnownOutput, Output},
    prepared::{RowEmitter, Rows},
    prune::Pruned,
    read::StoredEntry,
    replace::Replacement,
    sources::{Known, Totals},
    stored::SessionEvents,
};

/// How long a writer waits for another one, unless told otherwise.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(10);

/// An open database.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
    /// The file before it was opened.
    seen: Option<Seen>,
    /// Nobody can write to it unnoticed while it is read.
    is_locked: bool,
    /// A transaction is open in which segments were written ahead of their commit.
    is_ahead: bool,
}

impl Database {
    /// Opens a database for writing; makes it where there is none, and brings an old one up to date. A new one
    /// may be read by its owner only, with the files that SQLite keeps beside it.
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
        // Only for a database that is new.
        connection.pragma_update(None, "page_size", schema::PAGE).map_err(fail)?;
        schema::migrate(&mut connection).map_err(|unfit| SqliteError::unfit(path, unfit))?;
        enter_wal_mode(&connection, wait).map_err(fail)?;
        // A commit is on the disk when it returns: what is written beside the database follows it. Pages that are
        // changed within a commit stay in memory as long as there is room: else they are written twice.
        connection
            .execute_batch(
                "PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;
                 PRAGMA wal_autocheckpoint = 4096;",
            )
            .map_err(fail)?;
        connection.set_prepared_statement_cache_capacity(64);
        // A look-up is planned once, not again for each file that is looked up.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fail)?;
        let database =
            Self { connection, path: path.to_owned(), seen, is_locked: true, is_ahead: false };
        database.cascade(false).map_err(fail)?;
        Ok(database)
    }

    /// Opens a database for writing, as [`open`](Self::open) does, unless it is damaged. One that was closed by
    /// [`close`](Self::close), and that nothing else has written to since, is taken to be sound; any other one is
    /// read through, as by [`check`](Self::check) and [`check_search`](Self::check_search).
    ///
    /// # Errors
    /// As `open`; or it is damaged, then nothing of it is written.
    pub fn open_sound(path: &Path, wait: Duration) -> Result<Self, SqliteError> {
        match Self::open_as_it_is(path, wait) {
            Ok(mut database) => database.ensure_sound()?,
            // One that is new, or that is still to be brought up to date.
            Err(SqliteError::Missing(_) | SqliteError::Older { .. }) => {}
            Err(error) => return Err(error),
        }
        Self::open(path, wait)
    }

    /// Opens a database to look at it; there must be one. Nothing of its file is written, also when it is closed:
    /// what is in the write-ahead log stays there.
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
            Ok(Self { connection, path: path.to_owned(), seen, is_locked: true, is_ahead: false })
        });
        match usual {
            // SQLite writes beside a database, too.
            Err(SqliteError::CannotOpen { .. } | SqliteError::ReadOnly(_)) => {
                Self::open_read_only(path, wait)
            }
            usual => usual,
        }
    }

    /// Opens a database for reading only; there must be one.
    ///
    /// Where nothing can be written, on a read-only file system for instance, it is read without locks; see
    /// [`confirm`](Self::confirm).
    ///
    /// # Errors
    /// There is none, it cannot be read, or it belongs to another program or another version.
    pub fn open_read_only(path: &Path, wait: Duration) -> Result<Self, SqliteError> {
        if !path.exists() {
            return Err(SqliteError::Missing(path.to_owned()));
        }
        let seen = Seen::of(path).ok().flatten();
        let database = |connection, seen, is_locked| {
            schema::check(&connection).map_err(|unfit| SqliteError::unfit(path, unfit))?;
            Ok(Self { connection, path: path.to_owned(), seen, is_locked, is_ahead: false })
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

    /// Moves what was committed from the write-ahead log into the database file, as far as readers
    /// allow. A writer with a connection of its own goes on meanwhile.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn checkpoint(&self) -> Result<(), SqliteError> {
        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        self.with(|connection| connection.query_row(sql, [], |_| Ok(())))
    }

    /// Whether what refers to a row is removed with it, from the next transaction on.
    ///
    /// Only then SQLite looks at foreign keys, which takes a twentieth of the time of an ingest: a commit refers to
    /// rows that it has found or added itself.
    fn cascade(&self, on: bool) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "foreign_keys", on)
    }

    /// Removes rows with what refers to them.
    fn cascading<T>(
        &mut self,
        remove: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.cascade(true)?;
        let removed = remove(&mut self.connection);
        self.cascade(false)?;
        removed
    }

    /// What is read or written with the connection, or the error of this database.
    fn with<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, SqliteError> {
        ask(&self.connection).map_err(|error| self.error(&error))
    }

    /// Changes rows in a transaction of their own.
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

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The connection, for queries.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// What SQLite says, as an error of this database.
    pub fn error(&self, error: &rusqlite::Error) -> SqliteError {
        SqliteError::new(&self.path, error)
    }
}

/// SQLite does not wait by itself while somebody else does the same.
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
