//! A SQLite database of sessions, entries, tool calls and what they cost, with full-text search.
//!
//! [`Database`] is the reference [`Ledger`](crate::ledger::Ledger): a source's position and the state
//! of its reducer are committed in the transaction of its rows. It is in WAL mode: there is one
//! writer at a time, and readers ([`Database::open_read_only`]) neither wait for it nor hold it up.
//! The tables are described in [`schema`], and are meant to be read with SQL by anyone.

mod error;
mod fold;
mod ledger;
mod prepared;
mod prune;
mod read;
#[cfg(feature = "patch")]
mod resolver;
mod row;
pub mod schema;
mod sources;
mod task;
mod writer;

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags};

#[cfg(feature = "patch")]
pub use self::resolver::SessionResolver;
pub use self::{
    error::SqliteError,
    prepared::{RowEmitter, Rows},
    prune::Pruned,
    read::StoredEntry,
    sources::{Known, Totals},
};

/// How long a writer waits for another one, unless told otherwise.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(10);

/// An open database.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens a database for writing; makes it where there is none, and brings an old one up to date.
    ///
    /// # Errors
    /// It cannot be opened or written, or it belongs to another program or a newer version.
    pub fn open(path: &Path, wait: Duration) -> Result<Self, SqliteError> {
        let fail = |error| SqliteError::new(path, &error);
        let mut connection = Connection::open(path).map_err(fail)?;
        connection.busy_timeout(wait).map_err(fail)?;
        // Only for a database that is new. Most entries have more than the usual 4 KiB.
        connection.pragma_update(None, "page_size", 8 << 10).map_err(fail)?;
        schema::migrate(&mut connection).map_err(|unfit| SqliteError::unfit(path, unfit))?;
        write_ahead(&connection, wait).map_err(fail)?;
        connection
            .execute_batch(
                "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
                 PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;
                 PRAGMA wal_autocheckpoint = 4096;",
            )
            .map_err(fail)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self { connection, path: path.to_owned() })
    }

    /// Opens a database for reading only; there must be one.
    ///
    /// # Errors
    /// There is none, it cannot be read, or it belongs to another program or another version.
    pub fn open_read_only(path: &Path, wait: Duration) -> Result<Self, SqliteError> {
        if !path.exists() {
            return Err(SqliteError::Missing(path.to_owned()));
        }
        let fail = |error| SqliteError::new(path, &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
        connection.busy_timeout(wait).map_err(fail)?;
        connection.pragma_update(None, "query_only", true).map_err(fail)?;
        schema::check(&connection).map_err(|unfit| SqliteError::unfit(path, unfit))?;
        Ok(Self { connection, path: path.to_owned() })
    }

    /// Moves what was committed from the write-ahead log into the database file, as far as readers
    /// allow. A writer with a connection of its own goes on meanwhile.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn checkpoint(&self) -> Result<(), SqliteError> {
        let moved = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        moved.map_err(|error| self.error(&error))
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

/// Turns WAL mode on. SQLite does not wait by itself while somebody else does the same.
fn write_ahead(connection: &Connection, wait: Duration) -> rusqlite::Result<()> {
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
