//! Sourcegraph's Amp: the stream of `amp --execute --stream-json`.

mod action_mapper;
mod result;
mod types;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use self::{
    result::AmpResult,
    types::{AmpJson, Init, RunResult},
};
use crate::{
    conversation::{NormalizedEntryType, Outcome, Session, Text, ToolStatus},
    executors::{
        Context, Evidence, Executor, Extra, Format, Header, MappedCall, Meta, Parsed,
        dialect::anthropic::{self, BlockKind, Message, Reader, ToolResult},
        evidence::{is_tree_record, message},
        wire::Object,
    },
    json::Raw,
};

/// `amp --execute --stream-json`.
///
/// A failed command is known by its exit code alone: the result says that all is well. The tokens are
/// those of the messages, each stated once; the run's end states none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amp;

/// What the executor remembers beside calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AmpMemory {
    /// The agent's last words, which the end of the run repeats.
    last_words: Option<Text>,
    mode: Option<Text>,
}

type Cx<'s> = Context<'s, AmpResult>;

impl Executor for Amp {
    const FORMAT: Format =
        Format { name: "amp", title: "Amp, stream-json", agent: "amp", homes: &[] };
    type Line<'a> = AmpJson<'a>;
    type Result = AmpResult;
    type Memory = AmpMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let kind = object.get_str("type").unwrap_or_default();
        if is_tree_record(object) || !["system", "user", "assistant", "result"].contains(&&*kind) {
            return Evidence::None;
        }
        // A session is a thread, and its id says so.
        let is_thread = object.get_str("session_id").map(|id| id.starts_with("T-"));
        if is_thread == Some(true) || (kind == "system" && object.has("agent_mode")) {
            return Evidence::Certain;
        }
        match &*kind {
            // With another id where somebody replaced it.
            "system" => Evidence::Possible,
            _ if is_thread.is_some() => Evidence::None,
            "result" => {
                let is_bare = !object.has_any(&["uuid", "duration_api_ms"]);
                Evidence::possible_if(is_bare && object.has_all(&["duration_ms", "num_turns"]))
            }
            _ => {
                let is_bare = message(object).is_some_and(|message| !message.has("id"));
                let is_child = object.has("parent_tool_use_id") && !object.has("uuid");
                Evidence::possible_if(is_bare && is_child)
            }
        }
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        object.get_str("session_id")
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<AmpJson<'a>> {
        AmpJson::parse(object, header)
    }

    fn line(&self, line: AmpJson<'_>, extra: Extra, memory: &mut AmpMemory, cx: &mut Cx<'_>) {
        match line {
            AmpJson::Init(line) => init(line, memory, cx),
            AmpJson::User(message) => {
                let mut blocks = Blocks(NormalizedEntryType::UserMessage);
                anthropic::read(message, "user", Meta::from(extra), &mut blocks, cx);
            }
            AmpJson::Assistant(message) => assistant(message, extra, memory, cx),
            AmpJson::Result(line) => result(line, memory, cx),
        }
    }
}

fn init(line: Init, memory: &mut AmpMemory, cx: &mut Cx<'_>) {
    let Init { cwd, tools, mode, reasoning_effort } = line;
    let started_at = cx.at;
    cx.session(Session { cwd, tools, reasoning_effort, started_at, ..Session::default() });
    if let Some(text) = &mode
        && memory.mode != mode
    {
        cx.entry(NormalizedEntryType::SystemMessage, format!("agent mode: {text}"), ());
        memory.mode = mode;
    }
}

fn assistant(message: Message<'_>, extra: Extra, memory: &mut AmpMemory, cx: &mut Cx<'_>) {
    let usage = message.usage.unwrap_or_default();
    let words = message.content.iter().rev().find_map(|block| match &block.kind {
        BlockKind::Text(text) => Some(text.clone()),
        _ => None,
    });
    if cx.parent.is_none() && words.is_some() {
        memory.last_words = words;
    }
    let mut blocks = Blocks(NormalizedEntryType::AssistantMessage);
    anthropic::read(message, "assistant", Meta::from(extra), &mut blocks, cx);
    cx.usage(usage);
}

fn result(line: RunResult<'_>, memory: &mut AmpMemory, cx: &mut Cx<'_>) {
    let RunResult { subtype, is_error, result, error, turns, duration_ms } = line;
    let is_repeated = |words: &Text| memory.last_words.as_ref() == Some(words);
    if let Some(words) = result.filter(|words| !words.is_empty() && !is_repeated(words)) {
        let entry_type = match is_error {
            true => NormalizedEntryType::ErrorMessage,
            false => NormalizedEntryType::AssistantMessage,
        };
        cx.entry(entry_type, words, ());
    }
    if let Some(error) = error.clone() {
        cx.entry(NormalizedEntryType::ErrorMessage, error, ());
    }
    memory.last_words = None;
    let outcome = match &*subtype {
        _ if !is_error => Outcome::Success,
        "error_max_turns" => Outcome::LimitReached,
        _ => Outcome::Failed,
    };
    let subtype = (subtype != "success").then(|| Text::from(subtype));
    cx.session(Session {
        outcome: Some(outcome),
        outcome_reason: error.or(subtype),
        turns,
        duration_ms,
        ended_at: cx.at,
        ..Session::default()
    });
}

/// The blocks of a message whose texts are entries of this kind.
struct Blocks(NormalizedEntryType);

impl Reader<AmpResult> for Blocks {
    fn text(&mut self, text: Text) -> (NormalizedEntryType, Text) {
        (self.0.clone(), text)
    }

    fn call(&mut self, name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
        action_mapper::map(name, input, cwd)
    }

    fn result(&mut self, answer: ToolResult<'_>, extra: Extra, cx: &mut Cx<'_>) -> AmpResult {
        let status = if answer.is_error { ToolStatus::Failed } else { ToolStatus::Success };
        AmpResult::new(status, cx.at).with_body(answer.body).with_extra(extra)
    }
}
