//! Cursor's transcripts, `~/.cursor/projects/<project>/agent-transcripts/<session>/<session>.jsonl`.

mod action_mapper;
mod texts;

use std::path::Path;

use serde::{Deserialize, Serialize};

use self::texts::TypedText;
use crate::{
    dialect::{
        anthropic::{BlockKind, Message},
        textual_result::TextualResult,
    },
    evidence::message,
    prelude::*,
};

/// A transcript. It has neither times nor results, so the outcome of its calls is unknown; the name of the file states
/// the session.
#[derive(Clone, Debug, Default)]
pub struct CursorTranscript {
    session: Option<SessionId>,
    parent: Option<SessionId>,
}

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TranscriptMemory {
    /// The number of calls, by which they are named.
    calls: u64,
    has_begun: bool,
}

/// One record.
#[derive(Clone, Debug)]
pub enum TranscriptLine<'a> {
    /// A message of the person.
    User(Message<'a>),
    /// A message of the agent.
    Agent(Message<'a>),
    /// The end of a turn, unless it succeeded.
    Ended(Cow<'a, str>),
}

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for CursorTranscript {
    const FORMAT: Format =
        Format::new("cursor-transcript", "Cursor agent, transcript file", "cursor")
            .with_homes(&["~/.cursor/projects"]);
    type Line<'a> = TranscriptLine<'a>;
    type Result = TextualResult;
    type Memory = TranscriptMemory;

    fn of_file(&self, path: &Path) -> Option<Self> {
        let session = SessionId::from(path.file_stem()?.to_str()?);
        let folders: Vec<&str> =
            path.iter().rev().skip(1).take(2).filter_map(|it| it.to_str()).collect();
        let parent = match *folders {
            ["subagents", parent] => Some(SessionId::from(parent)),
            _ => None,
        };
        Some(Self { session: Some(session), parent })
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let role = object.get_str("role").unwrap_or_default();
        let is_bare = !object.has_any(&["type", "uuid", "sessionId", "id", "timestamp"]);
        let is_message = message(object).is_some_and(|message| {
            message.has("content") && !message.has_any(&["role", "id", "model", "usage"])
        });
        Evidence::certain_if(is_bare && is_message && matches!(&*role, "user" | "assistant"))
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<TranscriptLine<'a>> {
        if header.name == "turn_ended" {
            return match object.str("status") {
                Some(status) if status != "success" => Parsed::Line(TranscriptLine::Ended(status)),
                _ => Parsed::Ignored,
            };
        }
        let role = object.get_str("role").unwrap_or_default();
        if !header.name.is_empty() || !matches!(&*role, "user" | "assistant") {
            return Parsed::Unknown;
        }
        let Some(message) = object.object("message") else { return Parsed::Unknown };
        object.ignore(&["role"]);
        header.name = role.clone();
        let message = Message::take(message);
        Parsed::Line(match &*role {
            "user" => TranscriptLine::User(message),
            _ => TranscriptLine::Agent(message),
        })
    }

    fn line(
        &self,
        line: TranscriptLine<'_>,
        extra: Extra,
        memory: &mut TranscriptMemory,
        cx: &mut Cx<'_>,
    ) {
        if !std::mem::replace(&mut memory.has_begun, true) {
            let (session_id, parent_session_id) = (self.session.clone(), self.parent.clone());
            cx.session(Session { session_id, parent_session_id, ..Session::default() });
        }
        match line {
            TranscriptLine::User(message) => {
                memory.message(NormalizedEntryType::UserMessage, message, extra, cx);
            }
            TranscriptLine::Agent(message) => {
                memory.message(NormalizedEntryType::AssistantMessage, message, extra, cx);
            }
            TranscriptLine::Ended(status) => {
                let text = format!("turn ended: {status}");
                cx.entry(NormalizedEntryType::SystemMessage, text, extra);
            }
        }
    }
}

impl TranscriptMemory {
    fn message(
        &mut self,
        kind: NormalizedEntryType,
        message: Message<'_>,
        mut extra: Extra,
        cx: &mut Cx<'_>,
    ) {
        extra.extend(cx.unknown_fields("message", &message.unknown));
        let mut meta = Meta::from(extra);
        for block in message.content {
            let more = cx.unknown_fields("block", &block.unknown);
            meta.extra.extend(more);
            match block.kind {
                BlockKind::Text(content) if kind == NormalizedEntryType::UserMessage => {
                    prompt(content, &mut meta, cx);
                }
                BlockKind::Text(content) => words(content, &mut meta, cx),
                BlockKind::Thinking(text) => {
                    cx.entry(NormalizedEntryType::Thinking, text, meta.next());
                }
                BlockKind::ToolUse(call) => {
                    self.calls += 1;
                    let id = CorrId::from(format!("call {}", self.calls).as_str());
                    let mapped = action_mapper::map(&call.name, call.input, cx.cwd().as_deref());
                    cx.call(Some(id.clone()), &call.name, mapped, meta.next());
                    cx.result(Some(id), TextualResult::new(ToolStatus::Unknown, None));
                }
                BlockKind::RedactedThinking => {
                    cx.entry(NormalizedEntryType::Thinking, texts::REDACTED, meta.next());
                }
                BlockKind::ToolResult(answer) => {
                    cx.entry(NormalizedEntryType::SystemMessage, answer.body, meta.next());
                }
                BlockKind::Media(content) => cx.entry(kind.clone(), content, meta.next()),
                BlockKind::Unknown { name, raw } => cx.unknown_block(&name, raw),
            }
        }
        if !meta.extra.is_empty() {
            cx.entry(kind, Text::default(), meta);
        }
    }
}

/// The text of a message of the person, apart from the context that Cursor adds.
fn prompt(content: Content, meta: &mut Meta, cx: &mut Cx<'_>) {
    let TypedText { typed, context } = TypedText::read(&content.text.decode());
    if !context.is_empty() {
        cx.entry(NormalizedEntryType::SystemMessage, context, meta.next());
    }
    if let Some(typed) = typed {
        let content = content.cut(|_| typed.into());
        cx.entry(NormalizedEntryType::UserMessage, content, meta.next());
    }
}

/// The text of a message of the agent, apart from the mark in place of a thought.
fn words(content: Content, meta: &mut Meta, cx: &mut Cx<'_>) {
    let words = texts::without_mark(&content.text.decode()).map(Text::from);
    match words {
        None => cx.entry(NormalizedEntryType::AssistantMessage, content, meta.next()),
        Some(words) => {
            if !words.is_empty() {
                let content = content.cut(|_| words);
                cx.entry(NormalizedEntryType::AssistantMessage, content, meta.next());
            }
            cx.entry(NormalizedEntryType::Thinking, texts::REDACTED, meta.next());
        }
    }
}
