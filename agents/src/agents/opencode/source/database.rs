//! The sessions of opencode's database, as lines.

use std::io::{self, Write};

use rusqlite::{Connection, Row, types::ValueRef};
use serde_json::{Map, Value};

use super::tree::{Document, object};

/// The tables, each with a column that it must have.
const TABLES: [(&str, &str); 3] = [("session", "directory"), ("message", "data"), ("part", "data")];

/// The texts of a session: the column, and the field of the document. Older databases lack some.
const TEXTS: [(&str, &str); 7] = [
    ("id", "id"),
    ("slug", "slug"),
    ("project_id", "projectID"),
    ("parent_id", "parentID"),
    ("directory", "directory"),
    ("title", "title"),
    ("version", "version"),
];

/// Whether the database has the tables of sessions.
pub(super) fn has_sessions(connection: &Connection) -> bool {
    TABLES.iter().all(|(table, column)| {
        columns(connection, table).is_ok_and(|columns| columns.iter().any(|it| it == column))
    })
}

/// Writes the sessions in the order of their creation.
pub(super) fn write(connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
    // All queries read the same state of the database.
    let _transaction = connection.unchecked_transaction().map_err(io::Error::other)?;
    let infos = infos(connection).map_err(io::Error::other)?;
    for (id, info) in infos {
        session(connection, &id, &Value::Object(info), out)?;
    }
    Ok(())
}

fn session(connection: &Connection, id: &str, info: &Value, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::begin(info, out)?;
    for (message, mut info) in stored(connection, "message", "session_id", id)? {
        let mut parts = Vec::new();
        for (part, mut data) in stored(connection, "part", "message_id", &message)? {
            data.extend(references([("id", &part), ("sessionID", id), ("messageID", &message)]));
            parts.push(Value::Object(data));
        }
        info.extend(references([("id", &message), ("sessionID", id)]));
        document.message(info, parts)?;
    }
    document.end()
}

fn references<const N: usize>(ids: [(&str, &str); N]) -> [(String, Value); N] {
    ids.map(|(name, id)| (name.to_owned(), id.into()))
}

/// The facts of all sessions, each with its id.
fn infos(connection: &Connection) -> rusqlite::Result<Vec<(String, Map<String, Value>)>> {
    let known = columns(connection, "session")?;
    let has = |name: &str| known.iter().any(|column| column == name);
    let column = |name| if has(name) { name } else { "NULL" };
    let mut selected: Vec<_> = TEXTS.iter().map(|(name, _)| column(name)).collect();
    selected.extend(["time_created", "time_updated", "revert"].map(column));
    let created = column("time_created");
    let sql = format!("SELECT {} FROM session ORDER BY {created}, id", selected.join(", "));
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        let mut info = Map::new();
        for (index, (_, field)) in TEXTS.iter().enumerate() {
            info.extend(value(row, index)?.map(|value| ((*field).to_owned(), value)));
        }
        let mut time = Map::new();
        for (index, field) in (TEXTS.len()..).zip(["created", "updated"]) {
            time.extend(value(row, index)?.map(|value| (field.to_owned(), value)));
        }
        info.insert("time".to_owned(), Value::Object(time));
        if let Some(Value::String(revert)) = value(row, TEXTS.len() + 2)? {
            info.insert("revert".to_owned(), Value::Object(object(&revert)));
        }
        let id = info.get("id").and_then(Value::as_str).unwrap_or_default();
        Ok((id.to_owned(), info))
    })?;
    rows.collect()
}

/// The rows of a table that belong to the row with this id, each with its id, in the order of their creation.
fn stored(
    connection: &Connection,
    table: &str,
    of: &str,
    id: &str,
) -> io::Result<Vec<(String, Map<String, Value>)>> {
    let read = || {
        let sql = format!("SELECT id, data FROM {table} WHERE {of} = ?1 ORDER BY time_created, id");
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map([id], |row| {
            let data = match value(row, 1)? {
                Some(Value::String(text)) => object(&text),
                _ => Map::new(),
            };
            Ok((row.get(0)?, data))
        })?;
        rows.collect::<rusqlite::Result<_>>()
    };
    read().map_err(io::Error::other)
}

fn value(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<Value>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.into()),
        ValueRef::Real(number) => Some(number.into()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned().into())
        }
    })
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let rows = statement.query_map([table], |row| row.get(0))?;
    rows.collect()
}
