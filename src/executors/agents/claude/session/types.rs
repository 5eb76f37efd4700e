//! The wire types of session files, releases 1.0.111 to 2.1.209.

use std::borrow::Cow;

use super::{
    attachment,
    content::{fingerprint, take_message},
    progress::{self, Progress},
};
use crate::{
    conversation::{CorrId, NormalizedEntryType, Text},
    executors::{
        Extra, Header, Parsed,
        claude::{
            markup,
            notice::{api_error, compaction},
        },
        dialect::anthropic::{Message, error_message},
        wire::{Object, value},
    },
    json::Raw,
};

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
    /// The sub-agent.
    pub agent_id: Option<Text>,
}

/// One record of a session file.
#[derive(Clone, Debug)]
pub enum ClaudeSessionJson<'a> {
    /// `user`: a prompt, a tool's result, or a message of the program in the user's name.
    User {
        message: Message<'a>,
        /// The tool-specific result.
        detail: Option<Raw<'a>>,
        /// The reasons why tools did not run.
        meta: Option<Vec<Raw<'a>>>,
        /// Whether the program wrote it, not the user.
        from_program: bool,
    },
    /// `assistant`: usually one block of a message.
    Assistant {
        message: Message<'a>,
        /// Whether the program generated it after a failure.
        is_error: bool,
    },
    /// `system` and attachments: a message of the program or context for the model.
    Said(NormalizedEntryType, Vec<Text>),
    Progress {
        call: Option<CorrId>,
        progress: Progress<'a>,
    },
    /// An attachment of an unknown type.
    UnknownAttachment(Cow<'a, str>, Raw<'a>),
    /// `ai-title` and `summary`.
    Title(Text),
    PullRequest(Text, Extra),
    /// Known bookkeeping without displayable content.
    Quiet,
}

/// Known, unused fields of all records in the tree.
const COMMON: [&str; 15] = [
    "entrypoint",
    "level",
    "logicalParentUuid",
    "parentToolUseID",
    "parentUuid",
    "permissionMode",
    "promptId",
    "requestId",
    "session_id",
    "slug",
    "subtype",
    "toolUseID",
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
        let content = ["content", "attachment", "data"].iter().find_map(|key| object.get(key));
        let mut content = content.map_or(0, fingerprint);
        let json = match &*kind {
            "user" => take_user(object, &mut content),
            "assistant" => take_assistant(object, &mut content),
            "system" => take_system(&header.name, object),
            "progress" => take_progress(object),
            "attachment" => object.raw("attachment").map(|raw| {
                object.ignore(&["rendered"]);
                match attachment::read(raw, object) {
                    Ok((kind, texts)) => ClaudeSessionJson::Said(kind, texts),
                    Err(name) => ClaudeSessionJson::UnknownAttachment(name, raw),
                }
            }),
            _ => take_bookkeeping(&kind, object),
        };
        let Some(json) = json else {
            if let Some(data) = object.get("data").filter(|_| kind == "progress") {
                let data = value::object(data).unwrap_or_default();
                let kind = data.get_str("type").unwrap_or_default();
                header.name = format!("progress/{kind}").into();
            }
            return Parsed::Unknown;
        };
        let author = Author::take(object);
        object.ignore(&COMMON);
        Parsed::Line(Self { json, author, content })
    }
}

impl Author {
    fn take(object: &mut Object<'_>) -> Self {
        Self {
            is_sidechain: object.bool("isSidechain").unwrap_or(false),
            cwd: object.text("cwd"),
            branch: object.text("gitBranch").filter(|branch| !branch.is_empty()),
            session_id: object.text("sessionId"),
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
    // A search for the key in the text avoids a second parse of nearly every message.
    message.get().contains("\"parts\"")
        && value::object(message)
            .is_some_and(|message| message.has("parts") && !message.has("content"))
}

fn take_user<'a>(object: &mut Object<'a>, content: &mut u64) -> Option<ClaudeSessionJson<'a>> {
    let message = take_message(object, content)?;
    let origin = object.object("origin").and_then(|mut origin| origin.str("kind"));
    let by_system = object.str("promptSource").is_some_and(|source| source == "system");
    let flags = ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"];
    let is_flagged = flags.map(|flag| object.bool(flag).unwrap_or(false)).contains(&true);
    object.ignore(&[
        "imagePasteIds",
        "planContent",
        "sourceToolAssistantUUID",
        "sourceToolUseID",
        "thinkingMetadata",
        "todos",
    ]);
    Some(ClaudeSessionJson::User {
        message,
        detail: object.raw("toolUseResult"),
        meta: object.array("toolResultMeta"),
        from_program: is_flagged || by_system || origin.is_some_and(|kind| kind != "human"),
    })
}

