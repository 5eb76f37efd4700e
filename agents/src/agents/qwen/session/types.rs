//! The wire types of session files, releases 0.12 to 0.23.

use super::parts::{self, Part};
use crate::{prelude::*, qwen::take_counters};

/// One record of a session file.
#[derive(Clone, Debug)]
pub struct SessionLine<'a> {
    pub json: SessionJson<'a>,
    pub uuid: Option<Text>,
    /// Whether it was copied from the session that this one was forked from.
    pub is_copy: bool,
    /// The facts of the session.
    pub session: Session,
}

/// The content of a record.
#[derive(Clone, Debug)]
pub enum SessionJson<'a> {
    /// `user` and `assistant`: a message whose texts are entries of this kind.
    Message {
        kind: NormalizedEntryType,
        parts: Vec<Part<'a>>,
        /// Further fields of a prompt.
        facts: Extra,
        usage: TokenUsage,
    },
    /// `tool_result`.
    ToolResult { parts: Vec<Part<'a>>, detail: Detail },
    /// `system`: a message of the program, or a command of the user.
    Said { kind: NormalizedEntryType, texts: Vec<Text>, facts: Extra },
    /// Only facts of the session.
    Facts,
}

/// `toolCallResult`: the program's data about a tool's result.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    pub call: Option<Text>,
    /// `success`, `error` or `cancelled`.
    pub status: Option<Text>,
    pub error: Option<Text>,
    /// The text for the user, if it is a text.
    pub shown: Option<Text>,
    /// The diff for the user.
    pub diff: Option<Text>,
    /// Further fields.
    pub facts: Extra,
}

/// Subtypes of bookkeeping records, which are not part of the conversation.
const BOOKKEEPING: [&str; 14] = [
    "agent_bootstrap",
    "agent_retry",
    "agent_session_ready",
    "attribution_snapshot",
    "branch_checkpoint",
    "file_history_snapshot",
    "goal_turn_end",
    "session_approval_mode",
    "session_artifact_event",
    "session_artifact_snapshot",
    "session_execution_engine",
    "session_source",
    "session_sources_snapshot",
    "user_text_elements",
];

impl<'a> SessionLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let kind = header.name.clone();
        let subtype = object.get_str("subtype");
        if let Some(subtype) = &subtype {
            header.name = format!("{kind}/{subtype}").into();
        }
        let mut session = Session::default();
        let read = match &*kind {
            "user" => Parsed::Line(SessionJson::user(subtype.as_deref(), object)),
            "assistant" => Parsed::Line(SessionJson::assistant(object, &mut session)),
            "tool_result" => Parsed::Line(SessionJson::tool_result(object)),
            "system" => SessionJson::system(&subtype.unwrap_or_default(), object, &mut session),
            // A first record without a type.
            "" if object.has("sessionId") => {
                header.name = "session".into();
                Parsed::Line(SessionJson::Facts)
            }
            _ => Parsed::Unknown,
        };
        if matches!(read, Parsed::Unknown) {
            return Parsed::Unknown;
        }
        let is_copy = take_session(object, &mut session);
        let uuid = object.text("uuid");
        read.map(|json| Self { json, uuid, is_copy, session })
    }
}

/// Takes the session fields of every record. Returns whether the record is a copy from another session.
fn take_session(object: &mut Object<'_>, session: &mut Session) -> bool {
    object.ignore(&["subtype", "parentUuid", "provenance", "promptId", "goalContext"]);
    object.ignore(&["agentColor", "agentRunId", "agentRound", "contextWindowSize"]);
    let origin = object.object("forkedFrom");
    let is_copy = origin.is_some();
    let origin = origin.and_then(|mut origin| origin.str("sessionId").map(SessionId::from));
    let id = object.str("sessionId").map(SessionId::from);
    let agent_id = object.str("agentId").map(SessionId::from);
    // The records of a sub-agent name its parent session.
    let is_sidechain = object.bool("isSidechain").unwrap_or(false) && agent_id.is_some();
    let (id, parent) = if is_sidechain {
        (agent_id, id.map(Parent::of_agent))
    } else {
        (id, origin.map(Parent::of_fork))
    };
    session.session_id = id;
    session.parent = parent.map(Box::new).or(session.parent.take());
    session.cwd = object.text("cwd");
    session.branch = object.text("gitBranch").filter(|branch| !branch.is_empty());
    session.version = object.text("version");
    session.title = object.text("agentName").or(session.title.take());
    is_copy
}

fn take_parts<'a>(object: &mut Object<'a>) -> Vec<Part<'a>> {
    object.within("message", parts::take).unwrap_or_default()
}

impl<'a> SessionJson<'a> {
    fn user(subtype: Option<&str>, object: &mut Object<'a>) -> Self {
        let is_prompt = match subtype {
            Some("agent_launch_prompt") => true,
            None | Some("mid_turn_user_message") => {
                object.get_str("provenance").is_none_or(|from| from == "real_user")
            }
            Some(_) => false,
        };
        let kind = match is_prompt {
            true => NormalizedEntryType::UserMessage,
            false => NormalizedEntryType::SystemMessage,
        };
        let mut payload = object.object("systemPayload").unwrap_or_default();
        let mut parts = take_parts(object);
        if parts.is_empty() {
            parts.extend(payload.text("displayText").map(Part::text));
        }
        let facts = payload.into_extra().collect();
        Self::Message { kind, parts, facts, usage: TokenUsage::default() }
    }

