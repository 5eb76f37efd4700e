//! The threads that Amp kept, `~/.local/share/amp/threads/T-<id>.json`.

use std::sync::Arc;

use foldline::source::Opener;
use serde::{Deserialize, Serialize};

use super::{action_mapper, result::AmpResult};
use crate::{
    Documents,
    dialect::{
        anthropic::{Block, BlockKind},
        usage::{take_counters, with_cache},
    },
    prelude::*,
};

/// A thread: one document, which Amp writes again whenever it changes. Each message states its tokens once.
#[derive(Clone, Copy, Debug, Default)]
pub struct AmpThread;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AmpThreadMemory {
    /// The time of the latest message that states one.
    at: Option<Timestamp>,
}

type Cx<'s> = Context<'s, AmpResult>;

/// The number of writes, the traces of the program, and what other fields repeat.
const VOLATILE: [&str; 5] = ["v", "nextMessageId", "meta", "~debug", "usageLedger"];

impl Executor for AmpThread {
    const FORMAT: Format = Format::new("amp-thread", "Amp, thread file", "amp").with_homes(&[
        "${AMP_THREADS_DIR:-~/.local/share/amp/threads}",
        "${XDG_DATA_HOME:-~/.local/share}/amp/threads",
    ]);
    type Line<'a> = ThreadDocument<'a>;
    type Result = AmpResult;
    type Memory = AmpThreadMemory;

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        vec![Arc::new(Documents {
            is_one: |_, fields| {
                ["v", "id", "created"].iter().all(|name| fields.iter().any(|it| it == name))
            },
            recognised_by: &["id", "created"],
            list: "messages",
            volatile: &VOLATILE,
            line: 0,
        })]
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let is_thread = object.get_str("id").is_some_and(|id| id.starts_with("T-"));
        Evidence::certain_if(is_thread && object.has_all(&["created", "messages"]))
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<ThreadDocument<'a>> {
        if self.recognise(object) != Evidence::Certain {
            return Parsed::Unknown;
        }
        header.name = "thread".into();
        Parsed::Line(ThreadDocument::take(object))
    }

    fn line(&self, line: Self::Line<'_>, extra: Extra, memory: &mut Self::Memory, cx: &mut Cx<'_>) {
        let ThreadDocument { facts, mode, messages } = line;
        cx.at = memory.at.or(facts.started_at);
        cx.session(facts);
        if let Some(mode) = mode {
            cx.entry(NormalizedEntryType::SystemMessage, format!("agent mode: {mode}"), extra);
        }
        for message in messages {
            cx.at = message.at.or(cx.at);
            tell(message, cx);
        }
        memory.at = cx.at;
    }
}

fn tell(message: Message<'_>, cx: &mut Cx<'_>) {
    let Message { id, is_user, blocks, model, usage, is_cancelled, unknown, .. } = message;
    let mut meta = Meta::from(cx.unknown_fields("message", &unknown));
    let kind = match is_user {
        true => NormalizedEntryType::UserMessage,
        false => NormalizedEntryType::AssistantMessage,
    };
    if model.is_some() && cx.known().model != model {
        cx.session(Session { model: model.clone(), ..Session::default() });
    }
    for block in blocks {
        match block {
            Part::Block(block) if is_blank(&block.kind) => {}
            Part::Block(block) => show(block, kind.clone(), &mut meta, cx),
            Part::Answer(answer) => result(answer, cx),
        }
    }
    if is_cancelled {
        cx.entry(NormalizedEntryType::SystemMessage, "cancelled", meta.next());
    }
    let thread = cx.known().session_id.clone();
    let key = thread.zip(id).map(|(thread, id)| Text::from(format!("{thread}/{id}")));
    cx.usage_of_message(key, model, usage);
}

fn show(block: Block<'_>, kind: NormalizedEntryType, meta: &mut Meta, cx: &mut Cx<'_>) {
    let more = cx.unknown_fields("block", &block.unknown);
    meta.extra.extend(more);
    match block.kind {
        BlockKind::Text(content) | BlockKind::Media(content) => {
            cx.entry(kind, content, meta.next());
        }
        BlockKind::Thinking(text) => cx.entry(NormalizedEntryType::Thinking, text, meta.next()),
        BlockKind::RedactedThinking => {
            cx.entry(NormalizedEntryType::Thinking, "[redacted]", meta.next());
        }
        BlockKind::ToolUse(call) => {
            let mapped = action_mapper::map(&call.name, call.input, cx.cwd().as_deref());
            cx.call(call.id, &call.name, mapped, meta.next());
        }
        BlockKind::ToolResult(answer) => {
            cx.entry(NormalizedEntryType::SystemMessage, answer.body, meta.next());
        }
        BlockKind::Unknown { name, raw } => cx.unknown_block(&name, raw),
    }
}

fn result(answer: Answer<'_>, cx: &mut Cx<'_>) {
    let Answer { call, status, result, error, unknown } = answer;
    let extra = cx.unknown_fields("run", &unknown);
    let status = match &*status.decode() {
        "error" => ToolStatus::Failed,
        "cancelled" => ToolStatus::Cancelled,
        "rejected-by-user" => ToolStatus::Denied { reason: error.clone() },
        _ => ToolStatus::Success,
    };
    let body = result.filter(|result| !result.is_null()).map(value::into_text).or(error);
    cx.result(call, AmpResult::new(status, cx.at).with_body(body).with_extra(extra));
}

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
        object.ignore(&VOLATILE);
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
