//! The wire types of `droid exec --output-format stream-json` and `-o json`.
//!
//! Releases from 0.2 (October 2025) to 0.232 are covered. A field that a release lacks is `None`.

use std::borrow::Cow;

use super::usage;

use crate::{
    conversation::{CorrId, Text, TokenUsage},
    executors::{Header, Parsed, wire::Object},
    json::Raw,
};

/// One record of the stream.
#[derive(Clone, Debug)]
pub enum DroidJson<'a> {
    /// `system`: the session begins.
    System(System),
    /// `message`: what the person or the agent said.
    Message(Message<'a>),
    /// `reasoning`: what the agent thought. Real streams print it twice.
    Reasoning(Reasoning),
    /// `tool_call`.
    ToolCall(ToolCall<'a>),
    /// `tool_result`.
    ToolResult(ToolResult<'a>),
    /// `completion`: usually the last line, but a message may come after it. `result` is the only record
    /// of `-o json`.
    Completion(Completion),
    /// `error`.
    Error(Error),
}

/// `system/init`: the session's facts.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// The directory that the agent works in.
    pub cwd: Option<Text>,
    /// Names of the tools.
    pub tools: Option<Vec<Text>>,
    /// The model.
    pub model: Option<Text>,
    /// How hard the model is told to think.
    pub reasoning_effort: Option<Text>,
}

/// What somebody said.
#[derive(Clone, Debug, Default)]
pub struct Message<'a> {
    /// `user` or `assistant`.
    pub role: Cow<'a, str>,
    /// The message's id.
    pub id: Option<Text>,
    /// What was said.
    pub text: Text,
}

/// What the agent thought.
#[derive(Clone, Debug, Default)]
pub struct Reasoning {
    /// The id of the model's message.
    pub id: Option<Text>,
    /// The thought.
    pub text: Text,
}

/// A tool is called.
#[derive(Clone, Debug, Default)]
pub struct ToolCall<'a> {
    /// The provider's id of the call.
    pub id: Option<CorrId>,
    /// The model's message that made the call. Parallel calls share it.
    pub message_id: Option<Text>,
    /// The tool's name (`toolName`, else `toolId`).
    pub tool_name: Cow<'a, str>,
    /// What the tool is given.
    pub parameters: Option<Raw<'a>>,
}

/// A tool answered.
#[derive(Clone, Debug, Default)]
pub struct ToolResult<'a> {
    /// The id of the call. Some releases of October 2025 left it out.
    pub id: Option<CorrId>,
    /// The id of the *result's* message, which is another than the call's.
    pub message_id: Option<Text>,
    /// The tool's name; releases of 2025 write the empty string, which counts as absent.
    pub tool_id: Option<Text>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// What it gave back.
    pub value: Option<Raw<'a>>,
    /// What went wrong: `{type, message}`.
    pub error: Option<ToolError>,
}

/// What went wrong in a tool.
#[derive(Clone, Debug, Default)]
pub struct ToolError {
    /// `tool_error`.
    pub r#type: Option<Text>,
    /// For people.
    pub message: Option<Text>,
}

/// The run is over.
#[derive(Clone, Debug, Default)]
pub struct Completion {
    /// Usually repeats the last message of the agent.
    pub final_text: Option<Text>,
    /// Turns taken.
    pub turns: Option<u64>,
    /// Time taken, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Tokens used by the whole run, in the meaning of [`TokenUsage`].
    pub usage: Option<TokenUsage>,
    /// Whether it failed; only `-o json` says so.
    pub is_error: bool,
}

/// Something went wrong outside of any tool.
#[derive(Clone, Debug, Default)]
pub struct Error {
    /// `cli` or `agent_loop`.
    pub source: Option<Text>,
    /// For people. For `cli` it may be any text that was in flight.
    pub message: Text,
}

impl<'a> DroidJson<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        object.ignore_str("session_id");
        Parsed::Line(match &*header.name {
            "system" => match object.get_str("subtype") {
                Some(subtype) if subtype != "init" => {
                    header.name = format!("system/{subtype}").into();
                    return Parsed::Unknown;
                }
                _ => Self::System(System::take(object)),
            },
            "message" => Self::Message(Message::take(object)),
            "reasoning" => Self::Reasoning(Reasoning::take(object)),
            "tool_call" => Self::ToolCall(ToolCall::take(object)),
            "tool_result" => Self::ToolResult(ToolResult::take(object)),
            "completion" => Self::Completion(Completion::take(object)),
            "error" => Self::Error(Error::take(object)),
            "result" => Self::Completion(Completion::take_result(object)),
            _ => return Parsed::Unknown,
        })
    }
}

impl System {
    fn take(object: &mut Object<'_>) -> Self {
        object.ignore(&["subtype"]);
        Self {
            cwd: object.text("cwd"),
            tools: object.texts("tools"),
            model: object.text("model"),
            reasoning_effort: object.text("reasoning_effort"),
        }
    }
}

impl<'a> Message<'a> {
    fn take(object: &mut Object<'a>) -> Self {
        Self {
            role: object.str("role").unwrap_or_default(),
            id: object.text("id"),
            text: object.text("text").unwrap_or_default(),
        }
    }
}

impl Reasoning {
    fn take(object: &mut Object<'_>) -> Self {
        Self { id: object.text("id"), text: object.text("text").unwrap_or_default() }
    }
}

impl<'a> ToolCall<'a> {
    fn take(object: &mut Object<'a>) -> Self {
        let id = object.corr_id("id");
        let message_id = object.text("messageId");
        let tool_id = object.str("toolId").filter(|name| !name.is_empty());
        let tool_name = object.str("toolName").filter(|name| !name.is_empty()).or(tool_id);
        let parameters = object.raw("parameters");
        Self { id, message_id, tool_name: tool_name.unwrap_or_default(), parameters }
    }
}

impl<'a> ToolResult<'a> {
    fn take(object: &mut Object<'a>) -> Self {
        Self {
            id: object.corr_id("id"),
            message_id: object.text("messageId"),
            tool_id: object.text("toolId").filter(|name| !name.is_empty()),
            is_error: object.bool("isError").unwrap_or(false),
            value: object.raw("value"),
            error: object.within("error", |error| ToolError {
                r#type: error.text("type"),
                message: error.text("message"),
            }),
        }
    }
}

impl Completion {
    fn take(object: &mut Object<'_>) -> Self {
        Self {
            final_text: object.text("finalText"),
            turns: object.u64("numTurns"),
            duration_ms: object.u64("durationMs"),
            usage: take_usage(object),
            is_error: false,
        }
    }

    fn take_result(object: &mut Object<'_>) -> Self {
        let failure = object.str("subtype").is_some_and(|subtype| subtype != "success");
        Self {
            final_text: object.text("result"),
            turns: object.u64("num_turns"),
            duration_ms: object.u64("duration_ms"),
            usage: take_usage(object),
            is_error: object.bool("is_error").unwrap_or(failure),
        }
    }
}

fn take_usage(object: &mut Object<'_>) -> Option<TokenUsage> {
    let names = [
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "thinking_tokens",
    ];
    object.within("usage", |usage| usage::take(usage, names))
}

impl Error {
    fn take(object: &mut Object<'_>) -> Self {
        Self { source: object.text("source"), message: object.text("message").unwrap_or_default() }
    }
}
