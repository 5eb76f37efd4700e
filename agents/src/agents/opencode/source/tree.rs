//! [`SessionTree`]: a session of an older release of opencode, which kept each message and each part in a file of its own;
//! [`Document`]: a session as `opencode export` prints it, in lines.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use foldline::{ledger::Identity, source::StoredLog};
use serde_json::{Map, Value};

use crate::siblings::joined_status;

/// A session in `storage`: its facts are in `session/PROJECT/NAME.json`, its messages in `message/SESSION/*.json` and
/// their parts in `part/MESSAGE/*.json`.
#[derive(Debug)]
pub(super) struct SessionTree {
    storage: PathBuf,
    /// Its id.
    session: String,
}

impl SessionTree {
    /// The session whose facts are in the file at this path; `None` for any other file.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let folders = path.parent()?.parent()?;
        let storage = folders.parent()?;
        if folders.file_name()? != "session" || !storage.join("message").is_dir() {
            return None;
        }
        let facts = object(&fs::read_to_string(path).ok()?);
        let is_session = facts.contains_key("directory") || facts.contains_key("projectID");
        let session = text(&facts, "id").filter(|_| is_session)?;
        Some(Self { storage: storage.to_owned(), session })
    }

    fn messages(&self) -> io::Result<Vec<PathBuf>> {
        list(&self.storage.join("message"), &self.session)
    }

    /// The parts of the message in this file. Their names have the order of their times.
    fn parts(&self, message: &Path) -> io::Result<Vec<PathBuf>> {
        let folder = self.storage.join("part");
        // opencode names a message by its id.
        let name = message.file_stem().and_then(|name| name.to_str());
        match name.filter(|name| folder.join(name).is_dir()) {
            Some(name) => list(&folder, name),
            None => {
                let id = text(&object(&fs::read_to_string(message)?), "id");
                list(&folder, &id.unwrap_or_default())
            }
        }
    }
}

impl StoredLog for SessionTree {
    /// The metadata of the file with its facts, together with that of the messages and the parts.
    fn status(&self, facts: Identity) -> io::Result<Identity> {
        let messages = self.messages()?;
        let parts = messages.iter().map(|path| self.parts(path));
        let parts = parts.collect::<io::Result<Vec<_>>>()?.into_iter().flatten();
        Ok(joined_status(facts, messages.iter().cloned().chain(parts)))
    }

    /// Writes the session in the order of its messages.
    fn write(&self, mut facts: &File, out: &mut dyn Write) -> io::Result<()> {
        let mut info = String::new();
        facts.read_to_string(&mut info)?;
        let mut document = Document::begin(&Value::Object(object(&info)), out)?;
        let mut messages = Vec::new();
        for path in self.messages()? {
            let info = object(&fs::read_to_string(&path)?);
            let time = info.get("time").and_then(|time| time.get("created"));
            messages.push((time.and_then(Value::as_i64), path));
        }
        messages.sort();
        for (_, path) in messages {
            let parts = self.parts(&path)?.into_iter();
            let parts = parts.map(|path| Ok(Value::Object(object(&fs::read_to_string(path)?))));
            let parts = parts.collect::<io::Result<_>>()?;
            document.message(message(object(&fs::read_to_string(&path)?), parts))?;
        }
        document.end()
    }
}

/// A text of an object.
fn text(object: &serde_json::Map<String, Value>, name: &str) -> Option<String> {
    Some(object.get(name)?.as_str()?.to_owned())
}

/// The files in a subfolder, sorted; none if it does not exist, or is no direct subfolder.
fn list(folder: &Path, name: &str) -> io::Result<Vec<PathBuf>> {
    let subfolder = folder.join(name);
    if name.is_empty() || subfolder.parent() != Some(folder) || name == ".." {
        return Ok(Vec::new());
    }
    let entries = match fs::read_dir(subfolder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let is_json = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    let mut files: Vec<_> = paths.into_iter().filter(is_json).collect();
    files.sort();
    Ok(files)
}

/// A session with more than this is several lines, each of which has its facts and a part of its messages, so that
/// memory stays bounded.
const LINE: usize = 4 << 20;

/// The lines of a session that is being written.
pub(super) struct Document<'o> {
    out: &'o mut dyn Write,
    /// The beginning of each line.
    head: String,
    /// The length of the messages in the current line.
    length: usize,
}

impl<'o> Document<'o> {
    /// Begins a session with these facts.
    pub(super) fn begin(info: &Value, out: &'o mut dyn Write) -> io::Result<Self> {
        let head = format!("{{\"info\":{info},\"messages\":[");
        out.write_all(head.as_bytes())?;
        Ok(Self { out, head, length: 0 })
    }

    /// Writes a message.
    pub(super) fn message(&mut self, message: Map<String, Value>) -> io::Result<()> {
        let text = Value::Object(message).to_string();
        if self.length > 0 && self.length + text.len() > LINE {
            write!(self.out, "]}}\n{}", self.head)?;
            self.length = 0;
        }
        let comma = if self.length > 0 { "," } else { "" };
        write!(self.out, "{comma}{text}")?;
        self.length += text.len();
        Ok(())
    }

    /// Ends the session.
    pub(super) fn end(self) -> io::Result<()> {
        self.out.write_all(b"]}\n")
    }
}

/// A message with its parts.
pub(super) fn message(info: Map<String, Value>, parts: Vec<Value>) -> Map<String, Value> {
    let fields = [("info", Value::Object(info)), ("parts", Value::Array(parts))];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A JSON object; any other text is the value of a field that no release writes, and which is reported.
pub(super) fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text)
        .unwrap_or_else(|_| Map::from_iter([("data".to_owned(), Value::from(text))]))
}