fn take_assistant<'a>(object: &mut Object<'a>, content: &mut u64) -> Option<ClaudeSessionJson<'a>> {
    let message = take_message(object, content)?;
    let is_error = object.bool("isApiErrorMessage").unwrap_or(false);
    let is_error = object.raw("error").is_some() || is_error;
    object.ignore(&["apiErrorStatus", "attributionAgent", "attributionPlugin", "attributionSkill"]);
    Some(ClaudeSessionJson::Assistant { message, is_error })
}

fn take_system<'a>(name: &str, object: &mut Object<'a>) -> Option<ClaudeSessionJson<'a>> {
    let mut kind = NormalizedEntryType::SystemMessage;
    let texts = match name {
        "system/compact_boundary" | "system/microcompact_boundary" => {
            let content = object.str("content").unwrap_or("conversation compacted".into());
            let names = ["compactMetadata", "microcompactMetadata"];
            vec![compaction(object, &names, &content)]
        }
        "system/api_error" => {
            object.ignore(&["cause"]);
            let delay = object.f64("retryInMs");
            let error = object.raw("error");
            let status = error.and_then(value::object).and_then(|mut error| error.u64("status"));
            let attempts = ["retryAttempt", "maxRetries"].map(|key| object.u64(key));
            kind = NormalizedEntryType::ErrorMessage;
            vec![api_error(status, error.map(error_message).as_ref(), attempts, delay)]
        }
        "system/local_command" | "system/away_summary" => {
            let (_, text) = markup::read(object.text("content").unwrap_or_default());
            vec![text]
        }
        "system/stop_hook_summary" => {
            object.ignore(&["hookAdditionalContext", "hookCount", "hookInfos", "hasOutput"]);
            let errors = object.array("hookErrors").unwrap_or_default();
            let prevented = object.bool("preventedContinuation").unwrap_or(false);
            // The reason why the agent must stop or continue.
            let reason = object.text("stopReason");
            let reason = reason.filter(|reason| prevented || !reason.is_empty());
            let words = errors.into_iter().map(value::into_text).chain(reason);
            words.map(|text| Text::from(format!("stop hook: {text}"))).collect()
        }
        "system/turn_duration" => {
            object.ignore(&["durationMs", "messageCount"]);
            return Some(ClaudeSessionJson::Quiet);
        }
        _ => return None,
    };
    Some(ClaudeSessionJson::Said(kind, texts))
}

fn take_progress<'a>(object: &mut Object<'a>) -> Option<ClaudeSessionJson<'a>> {
    let progress = Progress::take(object)?;
    let call = progress::take_call(object);
    Some(ClaudeSessionJson::Progress { call, progress })
}

fn take_bookkeeping<'a>(kind: &str, object: &mut Object<'a>) -> Option<ClaudeSessionJson<'a>> {
    let fields: &[&str] = match kind {
        "summary" => {
            object.ignore(&["leafUuid"]);
            return object.text("summary").map(ClaudeSessionJson::Title);
        }
        "ai-title" => return object.text("aiTitle").map(ClaudeSessionJson::Title),
        "pr-link" => {
            let fields = object.extra(&["prNumber", "prRepository"]);
            return object.text("prUrl").map(|url| ClaudeSessionJson::PullRequest(url, fields));
        }
        "file-history-snapshot" => &["messageId", "snapshot", "isSnapshotUpdate"],
        "file-history-delta" => &["messageId", "snapshotMessageId", "trackingPath", "backup"],
        "queue-operation" => &["operation", "content"],
        "last-prompt" => &["lastPrompt", "leafUuid"],
        "permission-mode" | "mode" => &["permissionMode", "mode"],
        _ => return None,
    };
    object.ignore(fields);
    Some(ClaudeSessionJson::Quiet)
}
