//! [`AntigravitySource`]: the steps of a conversation, in order.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use foldline::{
    ledger::Identity,
    source::{Opener, StoredLog, status},
};
use serde_json::{Value, json};

use super::AntigravityFormat;
use crate::{
    dialect::messages::MessageFormat,
    siblings::{document, folder_name, objects},
};

/// Opens the transcript of a conversation, by either of its names.
///
/// A step is a message, as it was when it was written last. A result has no id: the steps after an answer are the results
/// of its calls, in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct AntigravitySource;

/// The transcript, and a shorter form of it.
pub(super) const FILES: [&str; 2] = ["transcript_full.jsonl", "transcript.jsonl"];

impl Opener for AntigravitySource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        let is_transcript = path.parent()?.ends_with(".system_generated/logs")
            && FILES.iter().any(|name| path.ends_with(name))
            && head.starts_with(b"{");
        let mut files = FILES.into_iter().map(|name| path.with_file_name(name));
        let log = files.find(|file| file.is_file()).filter(|_| is_transcript)?;
        Some(Box::new(Transcript(log)))
    }

    /// The shorter form adds nothing.
    fn is_of_one_file(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Transcript(PathBuf);

impl StoredLog for Transcript {
    fn status(&self, _: Identity) -> io::Result<Identity> {
        Ok(status(&fs::metadata(&self.0)?))
    }

    fn write(&self, _: &File, out: &mut dyn Write) -> io::Result<()> {
        let (lines, rest) = objects(&self.0)?;
        let mut steps: Vec<Value> = Vec::new();
        for step in lines {
            let is_same = |before: &&mut Value| {
                !step["step_index"].is_null()
                    && ["step_index", "type", "source"].iter().all(|it| before[it] == step[it])
                    && !["DONE", "ERROR", "FAILED"].iter().any(|ended| before["status"] == *ended)
            };
            match steps.iter_mut().rev().find(is_same) {
                Some(before) => *before = step,
                None => steps.push(step),
            }
        }
        steps.sort_by_key(|step| step["step_index"].as_i64());
        let id = folder_name(self.0.ancestors().nth(3)).unwrap_or_default();
        let mut conversation = Steps { cwd: self.folder(&id), ..Steps::default() };
        let messages: Vec<_> = steps.iter().flat_map(|step| conversation.messages(step)).collect();
        let facts = json!({"cwd": conversation.cwd});
        const KEY: &str = AntigravityFormat::KEY;
        writeln!(out, "{}", json!({KEY: id, "facts": facts}))?;
        for message in messages {
            writeln!(out, "{}", json!({KEY: id, "message": message}))?;
        }
        out.write_all(rest.as_bytes())
    }
}

impl Transcript {
    /// The folder of the conversation, by the list of prompts, or by that of the latest conversations.
    fn folder(&self, id: &str) -> Option<String> {
        let home = self.0.ancestors().nth(5)?;
        let (prompts, _) = objects(&home.join("history.jsonl")).unwrap_or_default();
        let mut of_it = prompts.iter().filter(|prompt| prompt["conversationId"] == id);
        let listed = of_it.find_map(|prompt| prompt["workspace"].as_str());
        let latest = document(&home.join("cache/last_conversations.json")).unwrap_or_default();
        let mut latest = latest.as_object().into_iter().flatten();
        let latest = latest.find(|(_, conversation)| **conversation == id);
        let folder = listed.or(latest.map(|(folder, _)| folder.as_str()))?;
        Some(folder.to_owned()).filter(|folder| !folder.is_empty())
    }
}

/// What the steps so far state of the conversation.
#[derive(Default)]
struct Steps {
    cwd: Option<String>,
    /// The number of calls, by which they are named.
    calls: u64,
    /// The calls of the latest answer without a result.
    open: VecDeque<String>,
}

impl Steps {
    /// The messages of a step. The shorter form has no types.
    fn messages(&mut self, step: &Value) -> Vec<Value> {
        let kind = match (step["type"].as_str(), step["source"].as_str()) {
            (Some(kind), _) => kind,
            (None, Some("USER_EXPLICIT")) => "USER_INPUT",
            (None, Some("MODEL")) => "PLANNER_RESPONSE",
            (None, Some("SYSTEM")) => "SYSTEM_MESSAGE",
            _ => return vec![step.clone()],
        };
        let (at, error) = (&step["created_at"], step["error"].as_str().filter(|it| !it.is_empty()));
        let message =
            |role: &str, content: Value| json!({"role": role, "createdAt": at, "content": content});
        let text = step["content"].as_str().unwrap_or_default();
        match kind {
            // They repeat others for the model.
            "CONVERSATION_HISTORY" | "EPHEMERAL_MESSAGE" => Vec::new(),
            "CHECKPOINT" | "SYSTEM_MESSAGE" if text.is_empty() => Vec::new(),
            "CHECKPOINT" => vec![message("compaction", text.into())],
            "SYSTEM_MESSAGE" => vec![message("system", text.into())],
            "USER_INPUT" => {
                self.open.clear();
                let (typed, context) = self.sent(text.to_owned());
                let parts = [("system", context), ("user", typed)];
                let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
                parts.map(|(role, text)| message(role, text.into())).collect()
            }
            "PLANNER_RESPONSE" => {
                self.open.clear();
                let words =
                    [("thinking", step["thinking"].as_str().unwrap_or_default()), ("text", text)];
                let words = words.into_iter().filter(|(_, text)| !text.is_empty());
                let mut content: Vec<_> =
                    words.map(|(kind, text)| json!({"type": kind, "text": text})).collect();
                for call in step["tool_calls"].as_array().into_iter().flatten() {
                    self.calls += 1;
                    let id = format!("call-{}", self.calls);
                    content.push(json!({"type": "tool-call", "toolCallId": id, "toolName": call["name"], "args": call["args"]}));
                    self.open.push_back(id);
                }
                let answer = message("assistant", content.into());
                let error = error.map(|error| message("error", error.into()));
                [answer].into_iter().chain(error).collect()
            }
            _ => vec![match self.open.pop_front() {
                Some(id) => {
                    let status = match step["status"].as_str() {
                        Some("ERROR" | "FAILED") => "error",
                        Some("DONE") | None => "completed",
                        // The output of a command that continues is in another file.
                        _ => "running",
                    };
                    let output = json!({"output": text, "exit_code": step["exit_code"]});
                    message(
                        "tool",
                        json!([{"type": "tool-result", "toolCallId": id, "status": status,
                        "error": error, "result": output}]),
                    )
                }
                None if error.is_some() => message("error", json!(error)),
                None => message("system", text.into()),
            }],
        }
    }

    /// What a person typed, and what the program adds to it.
    fn sent(&mut self, mut text: String) -> (String, String) {
        let metadata = cut(&mut text, "ADDITIONAL_METADATA").unwrap_or_default();
        let stated: Value = serde_json::from_str(&metadata).unwrap_or_default();
        let folder = stated["cwd"].as_str().map(str::to_owned);
        self.cwd = self.cwd.take().or(folder);
        let settings = cut(&mut text, "USER_SETTINGS_CHANGE").unwrap_or_default();
        let typed = cut(&mut text, "USER_REQUEST");
        let (typed, rest) = typed.map_or_else(|| (text.clone(), ""), |typed| (typed, &*text));
        let parts = [rest, &metadata, &settings].map(str::trim);
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        (typed.trim().to_owned(), parts.join("\n"))
    }
}

/// Cuts an element out of a text; its content.
fn cut(text: &mut String, name: &str) -> Option<String> {
    let (before, rest) = text.split_once(&format!("<{name}>"))?;
    let (content, after) = rest.split_once(&format!("</{name}>"))?;
    let (content, whole) = (content.to_owned(), format!("{before}{after}"));
    *text = whole;
    Some(content)
}
