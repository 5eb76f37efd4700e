//! The wire types of `qwen -o stream-json`, releases 0.12 to 0.23.

use crate::{
    dialect::{
        anthropic::{Denial, Message, PartialEvent},
        usage::ModelUsage,
    },
    prelude::*,
    qwen::take_counters,
};

/// One record of the stream.
#[derive(Clone, Debug)]
pub enum QwenJson<'a> {
    /// `system/init`: the beginning of a turn.
    Init(Box<Session>),
    /// A prompt or a tool's result.
    User(Message<'a>),
    /// A block of an answer. Each block has its own message.
    Assistant {
        message: Message<'a>,
        /// The usage of the model call, which only its last block states.
        usage: TokenUsage,
    },
    /// `stream_event`: a part of a message in progress.
    Partial(PartialEvent<'a>),
    /// `stream_event` of the type `tool_progress`: this call is running.
    Progress(Option<CorrId>),
    /// `stream_event` with a `goal_state`: the agent's goal across turns.
    Goal(Json),
    Result(Box<RunResult<'a>>),
}

/// `result`: the end of the run.
#[derive(Clone, Debug)]
pub struct RunResult<'a> {
    /// The reason of the end, `success`, `error_max_turns`, `error_during_execution`, .., and its statistics.
    pub facts: Session,
    /// Repeats the agent's last message.
    pub result: Option<Text>,
    pub error: Option<Text>,
    /// `FatalTurnLimitedError`, ..
    pub error_type: Option<Text>,
    /// The usage of each model since the program started, or the total usage if that is not stated.
    pub totals: Vec<ModelUsage>,
    pub denials: Vec<Denial<'a>>,
}

impl<'a> QwenJson<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let read = match &*header.name {
            "system" => match object.get_str("subtype") {
                Some(subtype) if subtype != "init" => {
                    header.name = format!("system/{subtype}").into();
                    return Parsed::Unknown;
                }
                _ => Parsed::Line(Self::Init(Box::new(take_init(object)))),
            },
            "user" | "assistant" => {
                let Some(mut message) = object.object("message") else { return Parsed::Unknown };
                Parsed::Line(match &*header.name {
                    "user" => Self::User(Message::take(message)),
                    _ => {
                        let usage = take_usage(&mut message);
                        Self::Assistant { message: Message::take(message), usage }
                    }
                })
            }
            "stream_event" => take_event(object),
            "result" => Parsed::Line(Self::Result(Box::new(RunResult::take(object)))),
            _ => return Parsed::Unknown,
        };
        if !matches!(read, Parsed::Unknown) {
            header.parent = object.corr_id("parent_tool_use_id");
            object.ignore(&["session_id", "uuid"]);
        }
        read
    }
}

fn take_event<'a>(object: &mut Object<'a>) -> Parsed<QwenJson<'a>> {
    let Some(mut event) = object.get("event").and_then(value::object) else {
        // The form of some releases.
        let goal = object.json("goal_state").map(QwenJson::Goal);
        return goal.map_or(Parsed::Unknown, Parsed::Line);
    };
    let read = match event.get_str("type").as_deref() {
        Some("tool_progress") => {
            event.ignore(&["content"]);
            QwenJson::Progress(event.corr_id("tool_use_id"))
        }
        Some(goal @ ("goal_state" | "active_goal")) => {
            QwenJson::Goal(event.json(goal).unwrap_or_default())
        }
        _ => return PartialEvent::take(object).map(QwenJson::Partial),
    };
    event.ignore(&["type"]);
    object.ignore(&["event"]);
    object.adopt("event", event);
    Parsed::Line(read)
}

fn take_init(object: &mut Object<'_>) -> Session {
    object.ignore(&["subtype", "mcp_servers", "slash_commands", "agents"]);
    object.ignore(&["skills", "output_style", "capabilities"]);
    Session {
        cwd: object.text("cwd"),
        tools: object.texts("tools"),
        model: object.text("model"),
        version: object.text("qwen_code_version"),
        authority: object.text("permission_mode").map(Authority::of_mode).map(Box::new),
        ..Session::default()
    }
}

impl<'a> RunResult<'a> {
    fn take(object: &mut Object<'a>) -> Self {
        let subtype = object.text("subtype");
        let failed = subtype.as_ref().is_some_and(|subtype| *subtype != "success");
        let mut error = object.object("error").unwrap_or_default();
        let (message, error_type) = (error.text("message"), error.text("type"));
        object.adopt("error", error);
        let total = take_usage(object);
        let result = object.text("result");
        if result.is_some() {
            // The same result before its conversion to text.
            object.ignore(&["structured_result"]);
        }
        object.ignore(&["duration_api_ms"]);
        let is_error = object.bool("is_error").unwrap_or(failed);
        let facts = Session {
            outcome: Some(match &subtype {
                Some(subtype) if *subtype == "error_max_turns" => Outcome::LimitReached,
                _ if is_error => Outcome::Failed,
                _ => Outcome::Success,
            }),
            outcome_reason: subtype,
            turns: object.u64("num_turns"),
            duration_ms: object.u64("duration_ms"),
            ..Session::default()
        };
        Self {
            facts,
            result,
            error: message.or_else(|| error_type.clone()),
            error_type,
            totals: take_models(object).unwrap_or_else(|| vec![(None, total)]),
            denials: Denial::take_all(object),
        }
    }
}

/// Takes the field `usage` of a message, or of the end of a run.
fn take_usage(object: &mut Object<'_>) -> TokenUsage {
    let fields =
        ["input_tokens", "output_tokens", "cache_read_input_tokens", "thoughts", "total_tokens"];
    object.within("usage", |stated| take_counters(stated, fields)).unwrap_or_default()
}

/// Takes the usage by model, which only `-o json` states, if it is readable for all models.
fn take_models(object: &mut Object<'_>) -> Option<Vec<ModelUsage>> {
    object.within("stats", |stats| {
        // Calls are counted from their own records.
        stats.ignore(&["tools", "files"]);
        stats.within_values("models", |name, model| {
            let usage = model.within("tokens", |tokens| {
                tokens.ignore(&["tool"]);
                take_counters(tokens, ["prompt", "candidates", "cached", "thoughts", "total"])
            });
            model.ignore(&["api"]);
            (Some(Text::from(name)), usage.unwrap_or_default())
        })
    })?
}
