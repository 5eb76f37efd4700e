//! [`CursorSource`]: the chats in Cursor's databases, read as lines.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use foldline::{
    ledger::Identity,
    source::{Opener, StoredLog, status},
};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::chat::ChatFormat;
use crate::{
    dialect::messages::MessageFormat,
    files::decode_percent,
    siblings::{document, facts, folder_name, joined_status, parsed},
    sqlite::{self, StoredDatabase, cell, for_each, has},
};

/// The field of each line with the id of its chat.
const CHAT: &str = ChatFormat::KEY;

/// Opens the store of a chat, also by the name of its transcript, and the database of the editor.
///
/// Each chat is a line with its facts, and a line for each message, in the order of the conversation: earlier states of a
/// chat that its store also has are left out. The messages of the editor have the form of those of a store.
#[derive(Clone, Copy, Debug, Default)]
pub struct CursorSource;

impl Opener for CursorSource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        if head.starts_with(sqlite::MAGIC) {
            let connection = sqlite::connect(path).ok()?;
            if has(&connection, "blobs", "data") && has(&connection, "meta", "value") {
                return Some(Box::new(ChatStore(path.to_owned())));
            }
            let is_editor = has(&connection, "cursorDiskKV", "value");
            return is_editor.then(|| Box::new(StoredDatabase::new(path, write_editor)) as _);
        }
        let store = store_of(path).filter(|store| {
            let connection = sqlite::connect(store);
            connection.is_ok_and(|it| !listed(&it, &root(&it, &meta(&it))).is_empty())
        });
        Some(Box::new(ChatStore(store?)))
    }
}

/// The folder of Cursor's home in which each project has its transcripts.
const TRANSCRIPTS: &str = "agent-transcripts";

/// The store of the chat with this transcript.
fn store_of(transcript: &Path) -> Option<PathBuf> {
    let id = transcript.file_stem()?;
    let folder = transcript.ancestors().find(|folder| folder.ends_with(TRANSCRIPTS))?;
    let mut chats = entries(folder.ancestors().nth(3)?.join("chats"));
    chats.find_map(|chats| Some(chats.join(id).join("store.db")).filter(|store| store.is_file()))
}

/// The session whose sub-agent has the chat in this store: only transcripts state it.
fn parent_of(store: &Path) -> Option<String> {
    let id = store.parent()?.file_name()?;
    let projects = entries(store.ancestors().nth(4)?.join("projects"));
    let mut sessions = projects.flat_map(|project| entries(project.join(TRANSCRIPTS)));
    let has_it = |session: &PathBuf| {
        let mut children = entries(session.join("subagents"));
        children.any(|child| child.file_stem() == Some(id))
    };
    sessions.find(has_it).and_then(|session| folder_name(Some(&session)))
}

fn entries(folder: PathBuf) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter()
}

/// The store of a chat.
#[derive(Debug)]
struct ChatStore(PathBuf);

impl StoredLog for ChatStore {
    fn status(&self, _: Identity) -> io::Result<Identity> {
        let whole = sqlite::status(&self.0, status(&fs::metadata(&self.0)?));
        Ok(joined_status(whole, [self.0.with_file_name("meta.json")]))
    }

    fn write(&self, file: &File, out: &mut dyn Write) -> io::Result<()> {
        StoredDatabase::new(&self.0, write_store).write(file, out)
    }
}

/// The facts in a store, which are JSON, usually as hexadecimal digits. A key to encrypt blobs is among them.
fn meta(connection: &Connection) -> Value {
    let sql = "SELECT CAST(value AS TEXT) FROM meta WHERE key = ?1";
    let stored: String = cell(connection, sql, "0").unwrap_or_default();
    let digits = (0..stored.len()).step_by(2).map(|at| {
        let digits = stored.get(at..at + 2)?;
        u8::from_str_radix(digits, 16).ok()
    });
    let bytes: Option<Vec<u8>> = digits.collect();
    serde_json::from_slice(&bytes.unwrap_or(stored.into_bytes())).unwrap_or_default()
}

/// The blob with the messages of a chat in order; empty if there is none.
fn root(connection: &Connection, meta: &Value) -> Vec<u8> {
    let sql = "SELECT CAST(data AS BLOB) FROM blobs WHERE id = ?1";
    let id = meta["latestRootBlobId"].as_str();
    id.and_then(|id| cell(connection, sql, id)).unwrap_or_default()
}

