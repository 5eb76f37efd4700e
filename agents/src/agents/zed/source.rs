//! [`ZedSource`]: the threads in Zed's database, read as lines.

use std::{
    io::{self, Read, Write},
    path::Path,
};

use foldline::source::{Opener, StoredLog};
use rusqlite::Connection;
use ruzstd::decoding::StreamingDecoder;
use serde_json::{Value, json};

use super::ZedFormat;
use crate::{
    dialect::messages::MessageFormat,
    siblings::facts,
    sqlite::{self, cell, existing, for_each, has},
};

/// The field of each line with the id of its thread.
const THREAD: &str = ZedFormat::KEY;

/// Opens Zed's database.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZedSource;

/// The columns of a thread, in addition to its document. Older releases lack some.
const COLUMNS: &str = "id summary updated_at created_at parent_id folder_paths";

/// The longest document that is read, in bytes.
const LONGEST: u64 = 256 << 20;

impl Opener for ZedSource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        let is_zed = |database: &Connection| {
            has(database, "threads", "data_type") && has(database, "threads", "data")
        };
        sqlite::open(path, head, is_zed, write)
    }
}

/// Writes the threads in the order of their latest changes.
fn write(connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
    let columns = existing(connection, "threads", COLUMNS);
    let sql = format!("SELECT {columns} FROM threads ORDER BY updated_at, id");
    for_each(connection, &sql, (), |row| {
        let row = Value::Object(row);
        let read = document(connection, &row["id"]);
        // It is an unknown record.
        let is_lost = read.is_none().then(|| json!({THREAD: row["id"], "document": "unreadable"}));
        let document = read.unwrap_or_default();
        let folder = row["folder_paths"].as_str().and_then(|folders| folders.lines().next());
        let facts = facts(&[
            ("title", &row["summary"]),
            ("title", &document["title"]),
            ("cwd", &json!(folder)),
            ("parent", &row["parent_id"]),
            ("model", &document["model"]["model"]),
            ("provider", &document["model"]["provider"]),
            ("usage", &usage(&document["cumulative_token_usage"])),
            ("createdAt", &row["created_at"]),
            ("endedAt", &row["updated_at"]),
        ]);
        writeln!(out, "{}", json!({THREAD: row["id"], "facts": facts}))?;
        let messages = document["messages"].as_array().into_iter().flatten();
        let lines = messages.flat_map(messages_of);
        let lines = lines.map(|message| json!({THREAD: row["id"], "message": message}));
        for line in lines.chain(is_lost) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    })
}

/// The tokens of all requests. Their input excludes cached input.
fn usage(stated: &Value) -> Value {
    let count = |name: &str| stated[name].as_u64();
    let (read, write) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    let input = count("input_tokens").map(|input| input.saturating_add(cached));
    json!({"input": input, "output": count("output_tokens"), "cacheRead": read, "cacheWrite": write})
}

/// The document of a thread.
fn document(connection: &Connection, id: &Value) -> Option<Value> {
    let stored: Vec<u8> =
        cell(connection, "SELECT CAST(data AS BLOB) FROM threads WHERE id = ?1", id.as_str()?)?;
    // A compressed document begins with another byte.
    if stored.starts_with(b"{") {
        return serde_json::from_slice(&stored).ok();
    }
    let mut text = Vec::new();
    let decoder = StreamingDecoder::new(&*stored).ok()?;
    decoder.take(LONGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The messages of a message: what a person mentions is a part of their text, and its content a context of its own.
fn messages_of(message: &Value) -> Vec<Value> {
    if message == "Resume" {
        return Vec::new();
    }
    let (authors, mut whole) = ([("User", "user"), ("Agent", "assistant")], message.clone());
    let author = authors.into_iter().find(|(name, _)| message.get(*name).is_some());
    let Some((role, inner)) = author.map(|(name, role)| (role, whole[name].take())) else {
        return vec![older(message)];
    };
    let (mut content, mut contexts) = (Vec::new(), Vec::new());
    let mut typed = String::new();
    for block in inner["content"].as_array().into_iter().flatten() {
        let mention = &block["Mention"];
        match &block["Text"] {
            Value::String(text) if role == "user" => typed.push_str(text),
            _ if mention.is_object() => {
                let uri = mention["uri"]
                    .as_str()
                    .map_or_else(|| mention["uri"].to_string(), str::to_owned);
                if typed.ends_with(|last: char| !last.is_whitespace()) {
                    typed.push(' ');
                }
                typed.push_str(&uri);
                let shown = mention["content"].as_str().filter(|content| !content.is_empty());
                contexts.extend(shown.map(
                    |shown| json!({"role": "system", "content": format!("[{uri}]\n{shown}")}),
                ));
            }
            _ => content.push(newer(block)),
        }
    }
    if !typed.is_empty() {
        content.insert(0, json!({"type": "text", "text": typed}));
    }
    let results = inner["tool_results"].as_object().into_iter().flatten();
    content.extend(results.map(|(id, result)| self::result(id, result)));
    let message = json!({"role": role, "id": inner["id"], "content": content});
    [message].into_iter().chain(contexts).collect()
}

/// A block in the form of the lines. One of an unknown type stays.
fn newer(block: &Value) -> Value {
    let (call, image) = (&block["ToolUse"], &block["Image"]["source"]);
    match block.as_object().and_then(|fields| fields.keys().next()).map(String::as_str) {
        Some("Text") => json!({"type": "text", "text": block["Text"]}),
        Some("Thinking") => json!({"type": "thinking", "text": block["Thinking"]["text"]}),
        Some("RedactedThinking") => json!({"type": "redacted-reasoning"}),
        Some("Image") => json!({"type": "image", "data": image}),
        Some("ToolUse") => {
            json!({"type": "tool-call", "toolCallId": call["id"], "toolName": call["name"], "args": call["input"]})
        }
        _ => block.clone(),
    }
}

/// A result, whose content is a text, `{"Text": ..}`, or a list of such objects.
fn result(id: &str, result: &Value) -> Value {
    let content = &result["content"];
    let parts = content.as_array().cloned().unwrap_or_else(|| vec![content.clone()]);
    let texts =
        parts.iter().map(|part| match [part, &part["Text"]].into_iter().find_map(Value::as_str) {
            Some(text) => text.to_owned(),
            None => part.to_string(),
        });
    let text = texts.collect::<Vec<_>>().join("\n");
    json!({"type": "tool-result", "toolCallId": id, "isError": result["is_error"], "result": text})
}

/// A message of a document before 0.3.0; one of an unknown type stays.
fn older(message: &Value) -> Value {
    let list = |name: &str| message[name].as_array().into_iter().flatten();
    let calls = list("tool_uses").map(|call| newer(&json!({"ToolUse": call})));
    let results =
        list("tool_results").map(|it| result(it["tool_use_id"].as_str().unwrap_or_default(), it));
    match message.get("role") {
        Some(role) => {
            let content: Vec<_> = list("segments").cloned().chain(calls).chain(results).collect();
            json!({"role": role, "content": content})
        }
        None => message.clone(),
    }
}
