//! Connections to database files, which are private to their owner and are not trusted.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use foldline::files::{immutable_database, owner_only};
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{SqliteError, crc, texts, tokens::estimate};

/// Adds a table of the words of the search index, for as long as the connection.
pub(super) fn add_vocabulary(connection: &Connection) -> rusqlite::Result<()> {
    let is_reader: bool = connection.pragma_query_value(None, READER, |row| row.get(0))?;
    connection.pragma_update(None, READER, false)?;
    connection.execute_batch(
        "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'search', 'row')",
    )?;
    connection.pragma_update(None, READER, is_reader)
}

/// Whether a connection changes nothing, not even its temporary tables.
const READER: &str = "query_only";

/// A connection for reading and writing. If there is no database, an empty one is created that only its owner
/// can read; SQLite gives its sidecar files the same permissions.
pub(super) fn read_write(path: &Path, wait: Duration) -> Result<Connection, SqliteError> {
    if !path.exists() {
        let mut options = owner_only();
        let created = options.write(true).create(true).truncate(false).open(path);
        created.map_err(|error| not_created(path, &error))?;
    }
    connect(path, &full(path)?, OpenFlags::SQLITE_OPEN_READ_WRITE, wait)
}

/// A read-only connection.
pub(super) fn read_only(path: &Path, wait: Duration) -> Result<Connection, SqliteError> {
    if path.is_dir() {
        return Err(failed(path, "it is a directory".to_owned()));
    }
    let connection = connect(path, &full(path)?, OpenFlags::SQLITE_OPEN_READ_ONLY, wait)?;
    connection.pragma_update(None, READER, true).map_err(|error| SqliteError::new(path, &error))?;
    Ok(connection)
}

/// A read-only connection without locks; SQLite creates files next to a database to lock it. The database file
/// must contain all changes.
pub(super) fn immutable(path: &Path) -> Result<Connection, SqliteError> {
    let uri = immutable_database(&full(path)?);
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    connect(path, &uri, access, Duration::ZERO)
}

/// Opens a file that may come from an untrusted source: its schema cannot call functions or reach tables that
/// have an effect outside of the database.
fn connect(
    path: &Path,
    name: &Path,
    access: OpenFlags,
    wait: Duration,
) -> Result<Connection, SqliteError> {
    let connect = || {
        let connection =
            Connection::open_with_flags(name, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(wait)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        crc::register(&connection)?;
        estimate(&connection, None)?;
        texts::register(&connection)?;
        Ok(connection)
    };
    connect().map_err(|error| SqliteError::new(path, &error))
}

/// SQLite could interpret a relative path as `:memory:` or as a URI.
fn full(path: &Path) -> Result<PathBuf, SqliteError> {
    std::path::absolute(path).map_err(|error| failed(path, error.to_string()))
}

fn not_created(path: &Path, error: &io::Error) -> SqliteError {
    match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem => SqliteError::ReadOnly(path.to_owned()),
        io::ErrorKind::StorageFull => SqliteError::Full(path.to_owned()),
        _ => failed(path, error.to_string()),
    }
}

fn failed(path: &Path, reason: String) -> SqliteError {
    SqliteError::CannotOpen { path: path.to_owned(), reason }
}