/// The blobs of messages that a root lists; the ids are hexadecimal.
fn listed(connection: &Connection, root: &[u8]) -> Vec<Vec<u8>> {
    let sql = "SELECT CAST(data AS BLOB) FROM blobs WHERE id = lower(hex(?1))";
    let ids = parts(root).into_iter().filter(|(number, _)| *number == 1);
    ids.filter_map(|(_, id)| cell(connection, sql, id)).collect()
}

fn write_store(connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
    let (store, meta) = (PathBuf::from(connection.path().unwrap_or_default()), meta(connection));
    let stated = document(&store.with_file_name("meta.json")).unwrap_or_default();
    let root = root(connection, &meta);
    let workspace = parts(&root).into_iter().find(|(number, _)| *number == 9);
    let workspace = workspace.and_then(|(_, path)| std::str::from_utf8(path).ok());
    let folder = json!(store.parent().and_then(Path::file_name).and_then(OsStr::to_str));
    let id = if meta["agentId"].is_string() { &meta["agentId"] } else { &folder };
    let is_child = stated["isSubagent"] == true;
    let facts = facts(&[
        ("title", &stated["title"]),
        ("title", &meta["name"]),
        ("cwd", &stated["cwd"]),
        ("cwd", &json!(workspace)),
        ("cwd", &meta["workspacePath"]),
        ("model", &meta["lastUsedModel"]),
        ("parent", &json!(is_child.then(|| parent_of(&store)).flatten())),
        ("createdAt", &meta["createdAt"]),
        ("createdAt", &stated["createdAtMs"]),
    ]);
    writeln!(out, "{}", json!({CHAT: id, "facts": facts}))?;
    for mut message in listed(connection, &root).iter().filter_map(|blob| stored_message(blob)) {
        // Its model; the rest are ids of requests.
        if let Some(options) = message.get_mut("providerOptions").map(Value::take) {
            message["model"] = options["cursor"]["modelName"].clone();
        }
        writeln!(out, "{}", json!({CHAT: id, "message": message}))?;
    }
    Ok(())
}

/// The message in a blob, perhaps within a message of Protocol Buffers. Other blobs hold none.
fn stored_message(data: &[u8]) -> Option<Value> {
    let read = |data| serde_json::from_slice(data).ok().filter(|it: &Value| it["role"].is_string());
    let wrapped =
        || parts(data).into_iter().find_map(|(number, part)| read(part).filter(|_| number == 4));
    read(data).or_else(wrapped)
}

