//! The wire types of session files, releases 1.0.111 to 2.1.287.

use std::{hash::BuildHasher, sync::LazyLock};

use foldhash::quality::FixedState;
use foldline_json::Raw;
use memchr::memmem::Finder;

use super::{
    attachment, bookkeeping,
    cost_state::CostState,
    progress::{self, Progress},
};
use crate::{
    dialect::anthropic::{BlockKind, Message},
    prelude::*,
    wire::Object,
};

/// One record of a session file.
#[derive(Clone, Debug)]
pub enum ClaudeSessionJson<'a> {
    /// `user`: a prompt, a tool's result, or a message of the program in the user's name.
    User {
        message: Box<Message<'a>>,
        /// The tool-specific result.
        detail: Option<Raw<'a>>,
        /// The reasons why tools did not run.
        meta: Option<Vec<Raw<'a>>>,
        /// The kind of its texts, if the program wrote them, not the user.
        by_program: Option<NormalizedEntryType>,
    },
    /// `assistant`: usually one block of a message.
    Assistant {
        message: Box<Message<'a>>,
        /// Whether the program generated it after a failure.
        is_error: bool,
        /// The effort of its reasoning.
        effort: Option<Text>,
    },
    /// `system` and attachments: a message of the program or context for the model.
    Said(NormalizedEntryType, Vec<Content>),
    Progress {
        call: Option<CorrId>,
        progress: Progress<'a>,
    },
    /// A record without a place in the tree, or an attachment, of an unknown type.
    UnknownBookkeeping {
        name: Cow<'a, str>,
        fields: Fields<'a>,
    },
    /// `system`, of an unknown subtype, with words.
    UnknownSystem {
        name: String,
        text: Text,
    },
    /// `custom-title`: the title that the user gave.
    CustomTitle(Text),
    /// `ai-title`.
    Title(Text),
    /// `summary`: the title of the session with this record.
    Summary(Text, Option<CorrId>),
    /// Facts of the session.
    Facts(Box<Session>),
    /// A notice about a refused request, and the model that answers instead.
    Fallback(Text, Text),
    PullRequest(Text, Extra),
    /// `cost-state`: the cost of a run so far.
    CostState(Box<CostState>),
    /// Known bookkeeping without displayable content.
    Quiet,
}

/// One record of a session file.
#[derive(Clone, Debug)]
pub struct ClaudeSessionLine<'a> {
    pub json: ClaudeSessionJson<'a>,
    pub author: Author,
    /// Distinguishes records with the same uuid and different content.
    pub content: u64,
}

/// The common fields of the records in the tree.
#[derive(Clone, Debug, Default)]
pub struct Author {
    pub uuid: Option<CorrId>,
    /// The session; in the file of a sub-agent, the session that started it.
    pub session_id: Option<Text>,
    /// The working directory at that time.
    pub cwd: Option<Text>,
    /// The branch in that directory at that time.
    pub branch: Option<Text>,
    /// The version of the program at that time.
    pub version: Option<Text>,
    /// Whether a sub-agent wrote it.
    pub is_sidechain: bool,
    /// What the agent may do.
    pub authority: Option<Authority>,
    /// The sub-agent.
    pub agent_id: Option<Text>,
    /// The session whose record this is a copy of.
    pub forked_from: Option<Text>,
}

/// Known, unused fields of all records in the tree.
const COMMON: [&str; 15] = [
    "entrypoint",
    "level",
    "logicalParentUuid",
    "parentToolUseID",
    "parentUuid",
    "promptId",
    "requestId",
    "session_id",
    "slug",
    "subtype",
    "toolUseID",
    "turnOrigin",
    "type",
    "userType",
    "isMeta",
];

