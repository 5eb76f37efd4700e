//! What Amp's records mean.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    action_mapper,
    result::AmpResult,
    types::{AmpJson, Init, RunResult},
};
use crate::{
    conversation::{NormalizedEntryType, Outcome, Session, Text, ToolStatus},
    executors::{
        Context, Evidence, Executor, Extra, Format, Header, Meta, Parsed,
        action::MappedCall,
        dialect::anthropic::{self, BlockKind, Message, Reader, ToolResult},
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
        super::recognise::recognise(object)
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
