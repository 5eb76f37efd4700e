//! The wire types of `claude -p --output-format stream-json`, releases 2.0 to 2.1.281.

use super::outcome::RunResult;
use crate::{
    claude::notice::{api_error, compaction, hook_failure},
    dialect::anthropic::{Message, PartialEvent, error_message},
    prelude::*,
};

/// One line of the stream.
#[derive(Clone, Debug)]
pub enum ClaudeStreamJson<'a> {
    /// `system/init`: the beginning of a run.
    Init(Box<Session>),
    /// `system/status`: changed facts.
    Facts(Box<Session>),
    /// `task_started`, `task_progress`: the task of this call is running.
    TaskRuns(Option<CorrId>),
    /// `task_notification`: a sub-agent or a background command ended.
    TaskEnded {
        /// The call that started it.
        call: Option<CorrId>,
        /// `completed`, `failed`, ...
        status: Option<Text>,
        /// A summary of the outcome.
        summary: Option<Text>,
    },
    /// Other lines of the type `system`: messages of the program.
    Said(NormalizedEntryType, Text),
    /// `assistant`: usually one block of a message. `is_error` marks a message that the program generated after a
    /// failure.
    Assistant { message: Box<Message<'a>>, is_error: bool },
    /// `user`: a prompt or a tool's result.
    User {
        message: Box<Message<'a>>,
        /// The tool-specific result.
        detail: Option<Raw<'a>>,
        /// The reasons why tools did not run.
        meta: Option<Vec<Raw<'a>>>,
        /// Whether the program wrote it, not the user.
        from_program: bool,
    },
    /// `result`: the end of the run.
    Result(Box<RunResult<'a>>),
    /// `stream_event`: a part of a message in progress.
    Partial(PartialEvent<'a>),
    /// `rate_limit_event`: usage of the plan's limits.
    RateLimit {
        /// `allowed`, `allowed_warning`, `rejected`.
        status: Option<Text>,
        /// `five_hour`, `seven_day`.
        kind: Option<Text>,
        /// From 0 to 1.
        utilization: Option<f64>,
        /// All stated windows.
        limits: Vec<Limit>,
    },
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
            "rate_limit_event" => Parsed::Line(take_rate_limit(object)),
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

/// Lines of session files name the session field differently.
fn is_foreign(object: &Object<'_>) -> bool {
    (object.has("sessionId") && object.has("uuid")) || object.has("qwen_code_version")
}

fn take_system<'a>(subtype: &str, object: &mut Object<'a>) -> Parsed<ClaudeStreamJson<'a>> {
    let notice = |text| ClaudeStreamJson::Said(NormalizedEntryType::SystemMessage, text);
    Parsed::Line(match subtype {
        "init" => ClaudeStreamJson::Init(Box::new(take_init(object))),
        "task_started" | "task_progress" => {
            object.ignore(&TASK);
            ["status", "summary"].iter().for_each(|key| object.ignore_str(key));
            ClaudeStreamJson::TaskRuns(object.corr_id("tool_use_id"))
        }
        "task_notification" => {
            object.ignore(&TASK);
            ClaudeStreamJson::TaskEnded {
                call: object.corr_id("tool_use_id"),
                status: object.text("status"),
                summary: object.text("summary"),
            }
        }
        "hook_response" => {
            object.ignore(&["hook_id", "hook_event", "outcome"]);
            match hook_failure(object) {
                Some(failure) => notice(failure),
                None => return Parsed::Ignored,
            }
        }
        "compact_boundary" => {
            let words = compaction(object, &["compact_metadata"], "conversation compacted");
            ClaudeStreamJson::Said(NormalizedEntryType::Compaction, words)
        }
        "api_retry" => {
            let delay = object.f64("retry_delay_ms");
            let (status, message) = (object.u64("error_status"), object.raw("error"));
            let attempts = ["attempt", "max_retries"].map(|key| object.u64(key));
            let words = api_error(status, message.map(error_message).as_ref(), attempts, delay);
            ClaudeStreamJson::Said(NormalizedEntryType::ErrorMessage, words)
        }
        "permission_denied" => {
            object.ignore(&["tool_name", "tool_use_id"]);
            // The denied call has a separate result with the same text.
            object.ignore_str("message");
            return Parsed::Ignored;
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
            object.ignore(&["status", "state"]);
            let Some(mode) = object.text("permissionMode") else { return Parsed::Ignored };
            let authority = Some(Box::new(Authority::of_mode(mode)));
            ClaudeStreamJson::Facts(Box::new(Session { authority, ..Session::default() }))
        }
        _ => return Parsed::Unknown,
    })
}

fn take_assistant<'a>(object: &mut Object<'a>) -> Parsed<ClaudeStreamJson<'a>> {
    let Some(message) = object.object("message").map(Message::take).map(Box::new) else {
        return Parsed::Unknown;
    };
    object.ignore(&["request_id", "subagent_type", "task_description", "wire_tool_inputs"]);
    let flagged = object.bool("is_api_error_message").unwrap_or(false);
    let is_error = object.raw("error").is_some() || flagged;
    Parsed::Line(ClaudeStreamJson::Assistant { message, is_error })
}