impl<'a> ClaudeSessionLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let kind = header.name.clone();
        if let Some(subtype) = object.get_str("subtype").filter(|_| kind == "system") {
            header.name = format!("system/{subtype}").into();
        }
        if is_foreign(&kind, object) {
            return Parsed::Foreign;
        }
        if bookkeeping::is_ignored(&kind) && !object.has("uuid") {
            *object = Object::default();
            return Parsed::Ignored;
        }
        let content = ["content", "attachment", "data"].iter().find_map(|key| object.get(key));
        let mut content = content.map_or(0, fingerprint);
        let json = match &*kind {
            "user" => take_user(object, &mut content),
            "assistant" => take_assistant(object, &mut content),
            "system" => bookkeeping::take_system(&header.name, object),
            "progress" => take_progress(object),
            "attachment" => object.raw("attachment").map(|raw| {
                object.ignore(&["rendered"]);
                match attachment::read(raw, object) {
                    Ok((kind, texts)) => ClaudeSessionJson::Said(kind, texts),
                    Err(name) => ClaudeSessionJson::UnknownBookkeeping {
                        name: format!("attachment/{name}").into(),
                        fields: vec![("attachment".into(), raw)],
                    },
                }
            }),
            // A record without an id is not part of the tree.
            _ => bookkeeping::take(&kind, object).or_else(|| {
                let is_bookkeeping = !kind.is_empty() && !object.has("uuid");
                is_bookkeeping.then(|| ClaudeSessionJson::UnknownBookkeeping {
                    name: kind.clone(),
                    fields: std::mem::take(object).rest(),
                })
            }),
        };
        let Some(json) = json else {
            if let Some(data) = object.get("data").filter(|_| kind == "progress") {
                let data = value::object(data).unwrap_or_default();
                let kind = data.get_str("type").unwrap_or_default();
                header.name = format!("progress/{kind}").into();
            }
            return Parsed::Unknown;
        };
        let author = Author::take(&kind, object);
        object.ignore(&COMMON);
        Parsed::Line(Self { json, author, content })
    }

    /// Whether the conversation may end after this record: it has words, and is neither a call nor a result.
    pub(super) fn may_end(&self) -> bool {
        let has_words = match &self.json {
            ClaudeSessionJson::User { message, .. }
            | ClaudeSessionJson::Assistant { message, .. } => {
                let is = |kind: fn(&BlockKind<'_>) -> bool| {
                    message.content.iter().any(|it| kind(&it.kind))
                };
                let has_work =
                    is(|kind| matches!(kind, BlockKind::ToolUse(_) | BlockKind::ToolResult(_)));
                is(|kind| matches!(kind, BlockKind::Text(_))) && !has_work
            }
            ClaudeSessionJson::Said(_, texts) => !texts.is_empty(),
            ClaudeSessionJson::UnknownSystem { .. } | ClaudeSessionJson::Fallback(..) => true,
            _ => false,
        };
        has_words && self.author.uuid.is_some() && !self.author.is_sidechain
    }
}

impl Author {
    fn take(kind: &str, object: &mut Object<'_>) -> Self {
        let is_context = kind == "fork-context-ref";
        let forked_from = object.object("forkedFrom").and_then(|mut it| it.text("sessionId"));
        Self {
            forked_from,
            // The context that a sub-agent began with is only stated in its file.
            is_sidechain: object.bool("isSidechain").unwrap_or(is_context),
            cwd: object.text("cwd"),
            branch: object.text("gitBranch").filter(|branch| !branch.is_empty()),
            session_id: object.text("sessionId"),
            authority: object.text("permissionMode").map(Authority::of_mode),
            version: object.text("version"),
            uuid: object.corr_id("uuid"),
            agent_id: object.text("agentId"),
        }
    }
}

/// Lines of streams name the session field differently, and use types that session files do not have.
fn is_foreign(kind: &str, object: &Object<'_>) -> bool {
    match kind {
        "user" | "assistant" | "system" => {
            (object.has("session_id") && !object.has("sessionId"))
                || object.get("message").is_some_and(has_parts)
        }
        "result" | "stream_event" | "rate_limit_event" => true,
        _ => false,
    }
}

