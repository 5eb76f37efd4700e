//! Cached prepared statements, and the conversion of columns to domain types.

use rusqlite::{Connection, OptionalExtension, Params, Result, Row};

use crate::conversation::{Json, Position, Text, Timestamp};

/// Executes a statement; returns the number of changed rows.
pub(super) fn run(connection: &Connection, sql: &str, parameters: impl Params) -> Result<usize> {
    connection.prepare_cached(sql)?.execute(parameters)
}

/// The rows of an answer.
pub(super) fn list<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(parameters, read)?.collect()
}

/// The first row of an answer, if it has one.
pub(super) fn find<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    connection.prepare_cached(sql)?.query_row(parameters, read).optional()
}

/// SQLite's integers are signed; positions and sizes are far smaller than the largest one.
pub(super) fn unsigned(row: &Row<'_>, column: usize) -> Result<u64> {
    row.get(column).map(i64::cast_unsigned)
}

pub(super) fn count(row: &Row<'_>, column: usize) -> Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(i64::cast_unsigned))
}

pub(super) fn moment(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_millis))
}

pub(super) fn text(row: &Row<'_>, column: usize) -> Result<Option<Text>> {
    Ok(row.get::<_, Option<String>>(column)?.map(Text::from))
}

/// A line, and in the next column an offset.
pub(super) fn position(row: &Row<'_>, line: usize) -> Result<Position> {
    Ok(Position { line: unsigned(row, line)?, offset: unsigned(row, line + 1)? })
}

/// A state. An invalid JSON state becomes `null`, from which no reader can continue.
pub(super) fn state(row: &Row<'_>, column: usize) -> Result<Json> {
    Ok(serde_json::from_str(row.get_ref(column)?.as_str()?).unwrap_or_default())
}

/// The sum of integers. SQLite's own sum fails on overflow: one absurd number of a log would spoil the answer for all
/// sessions. Sums are exact up to 2^53, and end at the largest integer.
pub(super) fn sum(column: &str) -> String {
    format!("CAST(sum(CAST({column} AS REAL)) AS INTEGER)")
}
