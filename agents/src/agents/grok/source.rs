//! [`GrokSource`]: the files of a session, read as lines.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use foldline::{
    ledger::Identity,
    source::{Opener, StoredLog, status},
};
use serde_json::{Value, json};

use super::LINE;
use crate::{
    files::decode_percent,
    siblings::{document, facts, folder_name, joined_status, objects},
};

/// Opens a session, by any of its files.
///
/// The first line states the facts. The others are the lines of the history, with their times and the outcomes of calls
/// from the updates, and the turns with their tokens. Without a history, its lines are made of the updates.
#[derive(Clone, Copy, Debug, Default)]
pub struct GrokSource;

/// The messages, their times and outcomes, and facts.
const FILES: [&str; 4] = ["chat_history.jsonl", "updates.jsonl", "summary.json", "signals.json"];

impl Opener for GrokSource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        let name = path.file_name()?.to_str()?;
        let is_one = FILES.contains(&name) && head.trim_ascii_start().starts_with(b"{");
        let logs = is_one.then(|| [FILES[0], FILES[1]].map(|file| path.with_file_name(file)))?;
        Some(Box::new(GrokLog(logs.into_iter().find(|log| log.is_file())?)))
    }
}

/// The session with this history, or with these updates.
#[derive(Debug)]
struct GrokLog(PathBuf);

impl StoredLog for GrokLog {
    /// The metadata of all files; they are names of one log.
    fn status(&self, _: Identity) -> io::Result<Identity> {
        let others = FILES.into_iter().filter(|name| !self.0.ends_with(name));
        let others = others.map(|name| self.0.with_file_name(name));
        Ok(joined_status(status(&fs::metadata(&self.0)?), others))
    }

    fn write(&self, _: &File, out: &mut dyn Write) -> io::Result<()> {
        let [history, updates, ..] = FILES.map(|name| self.0.with_file_name(name));
        let updates = Updates::of(&objects(&updates)?.0);
        let (history, rest) = objects(&history)?;
        let history = if history.is_empty() { updates.messages.clone() } else { history };
        let lines = [self.facts()].into_iter().chain(updates.joined(history));
        for line in lines {
            writeln!(out, "{{\"{LINE}\":{line}}}")?;
        }
        out.write_all(rest.as_bytes())
    }
}

impl GrokLog {
    fn facts(&self) -> Value {
        let summary = document(&self.0.with_file_name(FILES[2])).unwrap_or_default();
        let folder = self.0.parent();
        let project = folder.and_then(Path::parent);
        let is_kept = project.and_then(Path::parent).is_some_and(|it| it.ends_with("sessions"));
        let stated = project.and_then(|project| fs::read_to_string(project.join(".cwd")).ok());
        let stated = stated.map(|path| path.trim().to_owned());
        let cwd = stated.or_else(|| folder_name(project).map(|name| decode_percent(&name)));
        let of_path = |fact: Option<String>| json!(fact.filter(|_| is_kept));
        let (id, cwd) = (of_path(folder_name(folder)), of_path(cwd));
        let facts = facts(&[
            ("type", &json!("session")),
            ("id", &summary["info"]["id"]),
            ("id", &id),
            ("cwd", &summary["info"]["cwd"]),
            ("cwd", &cwd),
            ("title", &summary["generated_title"]),
            ("title", &summary["session_summary"]),
            ("parent", &summary["parent_session_id"]),
            ("kind", &summary["session_kind"]),
            ("model", &summary["current_model_id"]),
            ("branch", &summary["head_branch"]),
            ("effort", &summary["reasoning_effort"]),
            ("created_at", &summary["created_at"]),
        ]);
        facts.into()
    }
}

/// The updates of a session.
#[derive(Default)]
struct Updates {
    /// The lines of a history that has none.
    messages: Vec<Value>,
    /// The turns that ended, each with the number of messages before it.
    turns: Vec<(usize, Value)>,
}

impl Updates {
    fn of(lines: &[Value]) -> Self {
        let mut updates = Self::default();
        for line in lines {
            let (params, at) = (&line["params"], &line["timestamp"]);
            let update = &params["update"];
            let mark = [&update["_meta"], &params["_meta"]].into_iter().find_map(|meta| {
                ["promptIndex", "promptId"].iter().find_map(|name| meta.get(*name))
            });
            updates.add(update, at, mark.unwrap_or(&Value::Null));
        }
        updates
    }

