//! The wire types of `amp --execute --stream-json`, with and without `--stream-json-thinking`.

use crate::{dialect::anthropic::Message, prelude::*};

/// One record of the stream.
#[derive(Clone, Debug)]
pub enum AmpJson<'a> {
    /// `system/init`: the beginning of a run and its mode, `smart`, `medium`, .., which replaces the unnamed model.
    Init(Box<Session>, Option<Text>),
    /// A prompt or a tool's result.
    User(Message<'a>),
    /// A message with its texts and calls.
    Assistant(Message<'a>),
    /// The end of the run.
    Result {
        /// Repeats the agent's last message.
        words: Option<Text>,
        /// The error, possibly an HTTP status with JSON text.
        error: Option<Text>,
        facts: Box<Session>,
    },
}

impl<'a> AmpJson<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let read = match &*header.name {
            "system" => match object.get_str("subtype") {
                Some(subtype) if subtype != "init" => {
                    header.name = format!("system/{subtype}").into();
                    return Parsed::Unknown;
                }
                _ => Self::init(object),
            },
            "user" | "assistant" => {
                let Some(message) = object.object("message") else { return Parsed::Unknown };
                let mut message = Message::take(message);
                // The size of the context is not usage.
                message.unknown.retain(|(name, _)| name != "usage.max_tokens");
                match &*header.name {
                    "user" => Self::User(message),
                    _ => Self::Assistant(message),
                }
            }
            "result" => Self::result(object),
            _ => return Parsed::Unknown,
        };
        header.parent = object.corr_id("parent_tool_use_id");
        object.ignore(&["session_id"]);
        Parsed::Line(read)
    }

    fn init(object: &mut Object<'_>) -> Self {
        object.ignore(&["subtype", "mcp_servers"]);
        let facts = Session {
            cwd: object.text("cwd"),
            tools: object.texts("tools"),
            reasoning_effort: object.text("reasoning_effort"),
            ..Session::default()
        };
        Self::Init(Box::new(facts), object.text("agent_mode"))
    }

    fn result(object: &mut Object<'_>) -> Self {
        let subtype = object.str("subtype").unwrap_or(Cow::Borrowed("success"));
        let is_error = object.bool("is_error").unwrap_or(subtype != "success");
        let outcome = match &*subtype {
            _ if !is_error => Outcome::Success,
            "error_max_turns" => Outcome::LimitReached,
            _ => Outcome::Failed,
        };
        let (words, error) = (object.text("result"), object.text("error"));
        let subtype = (subtype != "success").then(|| Text::from(subtype));
        let facts = Session {
            outcome: Some(outcome),
            outcome_reason: error.clone().or(subtype),
            turns: object.u64("num_turns"),
            duration_ms: object.u64("duration_ms"),
            ..Session::default()
        };
        Self::Result { words, error, facts: Box::new(facts) }
    }
}
