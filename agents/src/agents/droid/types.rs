//! The wire types of `droid exec --output-format stream-json` and `-o json`.
//!
//! This covers releases from 0.2 (October 2025) to 0.232. A field that a release lacks is `None`.

use foldline_domain::TokenUsage;

use crate::{
    dialect::usage::{take_counters, with_cache},
    prelude::*,
    wire::Object,
};

/// One record of the stream.
#[derive(Clone, Debug)]
pub enum DroidJson<'a> {
    /// `system/init`: the beginning of the session.
    Init(Box<Session>),
    /// A message of the user or the agent.
    Message {
        /// `user` or `assistant`.
        role: Cow<'a, str>,
        id: Option<Text>,
        text: Text,
    },
    /// A thought of the agent, with the id of the model's message. Real streams print it twice.
    Reasoning(Option<Text>, Text),
    ToolCall {
        /// The provider's id of the call.
        id: Option<CorrId>,
        /// The model's message that made the call. Parallel calls share it.
        message_id: Option<Text>,
        name: Cow<'a, str>,
        parameters: Option<Raw<'a>>,
    },
    ToolResult {
        /// The key of the call. Some releases of October 2025 omit the id of the call. The message is the message of
        /// the *result*, which differs from that of the call.
        key: ResultKey,
        is_error: bool,
        body: Text,
    },
    /// `completion`: usually the last line, but a message may come after it. `result` is the only record
    /// of `-o json`.
    Completion {
        /// Usually repeats the last message of the agent.
        final_text: Option<Text>,
        /// Facts of the end. Only `-o json` states whether the run failed.
        facts: Box<Session>,
        usage: TokenUsage,
    },
    /// An error outside of any tool.
    Error {
        /// `cli` or `agent_loop`.
        source: Option<Text>,
        /// The human-readable message. For `cli`, it may be any text that was being processed.
        message: Text,
    },
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
                _ => {
                    object.ignore(&["subtype"]);
                    Self::Init(Box::new(Session {
                        cwd: object.text("cwd"),
                        tools: object.texts("tools"),
                        model: object.text("model"),
                        reasoning_effort: object.text("reasoning_effort"),
                        ..Session::default()
                    }))
                }
            },
            "message" => Self::Message {
                role: object.str("role").unwrap_or_default(),
                id: object.text("id"),
                text: object.text("text").unwrap_or_default(),
            },
            "reasoning" => {
                Self::Reasoning(object.text("id"), object.text("text").unwrap_or_default())
            }
            "tool_call" => {
                let tool_id = object.str("toolId").filter(|name| !name.is_empty());
                let name = object.str("toolName").filter(|name| !name.is_empty()).or(tool_id);
                Self::ToolCall {
                    id: object.corr_id("id"),
                    message_id: object.text("messageId"),
                    name: name.unwrap_or_default(),
                    parameters: object.raw("parameters"),
                }
            }
            "tool_result" => Self::ToolResult {
                key: ResultKey {
                    id: object.corr_id("id"),
                    message_id: object.text("messageId"),
                    // Releases of 2025 write the empty string.
                    tool_name: object.text("toolId").filter(|name| !name.is_empty()),
                },
                is_error: object.bool("isError").unwrap_or(false),
                body: take_body(object),
            },
            "completion" => {
                Self::completion(object, ["finalText", "numTurns", "durationMs"], false)
            }
            "result" => {
                let failure = object.str("subtype").is_some_and(|subtype| subtype != "success");
                let is_error = object.bool("is_error").unwrap_or(failure);
                Self::completion(object, ["result", "num_turns", "duration_ms"], is_error)
            }
            "error" => Self::Error {
                source: object.text("source"),
                message: object.text("message").unwrap_or_default(),
            },
            _ => return Parsed::Unknown,
        })
    }

    fn completion(object: &mut Object<'_>, names: [&str; 3], is_error: bool) -> Self {
        let [final_text, turns, duration_ms] = names;
        let counters = [
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "thinking_tokens",
        ];
        let usage = object.within("usage", |usage| take_named(usage, counters));
        let facts = Session {
            outcome: Some(if is_error { Outcome::Failed } else { Outcome::Success }),
            turns: object.u64(turns),
            duration_ms: object.u64(duration_ms),
            ..Session::default()
        };
        let (final_text, usage) = (object.text(final_text), usage.unwrap_or_default());
        Self::Completion { final_text, facts: Box::new(facts), usage }
    }
}

/// Takes the output of a tool, and its error: `{type, message}`.
fn take_body(object: &mut Object<'_>) -> Text {
    let value = object.raw("value").map(value::into_text);
    let error = object.within("error", |error| (error.text("message"), error.text("type")));
    let message = error.and_then(|(message, kind)| message.or(kind));
    match (value, message) {
        (Some(value), Some(message)) if value != message => {
            Text::from(format!("{value}\n{message}"))
        }
        (value, message) => value.or(message).unwrap_or_default(),
    }
}

/// The names of the counters in newer releases: input, output, read from and written to a cache, and reasoning.
const NAMES: [&str; 5] =
    ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens", "thinkingTokens"];

/// Takes the counters of these names. Droid counts cached input separately (a session had 6,743 input tokens and 42,496
/// cached ones), so it is added here.
fn take_named(usage: &mut Object<'_>, names: [&str; 5]) -> TokenUsage {
    with_cache(take_counters(usage, names))
}

/// Takes a field such as `tokenUsage`.
pub(super) fn take_usage(object: &mut Object<'_>, field: &str) -> Option<TokenUsage> {
    object.within(field, |usage| {
        // The cost in Droid's own unit.
        usage.ignore(&["factoryCredits"]);
        take_named(usage, NAMES)
    })
}
