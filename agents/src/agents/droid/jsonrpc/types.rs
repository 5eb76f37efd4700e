//! The wire types of `stream-jsonrpc`: requests of both sides, responses, and notifications of a session.

use foldline_domain::NormalizedEntryType::{
    AssistantMessage, Compaction, ErrorMessage, SystemMessage,
};

use super::super::{message::BlockMessage, types::take_usage};
use crate::{
    action::is_among,
    content,
    dialect::{
        anthropic::{Block, Message},
        jsonrpc::Rpc,
        notice::{self, Notice, Said},
    },
    prelude::*,
};

/// One record.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// The id of a request or a response.
    pub id: Option<Json>,
    /// The session of a notification: this one or a sub-agent's.
    pub session: Option<Text>,
    pub kind: Kind<'a>,
}

/// The content of a record.
#[derive(Clone, Debug)]
pub enum Kind<'a> {
    Response(Object<'a>),
    /// Not part of the conversation; neither is the response to such a request.
    Quiet,
    Facts(Session),
    /// `droid.add_user_message`
    Prompt(Content),
    /// `droid.request_permission`, for calls that may have been reported before.
    Permission(BlockMessage<'a>),
    /// `permission_resolved`: the calls and the answer.
    Resolved(Vec<CorrId>, Text),
    /// `droid.ask_user`, by a call that may have been reported before.
    Question(CorrId, Option<Raw<'a>>),
    /// `create_message`, `tool_call`, `tool_result`, with the results of hooks.
    Message(BlockMessage<'a>, Extra),
    /// `assistant_text_delta`, `thinking_text_delta`
    Delta {
        message_id: Text,
        index: u64,
        is_thought: bool,
        more: Text,
    },
    /// `tool_execution_phase_changed`: the call is running.
    Running(CorrId),
    /// `tool_progress_update`: the progress of a sub-agent and the id of its session.
    Progress(CorrId, Option<Text>, Option<Said>),
    /// `child_session_available`: the session of a sub-agent, and the call that started it.
    Child(Text, CorrId),
    /// `session_token_usage_changed`: the usage of the session, without and with its sub-agents.
    Usage(TokenUsage, Option<TokenUsage>),
    Turn(Turn),
    /// An error of the turn or of a request.
    Error(Said),
    /// Any other message.
    Said(Said),
}

/// `agent_turn_completed`
#[derive(Clone, Debug, Default)]
pub struct Turn {
    pub outcome: Option<Outcome>,
    /// The reason in the log's own word.
    pub reason: Option<Text>,
    pub duration_ms: Option<u64>,
    /// The usage of the turn and the total.
    pub used: Used,
    /// The usage of the sub-agents.
    pub used_by_children: Used,
}

/// The usage of a turn and of all turns.
pub(super) type Used = (Option<TokenUsage>, Option<TokenUsage>);

/// Notifications with a single message.
const NOTICES: [Notice; 11] = [
    ("hook_execution_completed", ErrorMessage, "hook failed: ", "hookEventName"),
    ("llm_retry", SystemMessage, "retry: ", "reason"),
    ("mcp_auth_completed", SystemMessage, "", "message"),
    ("mcp_auth_required", SystemMessage, "", "message"),
    ("mission_features_changed", SystemMessage, "mission features", ""),
    ("mission_progress_entry", SystemMessage, "mission progress", ""),
    ("mission_state_changed", SystemMessage, "mission: ", "state"),
    ("mission_worker_completed", SystemMessage, "mission worker completed: ", "workerSessionId"),
    ("mission_worker_started", SystemMessage, "mission worker started: ", "workerSessionId"),
    ("queued_messages_discarded", SystemMessage, "discarded: ", "text"),
    ("session_compacted", Compaction, "context compacted", ""),
];

/// Notifications without content, or with content that others repeat.
const QUIET: &str = "assistant_text_complete droid_working_state_changed hook_execution_started \
    loop_state_changed mcp_status_changed mission_heartbeat thinking_text_complete \
    tool_execution_heartbeat";

/// Internal requests of the client, and requests that notifications report.
const SETUP: &str = "add_mcp_server authenticate_mcp_server cancel_mcp_auth clear_mcp_auth close_session \
    compact_session execute_rewind fork_session get_context_breakdown get_context_stats get_rewind_info \
    interrupt_session kill_worker_session list_commands list_mcp_registry list_mcp_servers \
    list_mcp_tools list_models list_skills list_tools remove_mcp_server rename_session \
    set_skill_disabled submit_bug_report submit_mcp_auth_code submit_mcp_auth_error \
    toggle_mcp_server toggle_mcp_tool update_session_settings";

/// Fields of a hook in addition to its message.
const HOOK: [&str; 12] = [
    "hookCommands",
    "hookEventName",
    "hookEndTime",
    "hookId",
    "hookMatcher",
    "hookOrder",
    "hookParentId",
    "hookPreventedAction",
    "hookResults",
    "hookStartTime",
    "hookStatus",
    "hookToolCallId",
];

const ENVELOPE: [&str; 3] = ["_meta", "factoryApiVersion", "factoryProtocolVersion"];

pub(super) fn parse<'a>(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Line<'a>> {
    let Some(rpc) = Rpc::read(object) else { return Parsed::Unknown };
    header.name = rpc.name();
    let (mut rest, mut session) = (Object::default(), None);
    let kind = match rpc {
        Rpc::Result(result) => Some(Kind::Response(result)),
        Rpc::Error(said) => Some(Kind::Error(said)),
        Rpc::Call(_, mut params) => {
            let kind = match params.raw("notification") {
                Some(raw) => {
                    session = params.text("sessionId");
                    let mut given = value::object(raw).unwrap_or_default();
                    header.name = given.str("type").unwrap_or_default();
                    session = given.text("sessionId").or(session);
                    let kind = Kind::of_notification(header, raw, &mut given);
                    params.adopt("notification", given);
                    kind
                }
                None => Kind::of_request(&header.name, object.get("params"), &mut params),
            };
            rest = params;
            kind
        }
    };
    let Some(kind) = kind else { return Parsed::Unknown };
    let id = Rpc::take(object, rest);
    object.ignore(&ENVELOPE);
    Parsed::Line(Line { id, session, kind })
}

impl<'a> Kind<'a> {
    fn of_request(method: &str, input: Option<Raw<'a>>, given: &mut Object<'a>) -> Option<Self> {
        let method = method.strip_prefix("droid.")?;
        if is_among(SETUP, method) {
            *given = Object::default();
            return Some(Self::Quiet);
        }
        Some(match method {
            // Other fields may contain secrets, such as the environment of a server.
            "initialize_session" | "load_session" => Self::Facts(facts(&mut std::mem::take(given))),
            "add_user_message" => Self::Prompt(take_prompt(given)),
            "request_permission" => {
                given.ignore(&["associatedSessionIds", "options"]);
                let calls = given.within_each("toolUses", |asked| {
                    asked.ignore(&["confirmationType", "details"]);
                    asked.raw("toolUse").map(Block::read)
                });
                Self::Permission(message_of(calls?.into_iter().flatten().collect()))
            }
            "ask_user" => {
                let call = given.corr_id("toolCallId")?;
                given.ignore(&["questions"]);
                Self::Question(call, input)
            }
            _ => return None,
        })
    }

    fn of_notification(
        header: &mut Header<'a>,
        raw: Raw<'a>,
        given: &mut Object<'a>,
    ) -> Option<Self> {
        let name = &*header.name;
        let has_succeeded =
            name == "hook_execution_completed" && given.get_str("hookStatus")? != "error";
        if has_succeeded || is_among(QUIET, name) {
            *given = Object::default();
            return Some(Self::Quiet);
        }
        header.at = given.timestamp("timestamp");
        given.ignore(&["requestId"]);
        if name == "mcp_auth_required" {
            given.ignore(&["authUrl", "state"]);
        }
        if let Some(said) = notice::take(&NOTICES, name, given) {
            return Some(Self::Said(said));
        }
        Some(match name {
            "create_message" => {
                let mut message = given.object("message")?;
                header.at = message.timestamp("createdAt");
                given.ignore(&["parentId"]);
                let of_hook = message.extra(&HOOK);
                Self::Message(BlockMessage::take(message), of_hook)
            }
            "tool_call" => {
                let call = Block::read(given.raw("toolUse")?);
                Self::Message(message_of(vec![call]), Extra::new())
            }
            "tool_result" => {
                let mut block = Block::read(raw);
                block.unknown.retain(|(name, _)| !matches!(&**name, "messageId" | "sessionId"));
                *given = Object::default();
                Self::Message(message_of(vec![block]), Extra::new())
            }
            "assistant_text_delta" | "thinking_text_delta" => Self::Delta {
                is_thought: name == "thinking_text_delta",
                message_id: given.text("messageId")?,
                index: given.u64("blockIndex").unwrap_or_default(),
                more: given.text("textDelta")?,
            },
            "tool_execution_phase_changed" => {
                given.ignore(&["toolName"]);
                let call = given.corr_id("toolUseId")?;
                match &*given.str("phase")? {
                    "executing" => Self::Running(call),
                    _ => Self::Quiet,
                }
            }
            "tool_progress_update" => {
                given.ignore(&["toolName"]);
                let call = given.corr_id("toolUseId")?;
                let mut update = given.object("update")?;
                header.at = update.timestamp("timestamp");
                let session = update.text("subagentSessionId");
                Self::Progress(call, session, take_progress(update))
            }
            "permission_resolved" => {
                let calls = given.texts("toolUseIds")?;
                let calls = calls.iter().map(|id| CorrId::from(&*id.decode())).collect();
                Self::Resolved(calls, given.text("selectedOption")?)
            }
            "settings_updated" => Self::Facts(facts(&mut given.object("settings")?)),
            "session_title_updated" | "session_working_directory_changed" => {
                Self::Facts(facts(given))
            }
            "child_session_available" => {
                given.ignore(&["description", "subagentType"]);
                let child = given.str("childSessionId")?;
                let call = given.corr_id("toolUseId").unwrap_or_else(|| CorrId::from(&*child));
                Self::Child(child.into(), call)
            }
            "session_token_usage_changed" => {
                given.ignore(&["lastCallTokenUsage"]);
                let inclusive = take_usage(given, "inclusiveTokenUsage");
                Self::Usage(take_usage(given, "tokenUsage")?, inclusive)
            }
            "agent_turn_completed" => Self::Turn(Turn::take(given)),
            "structured_output" => {
                let text = value::into_text(given.raw("structuredOutput")?);
                let facts = std::mem::take(given).into_extra().collect();
                Self::Said((AssistantMessage, text.into(), facts))
            }
            "error" => {
                let text = given.text("message")?;
                Self::Error((
                    ErrorMessage,
                    text.into(),
                    std::mem::take(given).into_extra().collect(),
                ))
            }
            _ => return None,
        })
    }
}

impl Turn {
    fn take(given: &mut Object<'_>) -> Self {
        given.ignore(&["turnId"]);
        let mut used = |turn, all| (take_usage(given, turn), take_usage(given, all));
        let used_by_children = used("childTokenUsage", "cumulativeChildTokenUsage");
        let used = used("tokenUsage", "cumulativeTokenUsage");
        let reason = given.text("reason");
        let outcome = reason.as_ref().map(Text::decode).and_then(|reason| match &*reason {
            "completed" => Some(Outcome::Success),
            "cancelled" | "permission_rejected" => Some(Outcome::Cancelled),
            "error" | "process_exit" => Some(Outcome::Failed),
            "model_usage_exhausted" => Some(Outcome::LimitReached),
            _ => None,
        });
        let duration_ms = given.f64("durationMs").map(|ms| ms.max(0.0) as u64);
        Self { outcome, reason, duration_ms, used, used_by_children }
    }
}

/// Takes the facts of the session; other settings are not facts.
pub(super) fn facts(given: &mut Object<'_>) -> Session {
    let mut settings = given.object("settings").unwrap_or_default();
    let mut of = |name| given.text(name).or_else(|| settings.text(name));
    Session {
        model: of("modelId"),
        reasoning_effort: of("reasoningEffort"),
        cwd: of("cwd"),
        title: of("title"),
        authority: of("autonomyLevel")
            .or_else(|| of("autonomyMode"))
            .map(Authority::of_mode)
            .map(Box::new),
        session_id: given.str("sessionId").map(Into::into),
        parent: given.str("callingSessionId").map(|id| Box::new(Parent::of_agent(&*id))),
        ..Session::default()
    }
}

fn message_of(content: Vec<Block<'_>>) -> BlockMessage<'_> {
    let message = Message { content, ..Message::default() };
    BlockMessage { message, ..BlockMessage::default() }
}

/// Takes the text, with placeholders for documents and images, and its pictures.
fn take_prompt(given: &mut Object<'_>) -> Content {
    given.ignore(&["messageId", "outputFormat"]);
    let mut lines = vec![Content::from(given.text("text").unwrap_or_default())];
    for field in ["images", "files"] {
        let sources = given.within_each(field, |source| {
            source.ignore(&["name", "path"]);
            let kind = source.str("type");
            let media_type = source.str("mediaType").unwrap_or_default();
            let data = source.str("data").unwrap_or_default();
            match kind.as_deref() {
                Some("text") => data.into(),
                _ => content::media_of_base64(&media_type, &data),
            }
        });
        lines.extend(sources.unwrap_or_default());
    }
    lines.retain(|line| !line.is_empty());
    Content::lines(lines).unwrap_or_default()
}

/// Takes the progress of a sub-agent. The result of a tool repeats the progress of the tool.
fn take_progress(mut update: Object<'_>) -> Option<Said> {
    let kind = match &*update.str("type")? {
        "error" => ErrorMessage,
        "status" => return None,
        _ => SystemMessage,
    };
    update.ignore(&["fullOutput", "terminalId"]);
    let tool = update.str("toolName");
    let words = ["text", "error", "valueSnippet", "details"].map(|name| update.str(name));
    let words: Vec<_> = [tool].into_iter().chain(words).flatten().collect();
    let facts: Extra = update.into_extra().collect();
    (!words.is_empty()).then(|| (kind, words.join(": ").into(), facts))
}