    fn add(&mut self, update: &Value, at: &Value, mark: &Value) {
        let call = &update["toolCallId"];
        let text = update["content"]["text"].as_str().unwrap_or_default();
        let line = match update["sessionUpdate"].as_str().unwrap_or_default() {
            "user_message_chunk" => {
                json!({"type": "user", "content": [update["content"]], "prompt_index": mark})
            }
            "agent_message_chunk" => {
                json!({"type": "assistant", "content": text, "prompt_id": mark})
            }
            "agent_thought_chunk" => {
                json!({"type": "reasoning", "summary": [{"text": text}], "prompt_id": mark})
            }
            "tool_call" => {
                let arguments = update["rawInput"].to_string();
                let call = json!({"id": call, "name": update["title"], "arguments": arguments});
                json!({"type": "assistant", "content": "", "tool_calls": [call]})
            }
            "tool_call_update"
                if ["completed", "failed"].iter().any(|it| update["status"] == *it) =>
            {
                let content = if update["content"].is_null() {
                    &update["rawOutput"]
                } else {
                    &update["content"]
                };
                json!({"type": "tool_result", "tool_call_id": call, "content": content, "status": update["status"]})
            }
            "turn_completed" => {
                let id = &update["prompt_id"];
                let turn = json!({"type": "turn", "id": id, "usage": update["usage"], "stop_reason": update["stop_reason"], "at": at});
                // Of several statements of a turn, the last one counts.
                self.turns.retain(|(_, turn)| id.is_null() || turn["id"] != *id);
                self.turns.push((self.messages.len(), turn));
                return;
            }
            _ => return,
        };
        let last = self.messages.last_mut().filter(|last| is_same_message(last, &line));
        match last {
            Some(last) => append(last, line),
            None => {
                let mut line = line;
                line["at"] = at.clone();
                self.messages.push(line);
            }
        }
    }

    /// The history with what the updates state of it, and the turns.
    fn joined(self, mut history: Vec<Value>) -> Vec<Value> {
        let mut by_key = BTreeMap::new();
        for (index, message) in self.messages.iter().enumerate() {
            by_key.entry(key(message)).or_insert(index);
        }
        let mut turns = self.turns.into_iter().peekable();
        let mut lines = Vec::new();
        for line in &mut history {
            let known = by_key.get(&key(line)).filter(|_| !key(line).is_empty());
            if let Some(index) = known {
                while let Some((_, turn)) = turns.next_if(|(before, _)| before <= index) {
                    lines.push(turn);
                }
                for field in ["at", "status"] {
                    if let Some(stated) = self.messages.get(*index).and_then(|it| it.get(field)) {
                        line[field] = stated.clone();
                    }
                }
            }
            lines.push(line.take());
        }
        lines.extend(turns.map(|(_, turn)| turn));
        lines
    }
}

/// Whether a piece continues a message.
fn is_same_message(message: &Value, piece: &Value) -> bool {
    let has_calls = |line: &Value| line.get("tool_calls").is_some();
    message["type"] == piece["type"]
        && message["type"] != "tool_result"
        && message["prompt_id"] == piece["prompt_id"]
        && message["prompt_index"] == piece["prompt_index"]
        && !has_calls(message)
        && !has_calls(piece)
}

fn append(message: &mut Value, mut piece: Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if message["type"] == "reasoning" {
        let whole = text(&message["summary"][0]["text"]) + &text(&piece["summary"][0]["text"]);
        message["summary"][0]["text"] = whole.into();
    } else if message["content"].is_string() {
        message["content"] = (text(&message["content"]) + &text(&piece["content"])).into();
    } else if let (Some(parts), Some(more)) =
        (message["content"].as_array_mut(), piece["content"].as_array_mut())
    {
        parts.append(more);
    }
}

/// What a line of the history and the updates have in common: the number of a prompt, the id of a call, or the words.
fn key(line: &Value) -> String {
    let first = &line["tool_calls"][0]["id"];
    match line["type"].as_str().unwrap_or_default() {
        "user" if line["prompt_index"].is_number() => format!("prompt {}", line["prompt_index"]),
        "tool_result" => format!("result {}", line["tool_call_id"]),
        "assistant" if !first.is_null() => format!("call {first}"),
        "assistant" => format!("words {}", line["content"].as_str().unwrap_or_default().trim()),
        _ => String::new(),
    }
}
