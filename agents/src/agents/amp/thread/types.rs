//! The wire types of a thread: one document.

use crate::{
    dialect::{
        anthropic::{Block, BlockKind},
        counters::{take_counters, with_cache},
    },
    prelude::*,
};

/// A thread.
#[derive(Clone, Debug)]
pub struct ThreadDocument<'a> {
    pub facts: Session,
    pub mode: Option<Text>,
    pub messages: Vec<Message<'a>>,
}

/// A message.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    pub id: Option<u64>,
    pub is_user: bool,
    pub at: Option<Timestamp>,
    pub blocks: Vec<Part<'a>>,
    pub model: Option<Text>,
    pub usage: TokenUsage,
    /// Whether it was cut off.
    pub is_cancelled: bool,
    pub unknown: Fields<'a>,
}

/// A part of a message.
#[derive(Clone, Debug)]
pub enum Part<'a> {
    /// A text, a thought or a call.
    Block(Block<'a>),
    /// The result of a call.
    Answer(Answer<'a>),
}

/// The result of a call.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    pub call: Option<CorrId>,
    pub status: Text,
    pub result: Option<Raw<'a>>,
    pub error: Option<Text>,
    pub unknown: Fields<'a>,
}

/// Token counters, of which the input excludes cached input.
const COUNTERS: [&str; 5] = [
    "inputTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
    "reasoningTokens",
];

impl<'a> ThreadDocument<'a> {
    pub(super) fn take(object: &mut Object<'a>) -> Self {
        let mut facts = Session {
            session_id: object.str("id").map(SessionId::from),
            title: object.text("title"),
            started_at: object.timestamp("created"),
            ..Session::default()
        };
        let mut environment = object.object("env").unwrap_or_default();
        let mut initial = environment.object("initial").unwrap_or_default();
        if let Some(tree) = initial.array("trees").unwrap_or_default().first() {
            let mut tree = value::object(*tree).unwrap_or_default();
            let uri = tree.str("uri").unwrap_or_default();
            facts.cwd = uri.strip_prefix("file://").map(Text::from);
            let mut repository = tree.object("repository").unwrap_or_default();
            let branch = repository.str("ref").unwrap_or_default();
            facts.branch = branch.strip_prefix("refs/heads/").map(Text::from);
        }
        let mut platform = initial.object("platform").unwrap_or_default();
        facts.version = platform.text("clientVersion");
        // The number of writes, the traces of the program, and what other fields repeat.
        object.ignore(&["v", "nextMessageId", "meta", "~debug", "usageLedger"]);
        let mode = object.text("agentMode");
        let messages = object.array("messages").unwrap_or_default().into_iter();
        let messages = messages.filter_map(|raw| Some(Message::take(value::object(raw)?)));
        Self { facts, mode, messages: messages.collect() }
    }
}

impl<'a> Message<'a> {
    fn take(mut object: Object<'a>) -> Self {
        let blocks = object.array("content").unwrap_or_default().into_iter().map(Part::read);
        let mut used = object.object("usage").unwrap_or_default();
        let usage = with_cache(take_counters(&mut used, COUNTERS));
        let mut state = object.object("state").unwrap_or_default();
        let mut meta = object.object("meta").unwrap_or_default();
        let sent_at = meta.timestamp("sentAt");
        object.ignore(&["userState", "agentMode", "turnElapsedMs", "protocolMessageID", "readAt"]);
        object.ignore(&["blockState", "startTime", "finalTime", "parentToolUseId"]);
        Self {
            id: object.u64("messageId"),
            is_user: object.str("role").as_deref() == Some("user"),
            at: sent_at.or_else(|| used.timestamp("timestamp")),
            blocks: blocks.collect(),
            model: used.text("model"),
            usage,
            is_cancelled: state.str("type").as_deref() == Some("cancelled"),
            unknown: object.rest(),
        }
    }
}

impl<'a> Part<'a> {
    fn read(raw: Raw<'a>) -> Self {
        let mut object = value::object(raw).unwrap_or_default();
        if object.get_str("type").as_deref() == Some("tool_result") {
            return Self::Answer(Answer::take(&mut object));
        }
        let mut block = Block::read(raw);
        block.unknown.retain(|(name, _)| {
            !["provider", "startTime", "finalTime", "complete", "metadata"].contains(&&**name)
        });
        Self::Block(block)
    }
}

impl<'a> Answer<'a> {
    fn take(object: &mut Object<'a>) -> Self {
        let mut run = object.object("run").unwrap_or_default();
        let mut error = run.object("error").unwrap_or_default();
        run.ignore(&["progress", "trackFiles"]);
        let taken = Self {
            call: object.corr_id("toolUseID").or_else(|| object.corr_id("tool_use_id")),
            status: run.text("status").unwrap_or_default(),
            result: run.raw("result"),
            error: error.text("message").or_else(|| run.text("reason")),
            unknown: run.rest(),
        };
        object.ignore(&["type"]);
        taken
    }
}

/// Whether a block is a text of line breaks alone.
pub(super) fn is_blank(kind: &BlockKind<'_>) -> bool {
    matches!(kind, BlockKind::Text(content) if content.text.decode().trim().is_empty())
}
