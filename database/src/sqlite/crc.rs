//! `row_crc32`: the checksum of a row, which detects damage that leaves the database well formed.
//!
//! It is the CRC-32 of the concatenated values of the row. Each value is preceded by a letter for its type: `n`
//! for null, `i` for an integer and `r` for a real number (8 bytes, little-endian), `t` for a text and `b` for
//! a blob (their length as an integer, then their bytes).
//!
//! A table has a checksum unless its indices contain all of its columns: SQLite compares indices with their
//! table itself. The statement that writes a row also writes its checksum. A trigger would be slow, because
//! SQLite flushes the search index before a statement with triggers.

use rusqlite::{
    Connection, Params, Statement, ToSql,
    functions::FunctionFlags,
    params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

/// A table whose rows have a checksum.
pub(super) struct Summed {
    pub(super) table: String,
    /// The columns in the checksum, in this order.
    pub(super) columns: String,
    /// An expression for a human-readable name of a row.
    pub(super) row: String,
}

/// The tables of a schema with a column `crc32`, and the columns in the checksum: those before it, without the
/// number of the row, which is unknown before the insertion.
pub(super) fn summed(schema: &Connection) -> rusqlite::Result<Vec<Summed>> {
    let mut summed = Vec::new();
    for table in tables(schema)? {
        let columns = columns(schema, &table)?;
        let Some(crc) = columns.iter().position(|column| column.name == "crc32") else { continue };
        let keys: Vec<&Column> = columns.iter().filter(|column| column.is_key).collect();
        let is_number = |column: &Column| column.is_key && keys.len() == 1 && column.is_integer;
        let before = columns.iter().take(crc).filter(|column| !is_number(column));
        let before: Vec<&str> = before.map(|column| column.name.as_str()).collect();
        let keys =
            keys.iter().map(|Column { name, .. }| format!(" || ' {name} ' || quote({name})"));
        let row = format!("'the row of {table}'{}", keys.collect::<String>());
        summed.push(Summed { columns: before.join(", "), table, row });
    }
    Ok(summed)
}

/// The tables of a schema except the search index.
pub(super) fn tables(schema: &Connection) -> rusqlite::Result<Vec<String>> {
    schema
        .prepare(
            "SELECT name FROM pragma_table_list
             WHERE schema = 'main' AND type = 'table' AND name NOT GLOB 'sqlite_*'",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

struct Column {
    name: String,
    is_integer: bool,
    /// Whether it is in the primary key.
    is_key: bool,
}

fn columns(schema: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    schema
        .prepare("SELECT name, type = 'INTEGER', pk > 0 FROM pragma_table_info(?1) ORDER BY cid")?
        .query_map([table], |row| {
            Ok(Column { name: row.get(0)?, is_integer: row.get(1)?, is_key: row.get(2)? })
        })?
        .collect()
}

/// Recomputes the checksums of sessions after a change of their columns.
pub(super) fn sum_sessions(
    connection: &Connection,
    which: &str,
    parameters: impl Params,
) -> rusqlite::Result<()> {
    let sum = format!(
        "UPDATE sessions SET
             crc32 = row_crc32(source, session_id, task, agent, version, model, provider,
                               reasoning_effort, cwd, branch, title, tools, parent_session_id,
                               parent_relation, parent_call, outcome,
                               outcome_reason, turns, duration_ms, active_ms, started_at, ended_at, first_at,
                               last_at, entries, pruned_to)
         WHERE {which}"
    );
    connection.prepare_cached(&sum)?.execute(parameters)?;
    Ok(())
}

/// Adds the SQL function `row_crc32` to a connection.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("row_crc32", -1, flags, |values| {
        Ok(sum((0..values.len()).map(|index| values.get_raw(index))))
    })
}

/// Executes a statement that writes `row`. Its parameters are the row, its checksum, and its key,
/// `None` for a new one.
///
/// The checksum is the same as `row_crc32` of the other parameters, for which SQLite would copy a long text once more.
pub(super) fn execute_summed(
    statement: &mut Statement<'_>,
    row: &[&dyn ToSql],
    key: Option<i64>,
) -> rusqlite::Result<usize> {
    let values: Vec<_> = row.iter().map(ToSql::to_sql).collect::<Result<_, _>>()?;
    let crc = sum(values.iter().map(|value| match value {
        ToSqlOutput::Borrowed(value) => *value,
        ToSqlOutput::Owned(value) => value.into(),
        // The other types are pointers and lengths, which rows do not contain.
        _ => ValueRef::Null,
    }));
    statement.execute(params_from_iter(row.iter().chain([&(&crc as &dyn ToSql), &(&key as _)])))
}

fn sum<'v>(values: impl Iterator<Item = ValueRef<'v>>) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    for value in values {
        match value {
            ValueRef::Null => crc.update(b"n"),
            ValueRef::Integer(number) => add(&mut crc, b"i", &number.to_le_bytes()),
            ValueRef::Real(number) => add(&mut crc, b"r", &number.to_le_bytes()),
            ValueRef::Text(text) => {
                add(&mut crc, b"t", &(text.len() as u64).to_le_bytes());
                crc.update(text);
            }
            ValueRef::Blob(blob) => {
                add(&mut crc, b"b", &(blob.len() as u64).to_le_bytes());
                crc.update(blob);
            }
        }
    }
    crc.finalize()
}

fn add(crc: &mut crc32fast::Hasher, letter: &[u8; 1], bytes: &[u8; 8]) {
    crc.update(letter);
    crc.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::super::schema;
    use super::*;

    /// Columns that SQLite itself does not compare must be in a checksum.
    #[test]
    fn every_column_is_in_a_checksum_or_in_an_index() {
        let schema = schema::empty().unwrap();
        let summed = summed(&schema).unwrap();
        for table in tables(&schema).unwrap() {
            let in_checksum = summed.iter().find(|summed| summed.table == table);
            let in_checksum = in_checksum.map_or("", |summed| &summed.columns);
            let sql = "SELECT name FROM pragma_table_info(?1) WHERE name <> 'crc32'
                       EXCEPT SELECT columns.name FROM pragma_index_list(?1) AS indices
                       JOIN pragma_index_xinfo(indices.name) AS columns
                       WHERE NOT partial AND origin <> 'pk'
                       EXCEPT SELECT name FROM pragma_table_info(?1) AS number
                       WHERE number.pk = 1 AND number.type = 'INTEGER'
                       AND EXISTS (SELECT 1 FROM pragma_index_list(?1) AS indices
                                   JOIN pragma_index_xinfo(indices.name) AS columns
                                   WHERE NOT partial AND columns.cid = -1)";
            let mut others = schema.prepare(sql).unwrap();
            let others = others.query_map([&table], |row| row.get::<_, String>(0)).unwrap();
            for column in others.map(Result::unwrap) {
                assert!(in_checksum.split(", ").any(|name| name == column), "{table}.{column}");
            }
        }
    }
}
