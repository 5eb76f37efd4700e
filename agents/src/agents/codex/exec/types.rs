//! The wire types of `codex exec --json`.
//!
//! This covers releases from 2025 to September 2026, and the app server's variant of the same lines (camelCase words,
//! `timestamp` and `thread_id` on every line) as forwarded by harnesses.

use crate::{
    codex::{snake, take_usage, tools::Tool},
    prelude::*,
};

/// One record of the stream.
#[derive(Clone, Debug)]
pub struct ExecLine<'a> {
    pub json: ExecJson<'a>,
    /// The thread: on the first line, and in the app server's variant on all lines.
    pub thread_id: Option<Cow<'a, str>>,
}

/// The content of a record.
#[derive(Clone, Debug)]
pub enum ExecJson<'a> {
    /// `thread.started`: the first line of a run, also of a resumed one.
    ThreadStarted {
        /// The model; only in the app server's variant.
        model: Option<Text>,
    },
    TurnStarted,
    /// `turn.completed`.
    TurnCompleted {
        /// All tokens of the thread so far.
        usage: Option<TokenUsage>,
    },
    /// `turn.failed`, or an `error` line, which usually precedes it with the same text.
    Failed {
        /// The error message, often JSON text.
        message: Text,
    },
    /// `item.started`, `item.updated`, `item.completed`.
    Item(Phase, Item<'a>),
    /// `subagent.completed`: a line of a harness.
    SubagentCompleted(Extra),
}

/// The phase of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Started,
    Updated,
    /// `item.completed`. For messages, thoughts and file changes, it is usually the only line.
    Completed,
}

/// An item: a text or a tool call.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// `item_3`, numbered within the run.
    pub id: Option<Cow<'a, str>>,
    /// Its type, in `snake_case`.
    pub name: Cow<'a, str>,
    pub kind: ItemKind<'a>,
    /// Unknown fields.
    pub unknown: Fields<'a>,
}

/// The content of an item.
#[derive(Clone, Debug)]
pub enum ItemKind<'a> {
    /// `agent_message`.
    Message(Text),
    /// `reasoning`.
    Reasoning(Text),
    Tool(Tool<'a>),
    /// `error`: a warning, not the end of the run.
    Error(Text),
    /// An item of an unknown type, as a whole.
    Unknown(Json),
}

impl<'a> ExecLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let phase = match &*header.name {
            "item.started" => Some(Phase::Started),
            "item.updated" => Some(Phase::Updated),
            "item.completed" => Some(Phase::Completed),
            _ => None,
        };
        let json = match &*header.name {
            "thread.started" => ExecJson::ThreadStarted { model: object.text("model") },
            "turn.started" => {
                object.ignore(&["turn_id"]);
                ExecJson::TurnStarted
            }
            "turn.completed" => {
                object.ignore(&["turn_id"]);
                ExecJson::TurnCompleted { usage: take_usage(object, "usage") }
            }
            "turn.failed" => {
                let error = object.object("error");
                let message = error.and_then(|mut error| error.text("message"));
                ExecJson::Failed { message: message.unwrap_or_default() }
            }
            "error" => ExecJson::Failed { message: object.text("message").unwrap_or_default() },
            "subagent.completed" => {
                let thread_id = object.str("thread_id");
                object.ignore(&["type"]);
                let json =
                    ExecJson::SubagentCompleted(std::mem::take(object).into_extra().collect());
                return Parsed::Line(Self { json, thread_id });
            }
            name => match (phase, object.get("item").and_then(Item::read)) {
                (Some(phase), Some(item)) => {
                    object.ignore(&["item"]);
                    header.name = "item".into();
                    ExecJson::Item(phase, item)
                }
                (Some(_), None) => {
                    header.name = format!("{name} without an item").into();
                    return Parsed::Unknown;
                }
                (None, _) => return Parsed::Unknown,
            },
        };
        Parsed::Line(Self { json, thread_id: object.str("thread_id") })
    }
}

impl<'a> Item<'a> {
    fn read(raw: Raw<'a>) -> Option<Self> {
        let mut object: Object<'a> = value::object(raw)?;
        let id = object.str("id").filter(|id| !id.is_empty());
        // Web searches have two ids, the item's and the provider's.
        object.ignore(&["id"]);
        let name = object.str("type").unwrap_or_default();
        let name = Cow::Owned(snake(&name).into_owned());
        let kind = match &*name {
            "agent_message" => ItemKind::Message(object.text("text").unwrap_or_default()),
            "reasoning" => ItemKind::Reasoning(take_reasoning(&mut object)),
            "error" => ItemKind::Error(object.text("message").unwrap_or_default()),
            name => match Tool::take_item(name, &mut object) {
                Some(tool) => ItemKind::Tool(tool),
                None => {
                    object = Object::default();
                    ItemKind::Unknown(raw.into())
                }
            },
        };
        object.ignore(&["phase", "memory_citation", "memoryCitation"]);
        Some(Self { id, name, kind, unknown: object.rest() })
    }
}

/// `text`, or in the app server's variant `summary[]` and `content[]`.
fn take_reasoning(object: &mut Object<'_>) -> Text {
    let text = object.text("text");
    let summary = object.texts("summary").unwrap_or_default();
    let content = object.texts("content").unwrap_or_default();
    text.unwrap_or_else(|| {
        let parts = if summary.is_empty() { content } else { summary };
        let parts: Vec<_> = parts.iter().map(Text::decode).collect();
        parts.join("\n").into()
    })
}
