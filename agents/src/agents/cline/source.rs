//! [`ClineSource`]: the files of a task, or of a session of the command line program, read as lines.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use foldline::{
    ledger::Identity,
    source::{Opener, StoredLog, status},
};
use serde_json::{Value, json};

use super::{MESSAGE, SHOWN, TASK};
use crate::siblings::{document, facts, joined_status};

/// Opens the files of a task, of which each is the whole task, and the files of a session of the command line program.
///
/// The first line states the facts, the others are the messages that the person saw ([`SHOWN`]) and the messages of the
/// model ([`MESSAGE`]), in the order of the requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClineSource;

/// What the person saw, what the model did, and facts: the files in the folder of a task.
const FILES: [&str; 4] = [
    "ui_messages.json",
    "api_conversation_history.json",
    "history_item.json",
    "task_metadata.json",
];

/// The ending of the messages of a session, next to its manifest.
const MESSAGES: &str = ".messages.json";

/// The folders of the extensions, with their names.
const EXTENSIONS: [(&str, &str); 3] = [
    ("saoudrizwan.claude-dev", "cline"),
    ("rooveterinaryinc.roo-cline", "roo-code"),
    ("kilocode.kilo-code", "kilo"),
];

impl Opener for ClineSource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        let name = path.file_name()?.to_str()?;
        if FILES.contains(&name) {
            let [shown, messages, ..] = FILES.map(|file| path.with_file_name(file));
            let log = [&shown, &messages].into_iter().find(|file| file.is_file())?.clone();
            return Some(Box::new(TaskLog { shown: Some(shown), messages, log }));
        }
        let messages = match name.strip_suffix(MESSAGES) {
            Some(_) => path.to_owned(),
            None => path.with_file_name(format!("{}{MESSAGES}", name.strip_suffix(".json")?)),
        };
        let is_session = head.trim_ascii_start().starts_with(b"{") && messages.is_file();
        let log = messages.clone();
        is_session.then(|| Box::new(TaskLog { shown: None, messages, log }) as _)
    }
}

/// A task, or a session.
#[derive(Debug)]
struct TaskLog {
    /// What the person saw of a task.
    shown: Option<PathBuf>,
    messages: PathBuf,
    /// The one of these whose identity is that of the whole.
    log: PathBuf,
}

impl StoredLog for TaskLog {
    /// The metadata of all files; they are names of one log.
    fn status(&self, _: Identity) -> io::Result<Identity> {
        Ok(joined_status(status(&fs::metadata(&self.log)?), self.files()))
    }

    fn write(&self, _: &File, out: &mut dyn Write) -> io::Result<()> {
        let lines = if self.shown.is_some() { self.task() } else { self.session() };
        let Some(lines) = lines else {
            return io::copy(&mut File::open(&self.log)?, out).map(drop);
        };
        for (name, value) in lines {
            writeln!(out, "{{\"{name}\":{value}}}")?;
        }
        Ok(())
    }
}

/// The lines: the only field of each, and its value.
type TaskLines = Vec<(&'static str, Value)>;

impl TaskLog {
    /// All files of which something is read, except the log itself.
    fn files(&self) -> Vec<PathBuf> {
        let files = match self.shown {
            Some(_) => FILES.map(|file| self.log.with_file_name(file)).to_vec(),
            None => vec![self.messages.clone(), self.manifest()],
        };
        files.into_iter().filter(|file| *file != self.log).collect()
    }

    /// The manifest of a session.
    fn manifest(&self) -> PathBuf {
        let name = self.messages.file_name().unwrap_or_default().to_string_lossy();
        let id = name.strip_suffix(MESSAGES).unwrap_or_default();
        self.messages.with_file_name(format!("{id}.json"))
    }

    /// The lines of a task.
    fn task(&self) -> Option<TaskLines> {
        let folder = self.log.parent()?;
        let beside = |name: &str| document(&folder.join(name)).unwrap_or_default();
        let (mut item, metadata) = (beside("history_item.json"), beside("task_metadata.json"));
        let name = folder.file_name().and_then(|name| name.to_str());
        let id = name.filter(|_| folder.parent().is_some_and(|tasks| tasks.ends_with("tasks")));
        if let (Value::Null, Some(id)) = (&item, id) {
            // Cline lists its tasks in one file.
            let list = document(&folder.join("../../state/taskHistory.json")).unwrap_or_default();
            let listed = list.as_array().into_iter().flatten().find(|listed| listed["id"] == *id);
            item = listed.cloned().unwrap_or_default();
        }
        let used = &metadata["model_usage"][0];
        let facts = facts(&[
            ("id", &json!(id)),
            ("agent", &json!(self.extension())),
            ("cwd", &item["workspace"]),
            ("cwd", &item["cwdOnTaskInitialization"]),
            ("parent", &item["parentTaskId"]),
            ("model", &used["model_id"]),
            ("provider", &used["model_provider_id"]),
            ("status", &item["status"]),
        ]);
        let shown = self.shown.as_ref().filter(|path| path.is_file());
        let shown = shown.map_or(Some(Vec::new()), |path| list(document(path)?))?;
        let messages =
            if self.messages.is_file() { list(document(&self.messages)?)? } else { Vec::new() };
        let mut lines = vec![(TASK, facts.into())];
        lines.extend(merge(latest(shown), messages));
        Some(lines)
    }

    /// The name of the extension, by the path.
    fn extension(&self) -> Option<&'static str> {
        let is_in = |folder: &str| self.log.iter().any(|part| part == folder);
        EXTENSIONS.iter().find(|(folder, _)| is_in(folder)).map(|(_, name)| *name)
    }

    /// The lines of a session.
    fn session(&self) -> Option<TaskLines> {
        let mut whole = document(&self.messages)?;
        let messages = list(whole.get_mut("messages")?.take())?;
        let manifest = document(&self.manifest()).unwrap_or_default();
        let metadata = &manifest["metadata"];
        // The messages state their tokens, and the manifest those of all of them.
        let is_stated = messages.iter().any(|message| message.get("metrics").is_some());
        let usage = if is_stated { &Value::Null } else { &metadata["usage"] };
        let facts = facts(&[
            ("id", whole.get("sessionId")?),
            ("cwd", &manifest["cwd"]),
            ("title", &metadata["title"]),
            ("model", &manifest["model"]),
            ("provider", &manifest["provider"]),
            ("status", &manifest["status"]),
            ("started_at", &manifest["started_at"]),
            ("ended_at", &manifest["ended_at"]),
            ("usage", usage),
        ]);
        let lines = messages.into_iter().map(|message| (MESSAGE, message));
        Some([(TASK, facts.into())].into_iter().chain(lines).collect())
    }
}

