//! The wire types of `claude -p --output-format stream-json`, releases 2.0 to 2.1.281.

use super::run_result::RunResult;
use crate::{
    conversation::{CorrId, Text},
    executors::{
        Header, Parsed,
        claude::notice::{ApiError, Compaction, Hook},
        dialect::anthropic::{Message, PartialEvent, error_message},
        wire::Object,
    },
    json::Raw,
};

/// One line of the stream.
#[derive(Clone, Debug)]
pub enum ClaudeStreamJson<'a> {
    /// `system`, by its subtype.
    System(System),
    /// `assistant`: usually one block of a message.
    Assistant {
        /// The message.
        message: Message<'a>,
        /// The program made it up because something failed.
        is_error: bool,
    },
    /// `user`: a prompt, or a tool's result.
    User {
        /// The message.
        message: Message<'a>,
        /// What stands beside it.
        extras: UserExtras<'a>,
    },
    /// `result`: the run is over.
    Result(Box<RunResult<'a>>),
    /// `stream_event`: a message as it is written.
    Partial(PartialEvent<'a>),
    /// `rate_limit_event`.
    RateLimit(RateLimit),
}

/// What the program says of itself.
#[derive(Clone, Debug)]
pub enum System {
    /// `init`: a run begins.
    Init(Box<Init>),
    /// `task_started`, `task_progress`.
    TaskRuns(Task),
    /// `task_notification`: a sub-agent or a background command ended.
    TaskEnded(Task),
    /// `hook_response`.
    Hook(Hook),
    /// `compact_boundary`.
    Compacted(Compaction),
    /// `api_retry`.
    ApiRetry(ApiError),
    /// `permission_denied`: nobody could be asked.
    Denied {
        /// What was said of it.
        message: Option<Text>,
    },
}

/// The session's facts.
#[derive(Clone, Debug, Default)]
pub struct Init {
    /// The directory that the agent works in.
    pub cwd: Option<Text>,
    /// Names of the tools.
    pub tools: Option<Vec<Text>>,
    /// The model.
    pub model: Option<Text>,
    /// The program's version.
    pub version: Option<Text>,
}

/// A sub-agent or a background command.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// The call that started it.
    pub call: Option<CorrId>,
    /// `completed`, `failed`, ...
    pub status: Option<Text>,
    /// What it came to.
    pub summary: Option<Text>,
}

/// What stands beside a user message.
#[derive(Clone, Debug, Default)]
pub struct UserExtras<'a> {
    /// The result in its tool's own shape.
    pub detail: Option<Raw<'a>>,
    /// Why tools were not run.
    pub meta: Option<Vec<Raw<'a>>>,
    /// The program wrote it, not a person.
    pub from_program: bool,
}

/// How much of what the plan allows is used up.
#[derive(Clone, Debug, Default)]
pub struct RateLimit {
    /// `allowed`, `allowed_warning`, `rejected`.
    pub status: Option<Text>,
    /// `five_hour`, `seven_day`.
    pub kind: Option<Text>,
    /// From 0 to 1.
    pub utilization: Option<f64>,
}

impl<'a> ClaudeStreamJson<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let kind = header.name.clone();
        let subtype = object.get_str("subtype").filter(|_| kind == "system");
        if let Some(subtype) = &subtype {
            header.name = format!("system/{subtype}").into();
        }
        if is_foreign(object) {
            return Parsed::Foreign;
        }
        object.ignore_str("session_id");
        header.parent = object.corr_id("parent_tool_use_id");
        let parsed = match &*kind {
            "system" => take_system(&subtype.unwrap_or_default(), object),
            "assistant" => take_assistant(object),
            "user" => take_user(object),
            "result" => Parsed::Line(Self::Result(Box::new(RunResult::take(object)))),
            "stream_event" => PartialEvent::take(object).map(Self::Partial),
            "rate_limit_event" => Parsed::Line(Self::RateLimit(RateLimit::take(object))),
            "command_lifecycle" => {
                *object = Object::default();
                Parsed::Ignored
            }
            _ => Parsed::Unknown,
        };
        if !matches!(parsed, Parsed::Unknown) {
            object.ignore(&["subtype", "uuid"]);
        }
        parsed
    }
}

/// Lines of session files state their session in another spelling.
fn is_foreign(object: &Object<'_>) -> bool {
    (object.has("sessionId") && object.has("uuid")) || object.has("qwen_code_version")
}

