//! The wire types of Droid's session files.

use std::borrow::Cow;

use crate::json::Raw;

use crate::{
    conversation::{CorrId, Json, SessionId, Text, Timestamp},
    executors::{
        content::{Blocks, Part},
        wire::{Fields, Irregular, Object, Record, value},
    },
};

/// One record of the file, with what nobody knows of it.
#[derive(Clone, Debug)]
pub struct SessionLine<'a> {
    /// The record.
    pub json: SessionJson<'a>,
    /// Fields that its type does not have, or not with that type.
    pub unknown: Fields<'a>,
    /// When it was written.
    pub timestamp: Option<Timestamp>,
}

/// One record of the file.
#[derive(Clone, Debug)]
pub enum SessionJson<'a> {
    /// `session_start`: the first line.
    Start(SessionStart),
    /// `message`.
    Message(SessionMessage<'a>),
    /// `todo_state`: repeats the list of the last `TodoWrite` call.
    TodoState,
    /// `compaction_state`: the history was replaced by this summary.
    Compaction(Text),
    /// `agent_turn_outcome`: how a turn ended, in the log's word for it.
    TurnOutcome(Option<Text>, Vec<(String, Json)>),
    /// `session_end`: the same of the session.
    End(Option<Text>, Vec<(String, Json)>),
    /// A type that another format of Droid has too, and spelt as it is there. All its fields are in
    /// [`SessionLine::unknown`].
    Foreign(Cow<'a, str>),
    /// A type that this version does not know. All its fields are in [`SessionLine::unknown`].
    Unknown(Cow<'a, str>),
    /// No object.
    Irregular(Irregular<'a>),
}

/// The session's facts.
#[derive(Clone, Debug, Default)]
pub struct SessionStart {
    /// The session's id.
    pub id: Option<SessionId>,
    /// Its title: the first prompt, or what the person called it.
    pub title: Option<Text>,
    /// The directory that the agent works in.
    pub cwd: Option<Text>,
    /// The session that started this one as a sub-agent.
    pub parent: Option<SessionId>,
}

/// What somebody said or did, in blocks.
#[derive(Clone, Debug, Default)]
pub struct SessionMessage<'a> {
    /// The message's id.
    pub id: Option<Text>,
    /// `user` or `assistant`. Results of tools are in messages of the user.
    pub role: Cow<'a, str>,
    /// Whether only the model was to see it: context that nobody typed.
    pub hidden: bool,
    /// The model that wrote it.
    pub model: Option<Text>,
    /// How hard that model was told to think.
    pub reasoning_effort: Option<Text>,
    /// What it holds.
    pub blocks: Vec<SessionBlock<'a>>,
}

/// A part of a message.
#[derive(Clone, Debug)]
pub enum SessionBlock<'a> {
    /// `text`; of an `image` a placeholder.
    Text(Text),
    /// `thinking`.
    Thinking(Text),
    /// `tool_use`.
    ToolUse {
        /// The call's id.
        id: Option<CorrId>,
        /// The tool.
        name: Cow<'a, str>,
        /// What it is given.
        input: Option<Raw<'a>>,
    },
    /// `tool_result`.
    ToolResult {
        /// The id of the call.
        id: Option<CorrId>,
        /// What came back.
        content: Blocks,
        /// Whether the tool failed; absent on success.
        is_error: bool,
    },
    /// `redacted_thinking`: encrypted.
    Nothing,
    /// A type that this version does not know.
    Unknown(String, Json),
}

impl<'a> From<Record<'a>> for SessionLine<'a> {
    fn from(record: Record<'a>) -> Self {
        let mut object = match record {
            Record::Object(object) => object,
            Record::Irregular(irregular) => return Self::from(SessionJson::Irregular(irregular)),
        };
        let timestamp = object.timestamp("timestamp");
        let kind = object.str("type").unwrap_or_default();
        let json = match &*kind {
            "session_start" => SessionJson::Start(SessionStart::take(&mut object)),
            // The stream's messages have their text beside the type: another format.
            "message" => match object.object("message") {
                Some(message) => {
                    let (message, rest) = SessionMessage::take(&mut object, message);
                    let mut unknown = object.rest();
                    unknown.extend(rest);
                    return Self { json: SessionJson::Message(message), unknown, timestamp };
                }
                None => SessionJson::Foreign(kind),
            },
            "todo_state" => {
                object.ignore(&["id", "parentId", "todos", "messageIndex"]);
                SessionJson::TodoState
            }
            "compaction_state" => {
                object.ignore(&["id", "parentId", "summaryTokens", "summaryKind"]);
                object.ignore(&["anchorMessage", "removedCount"]);
                SessionJson::Compaction(object.text("summaryText").unwrap_or_default())
            }
            "agent_turn_outcome" => {
                let (word, fields) = take_outcome(&mut object);
                SessionJson::TurnOutcome(word, fields)
            }
            "session_end" => {
                let (word, fields) = take_outcome(&mut object);
                SessionJson::End(word, fields)
            }
            _ => SessionJson::Unknown(kind),
        };
        Self { json, unknown: object.rest(), timestamp }
    }
}