    fn assistant(object: &mut Object<'a>, session: &mut Session) -> Self {
        session.model = object.text("model");
        let mut stated = object.object("usageMetadata").unwrap_or_default();
        let fields = [
            "promptTokenCount",
            "candidatesTokenCount",
            "cachedContentTokenCount",
            "thoughtsTokenCount",
            "totalTokenCount",
        ];
        let usage = take_counters(&mut stated, fields);
        stated.ignore(&["toolUsePromptTokenCount", "promptTokensDetails", "cacheTokensDetails"]);
        stated.ignore(&["candidatesTokensDetails", "trafficType"]);
        object.adopt("usageMetadata", stated);
        let (kind, parts) = (NormalizedEntryType::AssistantMessage, take_parts(object));
        Self::Message { kind, parts, facts: Extra::new(), usage }
    }

    fn tool_result(object: &mut Object<'a>) -> Self {
        let detail = object.within("toolCallResult", Detail::take).unwrap_or_default();
        Self::ToolResult { parts: take_parts(object), detail }
    }

    fn system(subtype: &str, object: &mut Object<'a>, session: &mut Session) -> Parsed<Self> {
        let mut payload = object.get("systemPayload").and_then(value::object).unwrap_or_default();
        let mut kind = NormalizedEntryType::SystemMessage;
        let words = match subtype {
            "slash_command" => {
                let line = Self::command(&mut payload);
                object.ignore(&["systemPayload"]);
                object.adopt("systemPayload", payload);
                return Parsed::Line(line);
            }
            "ui_telemetry" => {
                let event = payload.object("uiEvent").unwrap_or_default();
                let line = Self::telemetry(event);
                object.ignore(&["systemPayload", "message"]);
                return line;
            }
            "chat_compression" => {
                kind = NormalizedEntryType::Compaction;
                "conversation compacted"
            }
            "rewind" => "conversation rewound",
            "at_command" => "files read into the prompt",
            "goal_state" => "goal",
            "custom_title" | "parent_session" | "session_model" => {
                session.title = payload.text("customTitle");
                let parent = payload.str("parentSessionId");
                session.parent = parent.map(|id| Box::new(Parent::of_continuation(&*id)));
                session.model = payload.text("modelId");
                payload.ignore(&["titleSource", "authType", "baseUrl", "isRuntime"]);
                object.ignore(&["systemPayload"]);
                object.adopt("systemPayload", payload);
                return Parsed::Line(Self::Facts);
            }
            _ if BOOKKEEPING.contains(&subtype) => {
                object.ignore(&["systemPayload", "message"]);
                return Parsed::Ignored;
            }
            _ => return Parsed::Unknown,
        };
        object.ignore(&["systemPayload"]);
        let facts = payload.into_extra().collect();
        Parsed::Line(Self::Said { kind, texts: vec![words.into()], facts })
    }

    /// Reads a command or its output.
    fn command(payload: &mut Object<'_>) -> Self {
        payload.ignore(&["sentToModel", "hiddenInvocation"]);
        let command = payload.text("rawCommand").unwrap_or_default();
        let shown = payload.array("outputHistoryItems").unwrap_or_default();
        let is_result = payload.str("phase").is_some_and(|phase| phase == "result");
        let (kind, texts) = match is_result || !shown.is_empty() {
            true => (NormalizedEntryType::SystemMessage, shown.into_iter().map(text_of).collect()),
            false => (NormalizedEntryType::UserMessage, vec![command]),
        };
        Self::Said { kind, texts, facts: Extra::new() }
    }

    /// Reads a failed model request. Messages and results contain the other events.
    fn telemetry(mut event: Object<'_>) -> Parsed<Self> {
        let Some(message) = event.text("error_message") else { return Parsed::Ignored };
        event.ignore(&["event.name", "event.timestamp", "prompt_id", "response_id", "auth_type"]);
        let (kind, facts) = (NormalizedEntryType::ErrorMessage, event.into_extra().collect());
        Parsed::Line(Self::Said { kind, texts: vec![message], facts })
    }
}

impl Detail {
    fn take(object: &mut Object<'_>) -> Self {
        // Fields that the message repeats.
        object.ignore(&["responseParts", "contentLength"]);
        let error = object.within("error", |error| error.text("message")).flatten();
        let error = error.or_else(|| object.text("error"));
        let mut display = object.get("resultDisplay").and_then(value::object).unwrap_or_default();
        let diff = display.text("fileDiff");
        let is_list = display.get_str("type").as_deref() == Some("todo_list");
        if diff.is_some() || is_list {
            // Fields that the diff or the call repeats.
            display.ignore(&["fileName", "filePath", "originalContent", "newContent", "diffStat"]);
            display.ignore(&["type", "todos"]);
            object.ignore(&["resultDisplay"]);
            object.adopt("resultDisplay", display);
        }
        let shown = object.text("resultDisplay");
        let execution = object.text("executionStatus");
        Self {
            call: object.text("callId"),
            status: object.text("status").or(execution),
            error,
            shown,
            diff,
            facts: object.extra(&["errorType", "resultDisplay"]),
        }
    }
}

/// The content for the user: a text or another value.
fn text_of(raw: Raw<'_>) -> Text {
    let mut item = value::object(raw).unwrap_or_default();
    item.ignore(&["type"]);
    let text = item.text("text").filter(|_| item.rest().is_empty());
    text.unwrap_or_else(|| Text::from(raw.get()))
}
