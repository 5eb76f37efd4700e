//! SQLite databases that belong to another program: for openers of agents that keep their sessions in one. They are
//! never written to.
//!
//! An opener takes a file with [`open`], and writes its rows as lines with [`for_each`]. Both take the types of
//! [`rusqlite`], of the version that is exported here: a crate that depends on it itself needs the same one.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use foldline::{
    files::immutable_database,
    ledger::Identity,
    source::{self, StoredLog},
};
pub use rusqlite;
use rusqlite::{
    Connection, OpenFlags, Params, Row, ToSql,
    config::DbConfig,
    hooks::{AuthContext, Authorization},
    types::{FromSql, ValueRef},
};
use serde_json::{Map, Value};

/// The magic bytes of SQLite's files.
pub const MAGIC: &[u8] = b"SQLite format 3\0";

/// How long a lock of the program is waited for.
const WAIT: Duration = Duration::from_secs(2);

/// Opens a database for reading. No file is created next to it, unless its program left a write-ahead log without its
/// index.
///
/// # Errors
/// It is not a database, or cannot be read.
pub fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // SQLite would create a write-ahead log that is missing, to lock the database.
    let mut connection = match is_in_one_file(path) {
        true => {
            let access = access | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(immutable_database(&full), access)?
        }
        false => Connection::open_with_flags(full, access)?,
    };
    connection.busy_timeout(WAIT)?;
    // Without it, the last connection would move the write-ahead log into the database.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.authorizer(Some(|access: AuthContext<'_>| match access {
        // A view is a query of the author of the file, and may never end.
        AuthContext { accessor: Some(_), .. } => Authorization::Deny,
        _ => Authorization::Allow,
    }))?;
    Ok(connection)
}

/// Opens a file that begins with `head` as a log, if it is a database that `is_one` accepts. `write` writes it as lines,
/// from one state of the database.
pub fn open(
    path: &Path,
    head: &[u8],
    is_one: impl FnOnce(&Connection) -> bool,
    write: WriteLines,
) -> Option<Box<dyn StoredLog>> {
    let connection = head.starts_with(MAGIC).then(|| connect(path).ok())??;
    is_one(&connection).then(|| Box::new(StoredDatabase::new(path, write)) as _)
}

/// Writes the content of a database in lines.
pub type WriteLines = fn(&Connection, &mut dyn Write) -> io::Result<()>;

/// A database, read as lines.
#[derive(Debug)]
pub struct StoredDatabase {
    path: PathBuf,
    write: WriteLines,
}

impl StoredDatabase {
    /// The database at a path, whose content `write` writes.
    pub fn new(path: &Path, write: WriteLines) -> Self {
        Self { path: path.to_owned(), write }
    }
}

impl StoredLog for StoredDatabase {
    fn status(&self, file: Identity) -> io::Result<Identity> {
        Ok(status(&self.path, file))
    }

    fn write(&self, _: &File, out: &mut dyn Write) -> io::Result<()> {
        let connection = connect(&self.path).map_err(io::Error::other)?;
        // All queries read the same state of the database.
        let _transaction = connection.unchecked_transaction().map_err(io::Error::other)?;
        (self.write)(&connection, out)
    }
}

/// The value in a column of a row; `None` for NULL.
///
/// # Errors
/// There is no such column.
pub fn value(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<Value>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.into()),
        ValueRef::Real(number) => Some(number.into()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned().into())
        }
    })
}

/// The fields of a row; a column with NULL has none.
pub type Fields = Map<String, Value>;

/// Visits the rows of a query as objects.
///
/// # Errors
/// The database cannot be read, or `visit` fails.
pub fn for_each(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    mut visit: impl FnMut(Fields) -> io::Result<()>,
) -> io::Result<()> {
    let mut statement = connection.prepare_cached(sql).map_err(io::Error::other)?;
    let names: Vec<_> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query(parameters).map_err(io::Error::other)?;
    while let Some(row) = rows.next().map_err(io::Error::other)? {
        let mut fields = Fields::new();
        for (index, name) in names.iter().enumerate() {
            let stored = value(row, index).map_err(io::Error::other)?;
            fields.extend(stored.map(|stored| (name.clone(), stored)));
        }
        visit(fields)?;
    }
    Ok(())
}

/// Whether a table has a column; it has none if there is no such table.
pub(crate) fn has(connection: &Connection, table: &str, column: &str) -> bool {
    columns(connection, table).is_ok_and(|columns| columns.iter().any(|it| it == column))
}

/// The first value of a query with one parameter.
pub(crate) fn cell<T: FromSql>(
    connection: &Connection,
    sql: &str,
    parameter: impl ToSql,
) -> Option<T> {
    let mut statement = connection.prepare_cached(sql).ok()?;
    statement.query_row([parameter], |row| row.get(0)).ok()
}

/// Those of the wanted columns, separated by spaces, that a table has. Releases of a program have different ones.
pub(crate) fn existing(connection: &Connection, table: &str, wanted: &str) -> String {
    let existing = wanted.split(' ').filter(|column| has(connection, table, column));
    existing.collect::<Vec<_>>().join(", ")
}

/// The names of the columns of a table; none if there is no such table.
///
/// # Errors
/// The database cannot be read.
pub fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let rows = statement.query_map([table], |row| row.get(0))?;
    rows.collect()
}

/// The status of the database at `path` together with its write-ahead log, which alone changes with most commits. `file`
/// is the status of the database file.
pub fn status(path: &Path, file: Identity) -> Identity {
    let Ok(log) = fs::metadata(write_ahead_log(path)) else { return file };
    // SQLite sets the owner of the log when it opens it, which changes its other time.
    let (log, written) = (source::status(&log), source::written(&log));
    Identity {
        size: file.size.saturating_add(log.size),
        modified: file.modified.max(log.modified),
        changed: file.changed.zip(written).map(|(file, log)| file.max(log)),
        ..file
    }
}

/// The path of the write-ahead log of a database.
fn write_ahead_log(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Whether a database has the mode of a write-ahead log, and none.
fn is_in_one_file(path: &Path) -> bool {
    let mut head = [0; 20];
    let is_read = File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok();
    let [.., write_version, _] = head;
    let has_log = fs::metadata(write_ahead_log(path)).is_ok_and(|log| log.len() > 0);
    is_read && write_version == 2 && !has_log
}