/// The fields of a message of Protocol Buffers that are bytes, with their numbers, up to the first that is damaged.
fn parts(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut parts = Vec::new();
    while let Some(key) = varint(&mut bytes) {
        let length = match key & 7 {
            0 => varint(&mut bytes).map(|_| 0),
            1 => Some(8),
            2 => varint(&mut bytes),
            5 => Some(4),
            _ => None,
        };
        let length = length.and_then(|length| usize::try_from(length).ok());
        let Some((part, rest)) = length.and_then(|length| bytes.split_at_checked(length)) else {
            break;
        };
        parts.extend((key & 7 == 2).then_some((key >> 3, part)));
        bytes = rest;
    }
    parts
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

/// Writes the chats of the editor that have messages.
fn write_editor(connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
    let state = PathBuf::from(connection.path().unwrap_or_default());
    let folders = state.ancestors().nth(2).map(workspaces).unwrap_or_default();
    let sql = "SELECT CAST(value AS TEXT) AS value FROM cursorDiskKV
               WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key";
    for_each(connection, sql, (), |row| {
        let composer = row.get("value").map(parsed).unwrap_or_default();
        let Some(id) = composer["composerId"].as_str() else { return Ok(()) };
        let listed = composer["fullConversationHeadersOnly"].as_array();
        let listed = listed.filter(|listed| !listed.is_empty()).map(|listed| {
            let bubbles =
                listed.iter().filter_map(|it| bubble(connection, id, it["bubbleId"].as_str()?));
            bubbles.collect()
        });
        // Older releases keep the messages with the chat.
        let bubbles: Vec<Value> =
            listed.or_else(|| composer["conversation"].as_array().cloned()).unwrap_or_default();
        if bubbles.is_empty() {
            return Ok(());
        }
        let mut stated = bubbles.iter().map(|bubble| &bubble["workspaceProjectDir"]);
        let facts = facts(&[
            ("title", &composer["name"]),
            ("cwd", &composer["workspaceIdentifier"]["uri"]["fsPath"]),
            ("cwd", &json!(folders.get(id))),
            ("cwd", stated.find(|folder| folder.is_string()).unwrap_or(&Value::Null)),
            ("model", &composer["modelConfig"]["modelName"]),
            ("createdAt", &composer["createdAt"]),
        ]);
        writeln!(out, "{}", json!({CHAT: id, "facts": facts}))?;
        for bubble in &bubbles {
            writeln!(out, "{}", json!({CHAT: id, "message": editor_message(bubble)}))?;
        }
        Ok(())
    })
}

/// A message of the editor's database.
fn bubble(connection: &Connection, chat: &str, id: &str) -> Option<Value> {
    let sql = "SELECT CAST(value AS TEXT) FROM cursorDiskKV WHERE key = ?1";
    let stored: String = cell(connection, sql, format!("bubbleId:{chat}:{id}"))?;
    serde_json::from_str(&stored).ok()
}

/// The folders of chats by the databases of workspaces, which older releases keep.
fn workspaces(user: &Path) -> BTreeMap<String, String> {
    let mut folders = BTreeMap::new();
    for workspace in entries(user.join("workspaceStorage")) {
        let stated = document(&workspace.join("workspace.json")).unwrap_or_default();
        let folder = stated["folder"].as_str().and_then(|folder| folder.strip_prefix("file://"));
        let database = Some(workspace.join("state.vscdb")).filter(|path| path.is_file());
        let connection = database.and_then(|path| sqlite::connect(&path).ok());
        let (Some(folder), Some(connection)) = (folder.map(decode_percent), connection) else {
            continue;
        };
        let sql = "SELECT CAST(value AS TEXT) AS value FROM ItemTable
                   WHERE key IN ('composer.composerData', 'composer.composerHeaders')";
        // What cannot be read states no folder.
        let _ = for_each(&connection, sql, (), |row| {
            let stated = row.get("value").map(parsed).unwrap_or_default();
            let all = stated["allComposers"].as_array().into_iter().flatten();
            let ids = all.map(|it| &it["composerId"]);
            let ids = ids.chain(stated["selectedComposerIds"].as_array().into_iter().flatten());
            folders.extend(ids.filter_map(|id| Some((id.as_str()?.to_owned(), folder.clone()))));
            Ok(())
        });
    }
    folders
}

/// A message of the editor in the form of a store. Its other fields are the state of the editor's view, and context.
fn editor_message(bubble: &Value) -> Value {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let all = bubble["allThinkingBlocks"].as_array().into_iter().flatten();
    let thoughts = match text(&bubble["thinking"]["text"]) {
        Some(thought) => vec![thought],
        None => all.filter_map(|thought| text(&thought["text"])).collect(),
    };
    let words = text(&bubble["text"]).or_else(|| text(&bubble["rawText"]));
    let thoughts = thoughts.into_iter().map(|text| json!({"type": "reasoning", "text": text}));
    let words = words.map(|text| json!({"type": "text", "text": text}));
    let mut content: Vec<_> = thoughts.chain(words).collect();
    let tool = &bubble["toolFormerData"];
    if tool["name"].is_string() || tool["toolCallId"].is_string() {
        let id = tool["toolCallId"].as_str().or_else(|| bubble["bubbleId"].as_str());
        let [given, params] = ["rawArgs", "params"].map(|name| parsed(&tool[name]));
        let given = if given.is_object() { given } else { params };
        content.push(
            json!({"type": "tool-call", "toolCallId": id, "toolName": tool["name"], "args": given}),
        );
        let [result, error] = ["result", "error"].map(|name| parsed(&tool[name]));
        let (status, decision) = (&tool["status"], &tool["userDecision"]);
        let is_open = ["loading", "pending"].iter().any(|open| status == *open);
        let is_stated = !status.is_null() || !result.is_null();
        if !is_open && is_stated {
            content.push(json!({"type": "tool-result", "toolCallId": id, "status": status,
                "userDecision": decision, "result": result, "error": error}));
        }
    }
    let count = &bubble["tokenCount"];
    // Newer editors state 0.
    let is_counted = ["inputTokens", "outputTokens"].iter().any(|name| count[name] != 0);
    let usage =
        is_counted.then(|| json!({"input": count["inputTokens"], "output": count["outputTokens"]}));
    let began = bubble["timingInfo"]["clientStartTime"].as_f64();
    let at = if bubble["createdAt"].is_null() {
        json!(began.map(f64::trunc))
    } else {
        bubble["createdAt"].clone()
    };
    let role = if bubble["type"] == 1 { "user" } else { "assistant" };
    let model = &bubble["modelInfo"]["modelName"];
    json!({"id": bubble["bubbleId"], "role": role, "createdAt": at, "model": model, "usage": usage, "content": content})
}
