//! The wire types of Droid's session files.

use std::borrow::Cow;

use crate::json::Raw;

use crate::{
    conversation::{CorrId, Json, SessionId, Text},
    executors::{
        content::{Blocks, Part},
        executor::{Extra, Header, Parsed},
        wire::{Object, value},
    },
};

/// One record of the file.
#[derive(Clone, Debug)]
pub enum SessionJson<'a> {
    /// `session_start`: the first line.
    Start(SessionStart),
    /// `message`.
    Message(SessionMessage<'a>),
    /// `compaction_state`: the history was replaced by this summary.
    Compaction(Text),
    /// `agent_turn_outcome` or `session_end`: how a turn or the session ended.
    End(SessionEnd),
}

/// The end of a turn or of the session.
#[derive(Clone, Debug)]
pub struct SessionEnd {
    /// `turn` or `session`.
    pub of: &'static str,
    /// How it ended, in the log's word for it.
    pub word: Option<Text>,
    /// Everything else that the record says.
    pub fields: Extra,
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

impl<'a> SessionJson<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &Header<'a>) -> Parsed<Self> {
        object.ignore(&["type"]);
        Parsed::Line(match &*header.name {
            "session_start" => Self::Start(SessionStart::take(object)),
            // The stream's messages have their text beside the type: another format.
            "message" => match object.object("message") {
                Some(message) => Self::Message(SessionMessage::take(object, message)),
                None => return Parsed::Foreign,
            },
            // Repeats the list of the last `TodoWrite` call.
            "todo_state" => {
                object.ignore(&["id", "parentId", "todos", "messageIndex"]);
                return Parsed::Ignored;
            }
            "compaction_state" => {
                object.ignore(&["id", "parentId", "summaryTokens", "summaryKind"]);
                object.ignore(&["anchorMessage", "removedCount"]);
                Self::Compaction(object.text("summaryText").unwrap_or_default())
            }
            "agent_turn_outcome" => Self::End(SessionEnd::take("turn", object)),
            "session_end" => Self::End(SessionEnd::take("session", object)),
            "" => return Parsed::Foreign,
            _ => return Parsed::Unknown,
        })
    }
}

impl SessionEnd {
    /// No sample of these lines was found: the likely word is taken, and everything else is kept.
    fn take(of: &'static str, object: &mut Object<'_>) -> Self {
        let word = ["outcome", "status", "reason"].into_iter().find_map(|key| object.text(key));
        object.ignore(&["id", "parentId"]);
        Self { of, word, fields: std::mem::take(object).into_extra().collect() }
    }
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
    fn take(line: &mut Object<'a>, mut message: Object<'a>) -> Self {
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
        line.adopt("", message);
        taken
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