fn list(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        _ => None,
    }
}

/// What a message that the person saw is: its `say` or `ask`.
fn kind(shown: &Value) -> &str {
    ["say", "ask"].iter().find_map(|field| shown[field].as_str()).unwrap_or_default()
}

/// The messages without the earlier states of the same message, which have the same time.
fn latest(shown: Vec<Value>) -> Vec<Value> {
    let mut latest: Vec<Value> = Vec::new();
    for message in shown {
        let is_same = |before: &&mut Value| {
            !message["ts"].is_null()
                && before["ts"] == message["ts"]
                && kind(before) == kind(&message)
        };
        // Only the latest messages change.
        match latest.iter_mut().rev().take(64).find(is_same) {
            Some(before) => *before = message,
            None => latest.push(message),
        }
    }
    latest
}

/// The lines of both lists, by request: what was sent, the words of the answer, the answer as the model gave it, the
/// tokens, what was done.
///
/// The request of an answer is the latest one that began before it; without times, the requests and the answers have the
/// same order.
fn merge(shown: Vec<Value>, messages: Vec<Value>) -> TaskLines {
    let mut requests = vec![Vec::new()];
    for message in shown {
        if kind(&message) == "api_req_started" {
            requests.push(Vec::new());
        }
        requests.last_mut().into_iter().for_each(|request| request.push(message.clone()));
    }
    let last = requests.len() - 1;
    let began: Vec<_> =
        requests.iter().map(|request| request.first().and_then(|it| it["ts"].as_i64())).collect();
    let mut answers: Vec<(Vec<Value>, Vec<Value>)> = vec![Default::default(); requests.len()];
    let (mut sent, mut request) = (Vec::new(), 0);
    for message in messages {
        if message["role"] != "assistant" {
            sent.push(message);
            continue;
        }
        let by_time = |at: i64| began.iter().rposition(|began| began.is_some_and(|it| it <= at));
        let found = message["ts"].as_i64().map_or(Some(request + 1), by_time);
        request = found.unwrap_or(request).max(request).min(last);
        if let Some((before, answer)) = answers.get_mut(request) {
            before.append(&mut sent);
            answer.push(message);
        }
    }
    let mut lines = TaskLines::new();
    for (request, (sent, answer)) in requests.into_iter().zip(answers) {
        let is_word = |message: &Value| {
            matches!(kind(message), "api_req_started" | "reasoning" | "task" | "text")
        };
        let done = request.iter().position(|message| !is_word(message)).unwrap_or(request.len());
        let (words, done) = request.split_at(done);
        let (began, words): (Vec<_>, Vec<_>) =
            words.iter().partition(|message| kind(message) == "api_req_started");
        lines.extend(sent.into_iter().map(|message| (MESSAGE, message)));
        lines.extend(words.into_iter().map(|message| (SHOWN, message.clone())));
        lines.extend(answer.into_iter().map(|message| (MESSAGE, message)));
        lines.extend(began.into_iter().chain(done).map(|message| (SHOWN, message.clone())));
    }
    lines.extend(sent.into_iter().map(|message| (MESSAGE, message)));
    lines
}
