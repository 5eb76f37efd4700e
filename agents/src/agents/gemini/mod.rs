//! Google's Gemini CLI: the stream of `gemini --output-format stream-json`.

mod session;
mod types;

use serde::{Deserialize, Serialize};

pub use self::session::GeminiSession;
use self::types::{Failure, JsonLine, RunResult};
use crate::{
    dialect::{
        gemini,
        textual_result::{self, TextualResult},
    },
    prelude::*,
    recogniser::all_strings,
};

/// `gemini --output-format stream-json`.
///
/// - An answer appears only in chunks and ends at a record of another type. It is one growing entry.
/// - A failed command is recognised by the text in place of its output, since its result reports success.
/// - The stream does not contain the content of files that were read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gemini;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeminiMemory {
    /// An incomplete answer.
    growing: Growing,
    /// The last error of this run, which its end may repeat or imply.
    last_error: Option<Text>,
}

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for Gemini {
    const FORMAT: Format = Format::new("gemini", "Gemini CLI, stream-json", "gemini");
    type Line<'a> = JsonLine<'a>;
    type Result = TextualResult;
    type Memory = GeminiMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
            "init" => object.has_all(&["session_id", "model"]),
            "tool_use" => object.has_all(&["tool_id", "tool_name"]),
            "tool_result" => object.has_all(&["tool_id", "status"]),
            "error" => object.has_all(&["severity", "message"]),
            "result" => object.has_all(&["status", "stats"]),
            "message" => all_strings(object, &["role", "content", "timestamp"]),
            _ => false,
        })
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        object.get_str("session_id")
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<JsonLine<'a>> {
        JsonLine::parse(object, header)
    }

    fn line(
        &self,
        line: JsonLine<'_>,
        mut extra: Extra,
        memory: &mut GeminiMemory,
        cx: &mut Cx<'_>,
    ) {
        if !matches!(line, JsonLine::Message { .. }) {
            memory.growing.close(cx);
        }
        match line {
            JsonLine::Init(model) => {
                memory.last_error = None;
                let started_at = cx.at;
                cx.session(Session { model, started_at, ..Session::default() });
            }
            JsonLine::Message { role, content, is_delta } => {
                memory.message(role, content, is_delta, extra, cx);
            }
            JsonLine::ToolUse { id, name, parameters } => {
                // The stream does not state the working directory.
                cx.call(id, &name, gemini::map(&name, parameters, None), extra);
            }
            JsonLine::ToolResult { id, is_error, output, error } => {
                let has_failed = is_error || error.is_some();
                let (status, body) = outcome_of(has_failed, output, error, &mut extra);
                cx.result(id, TextualResult::new(status, cx.at).with_body(body).with_extra(extra));
            }
            JsonLine::Error(severity, message) => memory.notice(severity, message, extra, cx),
            JsonLine::Result(line) => memory.result(line, cx),
        }
    }

    fn end(&self, memory: &mut GeminiMemory, cx: &mut Cx<'_>) {
        memory.growing.close(cx);
    }
}

impl GeminiMemory {
    fn message(
        &mut self,
        role: Cow<'_, str>,
        content: Text,
        is_delta: bool,
        mut extra: Extra,
        cx: &mut Cx<'_>,
    ) {
        let entry_type = match &*role {
            "assistant" => {
                let entry = cx.draft(NormalizedEntryType::AssistantMessage, content, extra);
                return match is_delta {
                    true => self.growing.grow(entry, cx),
                    false => self.growing.say(entry, cx),
                };
            }
            "user" => NormalizedEntryType::UserMessage,
            _ => {
                extra.push(("role".to_owned(), Json::from(Text::from(role))));
                NormalizedEntryType::SystemMessage
            }
        };
        self.growing.close(cx);
        cx.entry(entry_type, content, extra);
    }

    fn notice(&mut self, severity: Cow<'_, str>, message: Text, mut extra: Extra, cx: &mut Cx<'_>) {
        let entry_type = match &*severity {
            "warning" => NormalizedEntryType::SystemMessage,
            _ => {
                self.last_error = Some(message.clone());
                NormalizedEntryType::ErrorMessage
            }
        };
        extra.push(("severity".to_owned(), Json::from(Text::from(severity))));
        cx.entry(entry_type, message, extra);
    }

    fn result(&mut self, line: RunResult, cx: &mut Cx<'_>) {
        let RunResult { is_error, error, duration_ms, usage } = line;
        let last_error = self.last_error.take();
        let Failure { kind, message } = error.unwrap_or_default();
        if let Some(message) =
            message.clone().filter(|message| last_error.as_ref() != Some(message))
        {
            let extra = kind.iter().map(|kind| ("type".to_owned(), Json::from(kind.clone())));
            cx.entry(NormalizedEntryType::ErrorMessage, message, extra.collect::<Extra>());
        }
        let outcome = is_error.map(|is_error| match kind.as_ref().map(Text::decode).as_deref() {
            _ if !is_error => Outcome::Success,
            Some("FatalTurnLimitedError") => Outcome::LimitReached,
            Some("FatalCancellationError") => Outcome::Cancelled,
            _ => Outcome::Failed,
        });
        // The reason of an earlier run is outdated.
        let outcome_reason = match is_error {
            Some(true) => message.or(kind).or(last_error).or_else(|| Some("error".into())),
            Some(false) => Some("success".into()),
            None => None,
        };
        let ended_at = cx.at;
        cx.session(Session {
            outcome,
            outcome_reason,
            duration_ms,
            ended_at,
            ..Session::default()
        });
        for (model, usage) in usage {
            let model = model.or_else(|| cx.known().model.clone());
            cx.usage_of(model, usage);
        }
    }
}

/// The outcome of a call.
fn outcome_of(
    has_failed: bool,
    output: Option<Text>,
    error: Option<Failure>,
    extra: &mut Extra,
) -> (ToolStatus, Option<Text>) {
    let Failure { kind, message } = error.unwrap_or_default();
    let is_denied = kind.as_ref().is_some_and(|kind| *kind == "policy_violation");
    let status = textual_result::status(has_failed, is_denied, message.clone());
    extra.extend(kind.map(|kind| ("error.type".to_owned(), Json::from(kind))));
    let body = match (output, message) {
        (Some(output), Some(message)) if !output.is_empty() && output != message => {
            Some(Text::from(format!("{output}\n{message}")))
        }
        (output, message) => message.or(output),
    };
    (status, body)
}
