//! Sourcegraph's Amp: the stream of `amp --execute --stream-json`.

mod action_mapper;
mod result;
mod thread;
mod types;

use serde::{Deserialize, Serialize};

pub use self::thread::AmpThread;
use self::{result::AmpResult, types::AmpJson};
use crate::{
    dialect::{
        anthropic::{self, BlockKind, Message, Reader, ToolResult},
        notice::kind_of_answer,
    },
    prelude::*,
    recogniser::{is_tree_record, message},
};

/// `amp --execute --stream-json`.
///
/// Only the exit code shows that a command failed, since the result reports success. Tokens are counted from the
/// messages, which state them once; the end of the run states none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amp;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AmpMemory {
    /// The agent's last message, which the end of the run repeats.
    last_words: Option<Text>,
    mode: Option<Text>,
}

type Cx<'s> = Context<'s, AmpResult>;

impl Executor for Amp {
    const FORMAT: Format = Format::new("amp", "Amp, stream-json", "amp");
    type Line<'a> = AmpJson<'a>;
    type Result = AmpResult;
    type Memory = AmpMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let kind = object.get_str("type").unwrap_or_default();
        if is_tree_record(object) || !["system", "user", "assistant", "result"].contains(&&*kind) {
            return Evidence::None;
        }
        // A session is a thread, as its id shows.
        let is_thread = object.get_str("session_id").map(|id| id.starts_with("T-"));
        if is_thread == Some(true) || (kind == "system" && object.has("agent_mode")) {
            return Evidence::Certain;
        }
        match &*kind {
            // Another program may have replaced the id.
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
            AmpJson::Init(facts, mode) => {
                cx.session(Session { started_at: cx.at, ..*facts });
                memory.mode(mode, cx);
            }
            AmpJson::User(message) => {
                let mut blocks = Blocks(NormalizedEntryType::UserMessage);
                anthropic::read(message, "user", Meta::from(extra), &mut blocks, cx);
            }
            AmpJson::Assistant(message) => memory.assistant(message, extra, cx),
            AmpJson::Result { words, error, facts } => {
                let is_error = facts.outcome != Some(Outcome::Success);
                memory.result(words, error, is_error, cx);
                cx.session(Session { ended_at: cx.at, ..*facts });
            }
        }
    }
}

impl AmpMemory {
    fn mode(&mut self, mode: Option<Text>, cx: &mut Cx<'_>) {
        if let Some(text) = mode.as_ref().filter(|_| self.mode != mode) {
            cx.entry(NormalizedEntryType::SystemMessage, format!("agent mode: {text}"), ());
            self.mode = mode;
        }
    }

    fn assistant(&mut self, message: Message<'_>, extra: Extra, cx: &mut Cx<'_>) {
        let usage = message.usage.unwrap_or_default();
        let words = message.content.iter().rev().find_map(|block| match &block.kind {
            BlockKind::Text(content) => Some(content.text.clone()),
            _ => None,
        });
        if cx.parent.is_none() && words.is_some() {
            self.last_words = words;
        }
        let mut blocks = Blocks(NormalizedEntryType::AssistantMessage);
        anthropic::read(message, "assistant", Meta::from(extra), &mut blocks, cx);
        cx.usage(usage);
    }

    fn result(
        &mut self,
        words: Option<Text>,
        error: Option<Text>,
        is_error: bool,
        cx: &mut Cx<'_>,
    ) {
        let last_words = self.last_words.take();
        let words = words.filter(|words| !words.is_empty() && last_words.as_ref() != Some(words));
        if let Some(words) = words {
            cx.entry(kind_of_answer(is_error), words, ());
        }
        if let Some(error) = error {
            cx.entry(NormalizedEntryType::ErrorMessage, error, ());
        }
    }
}

/// The blocks of a message, whose texts are entries of this kind.
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
        AmpResult::new(status, cx.at).with_content(answer.body).with_extra(extra)
    }
}
