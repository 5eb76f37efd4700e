//! The Cursor agent: the stream of `cursor-agent --print --output-format stream-json`, transcripts and chats.

mod action_mapper;
mod answer;
mod chat;
#[cfg(feature = "databases")]
mod source;
mod transcript;
mod types;

use serde::{Deserialize, Serialize};

#[cfg(feature = "databases")]
pub use self::source::CursorSource;
use self::types::{JsonLine, ToolCall};
pub use self::{chat::CursorChat, transcript::CursorTranscript};
use crate::{
    dialect::notice::kind_of_answer,
    prelude::*,
    recogniser::{is_tree_record, message},
};

/// `cursor-agent --print --output-format stream-json`.
///
/// - Thoughts appear only in chunks. Answers appear as a whole, with `--stream-partial-output` after their chunks.
///   White space alone is not an entry.
/// - The end of a run repeats all of its answers, concatenated.
/// - The end of a call repeats the call with its result. If the log lacks its beginning, the end is also the call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CursorMemory {
    /// An incomplete thought or answer.
    growing: Growing,
    /// The length in bytes of all answers of this run, which the end of the run repeats.
    said: usize,
    last_words: Text,
    /// The time of the latest record, since the end of a run has none.
    last_at: Option<Timestamp>,
}

type Cx<'s> = Context<'s, ToolOutcome>;

impl Executor for Cursor {
    const FORMAT: Format = Format::new("cursor", "Cursor agent, stream-json", "cursor");
    type Line<'a> = JsonLine<'a>;
    type Result = ToolOutcome;
    type Memory = CursorMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        match &*object.get_str("type").unwrap_or_default() {
            "thinking" => Evidence::certain_if(object.has_all(&["subtype", "timestamp_ms"])),
            "tool_call" => {
                Evidence::certain_if(object.has_all(&["subtype", "call_id", "tool_call"]))
            }
            "system" if is_tree_record(object) => Evidence::None,
            "system" => {
                // Only the fields shared with other formats.
                let is_own = object.get_str("subtype").as_deref() == Some("init")
                    && object.has_all(&["apiKeySource", "permissionMode"])
                    && !object.has_any(&[
                        "tools",
                        "uuid",
                        "mcp_servers",
                        "slash_commands",
                        "agents",
                    ])
                    && !object.has_any(&["claude_code_version", "output_style", "fast_mode_state"]);
                if is_own { Evidence::Certain } else { Evidence::Possible }
            }
            "user" | "assistant" => {
                let Some(message) = message(object) else { return Evidence::None };
                if object.has_any(&["model_call_id", "timestamp_ms"]) {
                    return Evidence::Certain;
                }
                // Every record of Cursor names its session.
                let is_bare =
                    !object.has_any(&["parent_tool_use_id", "uuid"]) && !message.has("id");
                Evidence::possible_if(is_bare && object.has("session_id"))
            }
            "result" => {
                let is_own = object.has_all(&["duration_api_ms", "request_id"]);
                if is_own && !object.has_any(&["num_turns", "uuid"]) {
                    return Evidence::Certain;
                }
                Evidence::possible_if(object.has("duration_api_ms") && !object.has("uuid"))
            }
            _ => Evidence::None,
        }
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        object.get_str("session_id")
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<JsonLine<'a>> {
        JsonLine::parse(object, header)
    }

    fn line(&self, line: JsonLine<'_>, extra: Extra, memory: &mut CursorMemory, cx: &mut Cx<'_>) {
        if memory.last_at.is_none() && cx.at.is_some() {
            cx.session(Session { started_at: cx.at, ..Session::default() });
        }
        memory.last_at = cx.at.or(memory.last_at);
        match line {
            JsonLine::Init(facts) => {
                memory.begin(cx);
                cx.session(facts);
            }
            JsonLine::Message { is_user, is_piece, id, content } => {
                let (content, more) = cx.content("message", content);
                let entry_type = match is_user {
                    true => NormalizedEntryType::UserMessage,
                    false => NormalizedEntryType::AssistantMessage,
                };
                let extra = extra.into_iter().chain(more).collect();
                let text = content.text.clone();
                let entry = cx.draft(entry_type, content, (id, extra));
                memory.message(entry, is_piece, cx);
                if !is_user && !is_piece {
                    memory.said = memory.said.saturating_add(text.length());
                    memory.last_words = text;
                }
            }
            JsonLine::Thinking(text) => {
                memory.growing.grow(cx.draft(NormalizedEntryType::Thinking, text, extra), cx);
            }
            JsonLine::Thought => memory.growing.close(cx),
            JsonLine::Started(call) => started(&call, extra, cx),
            JsonLine::Completed(call) => completed(&call, extra, cx),
            JsonLine::Result { words, facts, usage } => memory.result(words, facts, usage, cx),
        }
    }

    fn end(&self, memory: &mut CursorMemory, cx: &mut Cx<'_>) {
        memory.begin(cx);
    }
}

impl CursorMemory {
    /// Resets the state at the beginning of a run or the end of the log.
    fn begin(&mut self, cx: &mut Cx<'_>) {
        self.growing.close(cx);
        (self.said, self.last_words) = (0, Text::default());
    }

    fn message(&mut self, entry: NormalizedEntry, is_piece: bool, cx: &mut Cx<'_>) {
        match is_piece {
            true => self.growing.grow(entry, cx),
            false if !entry.content.decode().trim().is_empty() => self.growing.say(entry, cx),
            false => {}
        }
    }

    fn result(
        &mut self,
        words: Option<Text>,
        mut facts: Session,
        usage: TokenUsage,
        cx: &mut Cx<'_>,
    ) {
        let is_error = facts.outcome == Some(Outcome::Failed);
        cx.at = self.last_at;
        let is_repeated = |text: &Text| {
            text.length() == self.said && text.decode().ends_with(&*self.last_words.decode())
        };
        let news = words.filter(|text| !is_repeated(text));
        self.begin(cx);
        if let Some(text) = news {
            facts.outcome_reason = is_error.then(|| text.clone()).or(facts.outcome_reason);
            cx.entry(kind_of_answer(is_error), text, ());
        }
        cx.session(Session { ended_at: cx.at, ..facts });
        cx.usage(usage);
    }
}

fn started(call: &ToolCall<'_>, mut extra: Extra, cx: &mut Cx<'_>) {
    let mapped = action_mapper::map(&call.kind, &call.name, call.args, cx.cwd().as_deref());
    extra.extend(call.facts.iter().cloned());
    cx.call(call.id.clone(), &call.name, mapped, (call.message_id.clone(), extra));
}

fn completed(call: &ToolCall<'_>, extra: Extra, cx: &mut Cx<'_>) {
    let is_begun = call.id.as_ref().is_none_or(|id| cx.calls().knows(id));
    if !is_begun && call.args.is_some() {
        // Its start time is unknown.
        let ended_at = cx.at.take();
        started(call, Extra::new(), cx);
        cx.at = ended_at;
    }
    let mut result = answer::read(call, cx);
    result.extra.extend(call.facts.iter().cloned().chain(extra));
    cx.result(ResultKey::from(call.id.clone()).with_tool(&*call.name), result);
}
