//! [`GooseSource`]: the sessions of Goose's database, read as the lines of its older files.

use std::{
    io::{self, Write},
    mem,
    path::Path,
};

use foldline::source::{Opener, StoredLog};
use rusqlite::Connection;
use serde_json::Value;

use crate::sqlite::{self, Fields, for_each, has};

/// Opens Goose's database. The content is, for each session, a line with its facts and its ledger, and a line for each
/// message.
#[derive(Clone, Copy, Debug, Default)]
pub struct GooseSource;

impl Opener for GooseSource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        let is_goose = |database: &Connection| {
            has(database, "sessions", "working_dir") && has(database, "messages", "content_json")
        };
        sqlite::open(path, head, is_goose, write)
    }
}

/// Writes the sessions in the order of their creation.
fn write(connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
    let has_ledger = has(connection, "usage_ledger", "session_id");
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
            parse(&mut row);
            rename(&mut row, "id", "session_id");
            let ledger = mem::take(&mut ledger);
            row.extend((!ledger.is_empty()).then(|| ("usage_ledger".to_owned(), ledger.into())));
            writeln!(out, "{}", Value::Object(row))
        })?;
        let sql = "SELECT * FROM messages WHERE session_id = ?1 ORDER BY id";
        for_each(connection, sql, [&id], |mut row| {
            parse(&mut row);
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

fn rename(row: &mut Fields, column: &str, field: &str) {
    if let Some(value) = row.remove(column) {
        row.insert(field.to_owned(), value);
    }
}

/// Reads the columns with JSON, `content_json`, as the fields of the older files, `content`.
fn parse(row: &mut Fields) {
    for (name, stored) in std::mem::take(row) {
        let field = name.strip_suffix("_json");
        let json = field.and_then(|_| serde_json::from_str(stored.as_str()?).ok());
        let json: Value = json.unwrap_or(stored);
        row.insert(field.unwrap_or(&name).to_owned(), json);
    }
}
