//! [`ChatSource`]: a chat, which is a journal of one document or the document itself, read as lines.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, Write},
    path::{Path, PathBuf},
};

use foldline::{
    ledger::Identity,
    source::{Opener, StoredLog, status},
};
use serde::Deserialize;
use serde_json::Value;

use super::{CHAT, REQUEST};

/// Opens a chat, by its name or by that of its transcript.
///
/// The first line states the facts, each other line has a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChatSource;

/// The folders of chats.
const FOLDERS: [&str; 3] = ["chatSessions", "emptyWindowChatSessions", "transferredChatSessions"];

/// The facts of a chat; the other fields are the state of the editor's view.
const FACTS: [&str; 4] = ["version", "sessionId", "creationDate", "customTitle"];

impl Opener for ChatSource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        let folder = path.parent()?;
        let ending = path.extension()?.to_str().filter(|it| matches!(*it, "json" | "jsonl"))?;
        let is_transcript = folder.ends_with("GitHub.copilot-chat/transcripts");
        let is_chat = || {
            let is_document = head.trim_ascii_start().starts_with(b"{");
            is_document && FOLDERS.iter().any(|name| folder.ends_with(name))
                || ending == "json" && is_document && is_exported(path)
                || head.starts_with(b"{\"kind\":0,\"v\":{")
        };
        let chats = match is_transcript {
            true => folder.parent()?.parent()?.join("chatSessions"),
            false => is_chat().then(|| folder.to_owned())?,
        };
        // The journal is newer than the document.
        let name = chats.join(path.file_name()?);
        let chat = ["jsonl", "json"].map(|ending| name.with_extension(ending));
        Some(Box::new(ChatLog(chat.into_iter().find(|chat| chat.is_file())?)))
    }

    /// The transcript adds nothing to the chat.
    fn is_of_one_file(&self) -> bool {
        true
    }
}

/// Whether a document elsewhere is a chat: it names who answers.
fn is_exported(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64 << 10).read_to_end(&mut beginning));
    let field = b"\"responderUsername\"";
    read.is_ok() && beginning.windows(field.len()).any(|part| part == field)
}

/// The chat in this file.
#[derive(Debug)]
struct ChatLog(PathBuf);

impl StoredLog for ChatLog {
    fn status(&self, _: Identity) -> io::Result<Identity> {
        Ok(status(&File::open(&self.0)?.metadata()?))
    }

    fn write(&self, _: &File, out: &mut dyn Write) -> io::Result<()> {
        let mut file = File::open(&self.0)?;
        let is_journal = self.0.extension().is_some_and(|ending| ending == "jsonl");
        let (document, rest) = if is_journal {
            replay(&file)?
        } else {
            (crate::siblings::document(&self.0), Vec::new())
        };
        let Some(Value::Object(mut document)) = document else {
            file.rewind()?;
            return io::copy(&mut file, out).map(drop);
        };
        let mut requests = document.remove("requests").unwrap_or_default();
        document.retain(|name, _| FACTS.contains(&name.as_str()));
        writeln!(out, "{{\"{CHAT}\":{}}}", Value::Object(document))?;
        for request in requests.as_array_mut().into_iter().flatten() {
            join_results(request);
            writeln!(out, "{{\"{REQUEST}\":{request}}}")?;
        }
        out.write_all(&rest)
    }
}

/// Moves the result of each call, which is in an object of results by id, into the call.
fn join_results(request: &mut Value) -> Option<()> {
    let metadata = request.get_mut("result")?.get_mut("metadata")?.as_object_mut()?;
    let mut results = metadata.remove("toolCallResults")?;
    for round in metadata.get_mut("toolCallRounds")?.as_array_mut()? {
        for call in round.get_mut("toolCalls").and_then(Value::as_array_mut).into_iter().flatten() {
            let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
            let result = results.as_object_mut().and_then(|results| results.remove(id));
            if let (Some(result), Some(call)) = (result, call.as_object_mut()) {
                call.insert("result".to_owned(), result);
            }
        }
    }
    Some(())
}

/// A change of the document.
#[derive(Deserialize)]
struct Change {
    kind: u64,
    /// The path: names and indices.
    #[serde(default)]
    k: Vec<Value>,
    #[serde(default)]
    v: Value,
    /// The index from which elements are replaced.
    i: Option<usize>,
}

/// The document after all changes, and the text from the first change that cannot be read.
fn replay(file: &File) -> io::Result<(Option<Value>, Vec<u8>)> {
    let (mut lines, mut document) = (BufReader::new(file), None);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        let change = serde_json::from_slice::<Change>(&line).ok();
        if !line.trim_ascii().is_empty() && change.and_then(|it| apply(&mut document, it)).is_none()
        {
            lines.read_to_end(&mut line)?;
            return Ok((document, line));
        }
        line.clear();
    }
    Ok((document, line))
}

/// Changes the document; `None` if the change is of no known kind, or its place does not exist.
fn apply(document: &mut Option<Value>, change: Change) -> Option<()> {
    let Change { kind, k: mut path, v: value, i: from } = change;
    if kind == 0 {
        *document = Some(value);
        return Some(());
    }
    let mut place = document.as_mut()?;
    let last = path.pop()?;
    for step in &path {
        place = match step {
            Value::String(name) => place.get_mut(name)?,
            index => place.get_mut(usize::try_from(index.as_u64()?).ok()?)?,
        };
    }
    match (kind, place, last) {
        (1, Value::Object(fields), Value::String(name)) => drop(fields.insert(name, value)),
        (1, Value::Array(list), index) => {
            *list.get_mut(usize::try_from(index.as_u64()?).ok()?)? = value;
        }
        (2, place, last) => {
            let list = match (place, last) {
                (Value::Object(fields), Value::String(name)) => {
                    fields.entry(name).or_insert_with(|| Value::Array(Vec::new()))
                }
                (place, index) => place.get_mut(usize::try_from(index.as_u64()?).ok()?)?,
            };
            let list = list.as_array_mut()?;
            let more = if let Value::Array(more) = value { more } else { Vec::new() };
            let from = from.unwrap_or(list.len()).min(list.len());
            list.splice(from..list.len().min(from.saturating_add(more.len())), more);
        }
        (3, Value::Object(fields), Value::String(name)) => drop(fields.remove(&name)),
        (3, Value::Array(list), index) => {
            let index = usize::try_from(index.as_u64()?).ok()?;
            drop((index < list.len()).then(|| list.remove(index))?);
        }
        _ => return None,
    }
    Some(())
}