fn take_user<'a>(object: &mut Object<'a>) -> Parsed<ClaudeStreamJson<'a>> {
    let Some(message) = object.object("message").map(Message::take).map(Box::new) else {
        return Parsed::Unknown;
    };
    object.ignore(&["isReplay", "subagent_type", "task_description"]);
    let meta = object.bool("isMeta").unwrap_or(false);
    let synthetic = object.bool("isSynthetic").unwrap_or(false);
    Parsed::Line(ClaudeStreamJson::User {
        message,
        detail: object.raw("tool_use_result"),
        meta: object.array("tool_result_meta"),
        from_program: meta || synthetic,
    })
}

fn take_init(object: &mut Object<'_>) -> Session {
    object.ignore(&["agents", "analytics_disabled", "apiKeySource", "fast_mode_disabled_reason"]);
    object.ignore(&["capabilities"]);
    object.ignore(&["fast_mode_state", "mcp_servers", "memory_paths", "messaging_socket_path"]);
    object.ignore(&["output_style", "per_turn_effort_active", "plugins"]);
    object.ignore(&["product_feedback_disabled", "skills", "slash_commands", "view_mode"]);
    object.ignore(&["terminal_slash_commands"]);
    Session {
        cwd: object.text("cwd"),
        tools: object.texts("tools"),
        model: object.text("model"),
        version: object.text("claude_code_version"),
        authority: object.text("permissionMode").map(Authority::of_mode).map(Box::new),
        ..Session::default()
    }
}

/// Known, unused fields of a sub-agent or a background command.
const TASK: [&str; 10] = [
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
];

/// The longest name of a window in bytes. A longer one is not a name.
const LONGEST_WINDOW: usize = 100;

/// A window of the plan's limits, of which a part from 0 to 1 is used.
fn window(name: &str, used: f64, resets_at: Option<Timestamp>) -> Option<Limit> {
    let window_minutes = Limit::minutes_of(name);
    let limit = Limit {
        name: name.into(),
        used_percent: used * 100.0,
        window_minutes,
        resets_at,
        ..Limit::default()
    };
    Some(limit).filter(|_| name.len() <= LONGEST_WINDOW)
}

fn take_rate_limit<'a>(object: &mut Object<'_>) -> ClaudeStreamJson<'a> {
    let mut info = object.object("rate_limit_info").unwrap_or_default();
    let (status, kind) = (info.text("status"), info.text("rateLimitType"));
    let utilization = info.f64("utilization");
    let resets_at = info.timestamp("resetsAt");
    let of_kind = kind.as_ref().and_then(|kind| window(&kind.decode(), utilization?, resets_at));
    let mut limits = Vec::from_iter(of_kind);
    info.within("unifiedWindows", |windows| {
        for name in ["five_hour", "seven_day"] {
            windows.within(name, |stated| {
                let (used, resets_at) = (stated.f64("utilization"), stated.timestamp("resetsAt"));
                limits.extend(used.and_then(|used| window(name, used, resets_at)));
            });
        }
    });
    let limit = ClaudeStreamJson::RateLimit { status, kind, utilization, limits };
    info.ignore(&["surpassedThreshold", "isUsingOverage"]);
    info.ignore(&["overageStatus", "overageResetsAt", "overageDisabledReason"]);
    object.adopt("rate_limit_info", info);
    limit
}