impl<'a> From<SessionJson<'a>> for SessionLine<'a> {
    fn from(json: SessionJson<'a>) -> Self {
        Self { json, unknown: Fields::new(), timestamp: None }
    }
}

/// No sample of these lines was found: the likely word is taken, and everything else is kept.
fn take_outcome(object: &mut Object<'_>) -> (Option<Text>, Vec<(String, Json)>) {
    let word = ["outcome", "status", "reason"].into_iter().find_map(|key| object.text(key));
    object.ignore(&["id", "parentId"]);
    (word, std::mem::take(object).into_extra().collect())
}

impl SessionStart {
    fn take(object: &mut Object<'_>) -> Self {
        let title = object.text("title");
        let own_title = object.text("sessionTitle");
        let is_own = object.bool("isSessionTitleManuallySet").unwrap_or(false);
        let start = Self {
            id: object.str("id").map(SessionId::from),
            title: own_title.filter(|_| is_own).or(title),
            cwd: object.text("cwd"),
            parent: object.str("callingSessionId").map(SessionId::from),
        };
        // `version` is the file's, not the program's.
        object.ignore(&["owner", "version", "hostId"]);
        start
    }
}

impl<'a> SessionMessage<'a> {
    fn take(line: &mut Object<'a>, mut message: Object<'a>) -> (Self, Fields<'a>) {
        line.ignore(&["parentId"]);
        message.ignore(&["interactionMode", "openaiMessageId"]);
        let content = message.raw("content");
        let taken = Self {
            id: line.text("id"),
            role: message.str("role").unwrap_or_default(),
            hidden: message
                .take("visibility", |raw| (raw.get() == r#""llm_only""#).then_some(()))
                .is_some(),
            model: message.text("modelId"),
            reasoning_effort: message.text("reasoningEffort"),
            blocks: content.map(SessionBlock::read_all).unwrap_or_default(),
        };
        (taken, message.rest())
    }
}

impl<'a> SessionBlock<'a> {
    /// Reads an array of blocks, or a plain string.
    fn read_all(content: Raw<'a>) -> Vec<Self> {
        match value::elements(content) {
            Some(blocks) => blocks.into_iter().flat_map(Self::read).collect(),
            None => Self::read(content),
        }
    }

    fn read(raw: Raw<'a>) -> Vec<Self> {
        let mut block: Object<'a> = value::object(raw).unwrap_or_default();
        let kind = block.str("type").unwrap_or_default();
        let read = match &*kind {
            "tool_use" => Self::ToolUse {
                id: block.corr_id("id"),
                name: block.str("name").unwrap_or_default(),
                input: block.raw("input"),
            },
            "tool_result" => Self::ToolResult {
                id: block.corr_id("tool_use_id"),
                content: block.raw("content").map(Blocks::read).unwrap_or_default(),
                is_error: block.bool("is_error").unwrap_or(false),
            },
            "thinking" => Self::Thinking(block.text("thinking").unwrap_or_default()),
            "redacted_thinking" => Self::Nothing,
            _ => {
                let Blocks { parts, unknown } = Blocks::read(raw);
                let parts = parts.into_iter().map(|part| match part {
                    Part::Text(text) => Self::Text(text),
                    Part::Placeholder(text) => Self::Text(text.into()),
                });
                let unknown = unknown.into_iter().map(|(name, block)| Self::Unknown(name, block));
                return parts.chain(unknown).collect();
            }
        };
        vec![read]
    }
}