/// Only this distinguishes Qwen Code's session files.
fn has_parts(message: Raw<'_>) -> bool {
    static CONTENT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"content\""));
    static PARTS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"parts\""));
    // A search for the keys in the text avoids a second parse of nearly every message. The content comes early.
    let text = message.get().as_bytes();
    let before = CONTENT.find(text).map_or(text, |at| &text[..at]);
    PARTS.find(before).is_some()
        && value::object(message)
            .is_some_and(|message| message.has("parts") && !message.has("content"))
}

fn take_user<'a>(object: &mut Object<'a>, content: &mut u64) -> Option<ClaudeSessionJson<'a>> {
    let message = Box::new(take_message(object, content)?);
    let origin = object.object("origin").and_then(|mut origin| origin.str("kind"));
    let by_system = object.str("promptSource").is_some_and(|source| source == "system");
    let flags = ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"];
    let flags = flags.map(|flag| object.bool(flag).unwrap_or(false));
    let is_from_program =
        flags.contains(&true) || by_system || origin.is_some_and(|kind| kind != "human");
    let [_, is_summary, _] = flags;
    let by_program = match is_summary {
        true => Some(NormalizedEntryType::Continuation),
        false => is_from_program.then_some(NormalizedEntryType::SystemMessage),
    };
    object.ignore(&[
        "imagePasteIds",
        "planContent",
        "sourceToolAssistantUUID",
        "sourceToolUseID",
        "thinkingMetadata",
        "todos",
    ]);
    object.ignore(&["classifierMetaLines", "interruptedByShutdown", "interruptedMessageId"]);
    object.ignore(&["queueSkipAttachments"]);
    object.ignore(&["mcpMeta", "sessionKind", "toolDenialKind", "toolEndsTurn", "turnCompanion"]);
    Some(ClaudeSessionJson::User {
        message,
        detail: object.raw("toolUseResult"),
        meta: object.array("toolResultMeta"),
        by_program,
    })
}

fn take_assistant<'a>(object: &mut Object<'a>, content: &mut u64) -> Option<ClaudeSessionJson<'a>> {
    let mut message = Box::new(take_message(object, content)?);
    // Old releases state the cost. Zero is that of a subscription, and no price.
    let cost_usd = object.f64("costUSD").filter(|cost| cost.is_finite() && *cost > 0.0);
    message.usage = message.usage.map(|usage| TokenUsage { cost_usd, ..usage });
    object.ignore(&["durationMs"]);
    let is_error = object.bool("isApiErrorMessage").unwrap_or(false);
    let is_error = object.raw("error").is_some() || is_error;
    object.ignore(&["apiErrorStatus", "attributionAgent", "attributionPlugin", "attributionSkill"]);
    object.ignore(&["errorDetails", "isAbortedMidStream", "supersedesUuids"]);
    object.ignore(&["apiBlockIndex", "perTurnEffort", "wireToolInputs"]);
    let effort = object.text("effort");
    Some(ClaudeSessionJson::Assistant { message, is_error, effort })
}

fn take_progress<'a>(object: &mut Object<'a>) -> Option<ClaudeSessionJson<'a>> {
    let progress = Progress::take(object)?;
    let call = progress::take_call(object);
    Some(ClaudeSessionJson::Progress { call, progress })
}

/// Takes the message of a record, and sets `content` to the fingerprint of its content.
pub(super) fn take_message<'a>(object: &mut Object<'a>, content: &mut u64) -> Option<Message<'a>> {
    let message = object.object("message")?;
    *content = message.get("content").map_or(0, fingerprint);
    Some(Message::take(message))
}

/// A hash that does not depend on the platform. Records with the same uuid are copies only if their content is equal.
pub(super) fn fingerprint(content: Raw<'_>) -> u64 {
    FixedState::with_seed(0).hash_one(content.get())
}
