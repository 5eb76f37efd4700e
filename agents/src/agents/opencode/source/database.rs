//! The sessions of opencode's database, as lines.

use std::{
    collections::{BTreeMap, HashSet},
    io::{self, Write},
};

use rusqlite::Connection;
use serde_json::{Map, Value};

use super::tree::{self, Document, object};
use crate::sqlite::{columns, has, value};

/// The tables of sessions, those of the newer generation first. A preview of it has one under the older name.
const SESSIONS: [&str; 2] = ["session_v2", "session"];

/// The texts of a session: the column, and the field of the document. Older databases lack some.
const TEXTS: [(&str, &str); 8] = [
    ("id", "id"),
    ("slug", "slug"),
    ("project_id", "projectID"),
    ("parent_id", "parentID"),
    ("fork_session_id", "forkSessionID"),
    ("directory", "directory"),
    ("title", "title"),
    ("version", "version"),
];

/// The tables that a database has. It may have those of both generations: opencode 2 copies the sessions of the older
/// tables one by one, under the same ids, and leaves them; an older program may continue to write to them.
pub(super) struct Tables {
    /// The tables of sessions.
    sessions: Vec<&'static str>,
    /// Whether messages and their parts have a table each.
    has_parts: bool,
    /// Whether there are messages of opencode 2.
    has_messages: bool,
}

impl Tables {
    /// The tables of a database; `None` if it has no sessions.
    pub(super) fn of(connection: &Connection) -> Option<Self> {
        let has = |table: &str, column: &str| has(connection, table, column);
        let sessions = SESSIONS.into_iter().filter(|table| has(table, "directory"));
        let tables = Self {
            sessions: sessions.collect(),
            has_parts: has("message", "data") && has("part", "data"),
            has_messages: has("session_message", "data"),
        };
        let has_sessions = !tables.sessions.is_empty();
        (has_sessions && (tables.has_parts || tables.has_messages)).then_some(tables)
    }
}

/// Writes the sessions in the order of their creation.
pub(super) fn write(connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
    let Some(tables) = Tables::of(connection) else { return Ok(()) };
    let mut sessions = BTreeMap::new();
    for table in &tables.sessions {
        for info in infos(connection, table).map_err(io::Error::other)? {
            let id = info.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            sessions.entry(id).or_insert(info);
        }
    }
    let mut sessions: Vec<_> = sessions.into_iter().collect();
    let created = |info: &Map<String, Value>| info.get("time")?.get("created")?.as_i64();
    sessions.sort_by_key(|(_, info)| created(info));
    for (id, info) in sessions {
        session(connection, &tables, &id, &Value::Object(info), out)?;
    }
    Ok(())
}

fn session(
    connection: &Connection,
    tables: &Tables,
    id: &str,
    info: &Value,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut document = Document::begin(info, out)?;
    let messages = match tables.has_messages {
        true => stored(connection, MESSAGES, id)?,
        false => Vec::new(),
    };
    let mut older = match tables.has_parts {
        true => stored(connection, OLDER_MESSAGES, id)?,
        false => Vec::new(),
    };
    // What was copied is read from the newer table. A summary became another kind of message.
    let ids: HashSet<_> = messages.iter().map(|message| message.id.clone()).collect();
    let moments: HashSet<_> = messages.iter().filter_map(|message| message.created).collect();
    let is_copied = |message: &Stored| {
        ids.contains(&message.id) || message.created.is_some_and(|at| moments.contains(&at))
    };
    older.retain(|message| !is_copied(message));
    let mut older = older.into_iter().peekable();
    for message in messages {
        while let Some(before) = older.next_if(|before| before.created < message.created) {
            document.message(with_parts(connection, id, before)?)?;
        }
        let Stored { id, kind, mut data, .. } = message;
        data.extend(references([("id", &id), ("type", &kind)]));
        document.message(data)?;
    }
    for message in older {
        document.message(with_parts(connection, id, message)?)?;
    }
    document.end()
}

/// A message of the older generation, as `opencode export` prints it.
fn with_parts(
    connection: &Connection,
    session: &str,
    message: Stored,
) -> io::Result<Map<String, Value>> {
    let Stored { id: message, data: mut info, .. } = message;
    let mut parts = Vec::new();
    for Stored { id, mut data, .. } in stored(connection, PARTS, &message)? {
        data.extend(references([("id", &id), ("sessionID", session), ("messageID", &message)]));
        parts.push(Value::Object(data));
    }
    info.extend(references([("id", &message), ("sessionID", session)]));
    Ok(tree::message(info, parts))
}

fn references<const N: usize>(ids: [(&str, &str); N]) -> [(String, Value); N] {
    ids.map(|(name, id)| (name.to_owned(), id.into()))
}

/// The facts of the sessions in a table.
fn infos(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Map<String, Value>>> {
    let known = columns(connection, table)?;
    let has = |name: &str| known.iter().any(|column| column == name);
    let column = |name| if has(name) { name } else { "NULL" };
    let mut selected: Vec<_> = TEXTS.iter().map(|(name, _)| column(name)).collect();
    selected.extend(["time_created", "time_updated", "revert"].map(column));
    let sql = format!("SELECT {} FROM {table}", selected.join(", "));
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
        Ok(info)
    })?;
    rows.collect()
}

/// A row with JSON.
struct Stored {
    id: String,
    /// The type of a message of opencode 2.
    kind: String,
    created: Option<i64>,
    data: Map<String, Value>,
}

/// The messages of opencode 2 in a session. A row is rewritten while its message grows, and keeps its number.
const MESSAGES: &str = "SELECT id, data, time_created, type FROM session_message WHERE session_id = ?1 ORDER BY seq, id";

/// The messages of the older generation in a session.
const OLDER_MESSAGES: &str = "SELECT id, data, time_created, '' FROM message WHERE session_id = ?1 ORDER BY time_created, id";

/// The parts of a message of the older generation.
const PARTS: &str =
    "SELECT id, data, time_created, '' FROM part WHERE message_id = ?1 ORDER BY time_created, id";

/// The rows of a query that belong to the row with this id.
fn stored(connection: &Connection, sql: &str, id: &str) -> io::Result<Vec<Stored>> {
    let read = || {
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map([id], |row| {
            let data = match value(row, 1)? {
                Some(Value::String(text)) => object(&text),
                _ => Map::new(),
            };
            let column = value(row, 2)?.and_then(|created| created.as_i64());
            let created = data.get("time").and_then(|time| time.get("created")?.as_i64());
            let created = created.or(column);
            Ok(Stored { id: row.get(0)?, kind: row.get(3)?, created, data })
        })?;
        rows.collect::<rusqlite::Result<_>>()
    };
    read().map_err(io::Error::other)
}