fn take_system<'a>(subtype: &str, object: &mut Object<'a>) -> Parsed<ClaudeStreamJson<'a>> {
    let system = match subtype {
        "init" => System::Init(Box::new(Init::take(object))),
        "task_started" | "task_progress" => System::TaskRuns(Task::take(object)),
        "task_notification" => System::TaskEnded(Task::take(object)),
        "hook_response" => {
            object.ignore(&["hook_id", "hook_event", "outcome"]);
            System::Hook(Hook::take(object))
        }
        "compact_boundary" => {
            System::Compacted(Compaction::take(object, "compact_metadata").unwrap_or_default())
        }
        "api_retry" => {
            object.ignore(&["retry_delay_ms"]);
            System::ApiRetry(ApiError {
                status: object.u64("error_status"),
                message: object.raw("error").map(error_message),
                attempt: object.u64("attempt"),
                max_attempts: object.u64("max_retries"),
            })
        }
        "permission_denied" => {
            object.ignore(&["tool_name", "tool_use_id"]);
            System::Denied { message: object.text("message") }
        }
        "task_updated" => {
            object.ignore(&["task_id", "patch"]);
            return Parsed::Ignored;
        }
        "thinking_tokens" => {
            object.ignore(&["estimated_tokens", "estimated_tokens_delta"]);
            return Parsed::Ignored;
        }
        "hook_started" | "hook_progress" => {
            object.ignore(&["hook_id", "hook_name", "hook_event", "output", "stderr", "stdout"]);
            return Parsed::Ignored;
        }
        "status" | "state" => {
            object.ignore(&["status", "state", "permissionMode"]);
            return Parsed::Ignored;
        }
        _ => return Parsed::Unknown,
    };
    Parsed::Line(ClaudeStreamJson::System(system))
}

fn take_assistant<'a>(object: &mut Object<'a>) -> Parsed<ClaudeStreamJson<'a>> {
    let Some(message) = object.object("message").map(Message::take) else {
        return Parsed::Unknown;
    };
    object.ignore(&["request_id", "subagent_type", "task_description", "wire_tool_inputs"]);
    let flagged = object.bool("is_api_error_message").unwrap_or(false);
    let is_error = object.raw("error").is_some() || flagged;
    Parsed::Line(ClaudeStreamJson::Assistant { message, is_error })
}

fn take_user<'a>(object: &mut Object<'a>) -> Parsed<ClaudeStreamJson<'a>> {
    let Some(message) = object.object("message").map(Message::take) else {
        return Parsed::Unknown;
    };
    object.ignore(&["isReplay", "subagent_type", "task_description"]);
    let meta = object.bool("isMeta").unwrap_or(false);
    let synthetic = object.bool("isSynthetic").unwrap_or(false);
    let extras = UserExtras {
        detail: object.raw("tool_use_result"),
        meta: object.array("tool_result_meta"),
        from_program: meta || synthetic,
    };
    Parsed::Line(ClaudeStreamJson::User { message, extras })
}

impl Init {
    fn take(object: &mut Object<'_>) -> Self {
        object.ignore(&[
            "agents",
            "analytics_disabled",
            "apiKeySource",
            "fast_mode_disabled_reason",
            "fast_mode_state",
            "mcp_servers",
            "memory_paths",
            "messaging_socket_path",
            "output_style",
            "per_turn_effort_active",
            "permissionMode",
            "plugins",
            "product_feedback_disabled",
            "skills",
            "slash_commands",
            "terminal_slash_commands",
            "view_mode",
        ]);
        Self {
            cwd: object.text("cwd"),
            tools: object.texts("tools"),
            model: object.text("model"),
            version: object.text("claude_code_version"),
        }
    }
}

impl Task {
    fn take(object: &mut Object<'_>) -> Self {
        object.ignore(&[
            "description",
            "is_backgrounded",
            "last_tool_name",
            "output_file",
            "prompt",
            "spawn_depth",
            "subagent_type",
            "task_id",
            "task_type",
            "usage",
        ]);
        Self {
            call: object.corr_id("tool_use_id"),
            status: object.text("status"),
            summary: object.text("summary"),
        }
    }
}

impl RateLimit {
    fn take(object: &mut Object<'_>) -> Self {
        let mut info = object.object("rate_limit_info").unwrap_or_default();
        let limit = Self {
            status: info.text("status"),
            kind: info.text("rateLimitType"),
            utilization: info.f64("utilization"),
        };
        info.ignore(&["resetsAt", "surpassedThreshold", "unifiedWindows", "isUsingOverage"]);
        info.ignore(&["overageStatus", "overageResetsAt", "overageDisabledReason"]);
        object.adopt("rate_limit_info", info);
        limit
    }
}
