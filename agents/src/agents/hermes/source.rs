//! [`HermesSource`]: the sessions in Hermes's database, and in its older files, read as lines.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use foldline::source::{Opener, StoredLog};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::HermesFormat;
use crate::{
    dialect::messages::MessageFormat,
    siblings::{facts, folder_name, objects, parsed},
    sqlite::{self, Fields, cell, existing, for_each, has},
};

/// The field of each line with the id of its session.
const SESSION: &str = HermesFormat::KEY;

/// Opens Hermes's database, and the files of sessions next to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct HermesSource;

/// The columns of sessions of which something is read. The others are settings, and the state of the program.
const COLUMNS: &str = "id model billing_provider parent_session_id started_at ended_at end_reason input_tokens \
    output_tokens cache_read_tokens cache_write_tokens reasoning_tokens estimated_cost_usd actual_cost_usd title cwd \
    git_branch";

/// The columns of messages of which something is read. Others repeat a thought for the model's provider.
const MESSAGE: &str = "role content tool_call_id tool_calls timestamp reasoning reasoning_content";

/// The database, in the folder above that of older files.
const DATABASE: &str = "state.db";

/// What introduces the folder in a message.
const FOLDER: &str = "Current working directory: ";

impl Opener for HermesSource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        let is_hermes = |database: &Connection| {
            has(database, "sessions", "started_at") && has(database, "messages", "tool_calls")
        };
        sqlite::open(path, head, is_hermes, write).or_else(|| OlderFile::open(path, head))
    }
}

/// A file of a session, of a release without a database: its messages, with the columns that the database has of them.
#[derive(Debug)]
struct OlderFile(PathBuf);

impl OlderFile {
    /// Only the folder shows that messages of this common form are of Hermes: of its home, or of a profile.
    fn open(path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        let folder = path.parent().filter(|folder| folder.ends_with("sessions"))?.parent()?;
        let is_home = folder.ends_with(".hermes") || folder.join(DATABASE).is_file();
        let is_profile = folder_name(folder.parent()).is_some_and(|name| name == "profiles");
        let is_file = path.extension().is_some_and(|extension| extension == "jsonl");
        if !(is_home || is_profile) || !is_file || !head.starts_with(b"{") {
            return None;
        }
        let (messages, _) = objects(path).ok()?;
        let first = messages.first()?.as_object()?;
        let is_it = first.contains_key("role") && first.contains_key("content");
        let is_other = first.contains_key("type") || first.contains_key("message");
        (is_it && !is_other).then(|| Box::new(Self(path.to_owned())) as _)
    }

    /// Whether the database has the session too, which then is read from there.
    fn is_stored(&self, id: &str) -> bool {
        let database = self.0.ancestors().nth(2).map(|folder| folder.join(DATABASE));
        let connection = database.and_then(|database| sqlite::connect(&database).ok());
        let sql = "SELECT id FROM messages WHERE session_id = ?1 LIMIT 1";
        connection.is_some_and(|connection| cell::<i64>(&connection, sql, id).is_some())
    }
}

impl StoredLog for OlderFile {
    fn write(&self, _: &File, out: &mut dyn Write) -> io::Result<()> {
        let id = self.0.file_stem().unwrap_or_default().to_string_lossy();
        let (rows, _) = objects(&self.0)?;
        writeln!(out, "{}", json!({SESSION: id, "facts": stated(&json!({}), &rows)}))?;
        let is_stored = self.is_stored(&id);
        for message in rows.iter().filter(|_| !is_stored) {
            writeln!(out, "{}", json!({SESSION: id, "message": newer(message)}))?;
        }
        Ok(())
    }
}

/// Writes the sessions in the order of their beginnings.
fn write(connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
    let columns = existing(connection, "sessions", COLUMNS);
    let sql = format!(
        "SELECT {columns}, (SELECT max(timestamp) FROM messages WHERE session_id = sessions.id) AS last_at
         FROM sessions ORDER BY started_at, id"
    );
    let columns = existing(connection, "messages", MESSAGE);
    let messages =
        format!("SELECT {columns} FROM messages WHERE session_id = ?1 ORDER BY timestamp, id");
    for_each(connection, &sql, (), |session| {
        let (session, mut rows) = (Value::Object(session), Vec::new());
        let id = session["id"].as_str().unwrap_or_default();
        for_each(connection, &messages, [id], |message| {
            rows.push(Value::Object(message));
            Ok(())
        })?;
        writeln!(out, "{}", json!({SESSION: id, "facts": stated(&session, &rows)}))?;
        for message in &rows {
            writeln!(out, "{}", json!({SESSION: id, "message": newer(message)}))?;
        }
        Ok(())
    })
}

/// The facts of a session, of which older releases state the folder in a message.
fn stated(session: &Value, messages: &[Value]) -> Fields {
    let mut texts = messages.iter().filter_map(|message| message["content"].as_str());
    let folder = texts.find_map(|text| text.split_once(FOLDER)?.1.lines().next());
    let costs = ["actual_cost_usd", "estimated_cost_usd"].map(|name| session[name].as_f64());
    let usage = json!({
        "input": session["input_tokens"],
        "output": session["output_tokens"],
        "cacheRead": session["cache_read_tokens"],
        "cacheWrite": session["cache_write_tokens"],
        "reasoning": session["reasoning_tokens"],
        "cost": costs.into_iter().flatten().next(),
    });
    facts(&[
        ("title", &session["title"]),
        ("model", &session["model"]),
        ("provider", &session["billing_provider"]),
        ("continues", &session["parent_session_id"]),
        ("reason", &session["end_reason"]),
        ("cwd", &session["cwd"]),
        ("cwd", &json!(folder.map(str::trim))),
        ("branch", &session["git_branch"]),
        ("createdAt", &session["started_at"]),
        ("endedAt", &session["ended_at"]),
        ("usedAt", &session["ended_at"]),
        ("usedAt", &session["last_at"]),
        ("usage", &usage),
    ])
}

/// A message with its thought, its words, its calls or its result.
fn newer(row: &Value) -> Value {
    let thoughts = ["reasoning", "reasoning_content"].map(|name| row[name].as_str());
    let thought = thoughts.into_iter().flatten().find(|thought| !thought.is_empty());
    let mut content: Vec<_> =
        thought.map(|text| json!({"type": "reasoning", "text": text})).into_iter().collect();
    match &row["content"] {
        text if row["role"] == "tool" => {
            let id = &row["tool_call_id"];
            content.push(json!({"type": "tool-result", "toolCallId": id, "result": parsed(text)}));
        }
        Value::String(text) if !text.is_empty() => {
            content.push(json!({"type": "text", "text": text}));
        }
        Value::Array(blocks) => content.extend(blocks.iter().cloned()),
        _ => {}
    }
    for call in parsed(&row["tool_calls"]).as_array().into_iter().flatten() {
        let (id, function) = (&call["id"], &call["function"]);
        let given = parsed(&function["arguments"]);
        content.push(json!({"type": "tool-call", "toolCallId": id, "toolName": function["name"], "args": given}));
    }
    json!({"role": row["role"], "createdAt": row["timestamp"], "content": content})
}
