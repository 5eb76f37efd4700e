//! The wire types of `amp --execute --stream-json`, with and without `--stream-json-thinking`.

use std::borrow::Cow;

use crate::{
    conversation::Text,
    executors::{Header, Parsed, dialect::anthropic::Message, wire::Object},
};

/// One record of the stream.
#[derive(Clone, Debug)]
pub enum AmpJson<'a> {
    Init(Init),
    /// A prompt, or a tool's result.
    User(Message<'a>),
    /// Texts and calls of one message together.
    Assistant(Message<'a>),
    Result(RunResult<'a>),
}

/// `system/init`: a run begins.
#[derive(Clone, Debug)]
pub struct Init {
    pub cwd: Option<Text>,
    pub tools: Option<Vec<Text>>,
    /// `smart`, `medium`, ..: stands for the model, which is never named.
    pub mode: Option<Text>,
    pub reasoning_effort: Option<Text>,
}

/// `result`: the run is over.
#[derive(Clone, Debug)]
pub struct RunResult<'a> {
    /// `success`, `error_during_execution`, ..
    pub subtype: Cow<'a, str>,
    pub is_error: bool,
    /// The last words of the agent, once more.
    pub result: Option<Text>,
    /// What went wrong; may be an HTTP status with JSON text.
    pub error: Option<Text>,
    pub turns: Option<u64>,
    pub duration_ms: Option<u64>,
}

impl<'a> AmpJson<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let read = match &*header.name {
            "system" => match object.get_str("subtype") {
                Some(subtype) if subtype != "init" => {
                    header.name = format!("system/{subtype}").into();
                    return Parsed::Unknown;
                }
                _ => Self::Init(Init::take(object)),
            },
            "user" | "assistant" => {
                let Some(message) = object.object("message") else { return Parsed::Unknown };
                let mut message = Message::take(message);
                // The size of the context, which is no spending.
                message.unknown.retain(|(name, _)| name != "usage.max_tokens");
                match &*header.name {
                    "user" => Self::User(message),
                    _ => Self::Assistant(message),
                }
            }
            "result" => Self::Result(RunResult::take(object)),
            _ => return Parsed::Unknown,
        };
        header.parent = object.corr_id("parent_tool_use_id");
        object.ignore(&["session_id"]);
        Parsed::Line(read)
    }
}

impl Init {
    fn take(object: &mut Object<'_>) -> Self {
        object.ignore(&["subtype", "mcp_servers"]);
        Self {
            cwd: object.text("cwd"),
            tools: object.texts("tools"),
            mode: object.text("agent_mode"),
            reasoning_effort: object.text("reasoning_effort"),
        }
    }
}

impl<'a> RunResult<'a> {
    fn take(object: &mut Object<'a>) -> Self {
        let subtype = object.str("subtype").unwrap_or(Cow::Borrowed("success"));
        Self {
            is_error: object.bool("is_error").unwrap_or(subtype != "success"),
            subtype,
            result: object.text("result"),
            error: object.text("error"),
            turns: object.u64("num_turns"),
            duration_ms: object.u64("duration_ms"),
        }
    }
}
