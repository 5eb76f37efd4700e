//! [`GooseSource`]: the sessions of Goose's database, read as the lines of its older files.

use std::{
    io::{self, Write},
    mem,
    path::Path,
};

use foldline::source::{Opener, StoredLog};
use rusqlite::{Connection, Params};
use serde_json::{Map, Value};

use crate::sqlite::{self, StoredDatabase, columns, value};

/// Opens Goose's database. The content is, for each session, a line with its facts and its ledger, and a line for each
/// message.
#[derive(Clone, Copy, Debug, Default)]
pub struct GooseSource;

impl Opener for GooseSource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        let connection = head.starts_with(sqlite::MAGIC).then(|| sqlite::connect(path).ok())??;
        let has = |table: &str, column: &str| {
            columns(&connection, table).is_ok_and(|columns| columns.iter().any(|it| it == column))
        };
        let is_goose = has("sessions", "working_dir") && has("messages", "content_json");
        is_goose.then(|| Box::new(StoredDatabase::new(path, write)) as _)
    }
}

/// Writes the sessions in the order of their creation.
fn write(connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
    let has_ledger = !columns(connection, "usage_ledger").map_err(io::Error::other)?.is_empty();
    let mut sessions = Vec::new();
    for_each(connection, "SELECT id FROM sessions ORDER BY created_at, id", (), |row| {
        sessions.extend(row.get("id").and_then(Value::as_str).map(str::to_owned));
        Ok(())
    })?;
    for id in sessions {
        let mut ledger = Vec::new();
        if has_ledger {
            let sql = "SELECT * FROM usage_ledger WHERE session_id = ?1 ORDER BY id";
            for_each(connection, sql, [&id], |row| {
                ledger.push(Value::Object(row));
                Ok(())
            })?;
        }
        for_each(connection, "SELECT * FROM sessions WHERE id = ?1", [&id], |mut row| {
            rename(&mut row, "id", "session_id");
            let ledger = mem::take(&mut ledger);
            row.extend((!ledger.is_empty()).then(|| ("usage_ledger".to_owned(), ledger.into())));
            writeln!(out, "{}", Value::Object(row))
        })?;
        let sql = "SELECT * FROM messages WHERE session_id = ?1 ORDER BY id";
        for_each(connection, sql, [&id], |mut row| {
            row.remove("id");
            rename(&mut row, "message_id", "id");
            rename(&mut row, "created_timestamp", "created");
            // The same time, and a count that no release states.
            row.retain(|column, _| column != "timestamp" && column != "tokens");
            writeln!(out, "{}", Value::Object(row))
        })?;
    }
    Ok(())
}

fn rename(row: &mut Map<String, Value>, column: &str, field: &str) {
    if let Some(value) = row.remove(column) {
        row.insert(field.to_owned(), value);
    }
}

/// Visits the rows of a query as objects. A column with JSON, `content_json`, is the field `content`.
fn for_each(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    mut visit: impl FnMut(Map<String, Value>) -> io::Result<()>,
) -> io::Result<()> {
    let mut statement = connection.prepare_cached(sql).map_err(io::Error::other)?;
    let names: Vec<_> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query(parameters).map_err(io::Error::other)?;
    while let Some(row) = rows.next().map_err(io::Error::other)? {
        let mut object = Map::new();
        for (index, name) in names.iter().enumerate() {
            let Some(stored) = value(row, index).map_err(io::Error::other)? else { continue };
            let field = name.strip_suffix("_json");
            let json = field.and_then(|_| serde_json::from_str(stored.as_str()?).ok());
            object.insert(field.unwrap_or(name).to_owned(), json.unwrap_or(stored));
        }
        visit(object)?;
    }
    Ok(())
}
