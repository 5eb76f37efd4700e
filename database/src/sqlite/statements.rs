//! Cached prepared statements, and the rows of their answers.

use rusqlite::{
    Connection, OptionalExtension, Params, Result,
    types::{Type, ValueRef},
};

use crate::{Cell, Row, StoreError};

/// Executes a statement; returns the number of changed rows.
pub(super) fn run(connection: &Connection, sql: &str, parameters: impl Params) -> Result<usize> {
    connection.prepare_cached(sql)?.execute(parameters)
}

/// The rows of an answer.
pub(super) fn list<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    mut read: impl FnMut(&dyn Row) -> Result<T, StoreError>,
) -> Result<Vec<T>> {
    let read = |row: &rusqlite::Row<'_>| read(row).map_err(unexpected);
    connection.prepare_cached(sql)?.query_map(parameters, read)?.collect()
}

/// The first row of an answer, if it has one.
pub(super) fn find<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl FnOnce(&dyn Row) -> Result<T, StoreError>,
) -> Result<Option<T>> {
    let read = |row: &rusqlite::Row<'_>| read(row).map_err(unexpected);
    connection.prepare_cached(sql)?.query_row(parameters, read).optional()
}

fn unexpected(error: StoreError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Null, error.into())
}

impl Row for rusqlite::Row<'_> {
    fn cell(&self, column: usize) -> Result<Cell<'_>, StoreError> {
        Ok(match self.get_ref(column).map_err(StoreError::engine)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(number) => Cell::Integer(number),
            ValueRef::Real(number) => Cell::Real(number),
            ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text)),
            ValueRef::Blob(bytes) => Cell::Blob(bytes),
        })
    }

    fn names(&self) -> Vec<&str> {
        self.as_ref().column_names().collect()
    }
}
