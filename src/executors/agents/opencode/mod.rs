//! opencode: the stream of `opencode run --format json`.

mod action_mapper;
mod result;
mod types;

use std::borrow::Cow;

use self::{
    result::OpencodeResult,
    types::{JsonLine, Kind, ToolUse},
};
use crate::{
    conversation::{
        Json, NormalizedEntryType, Outcome, Session, Text, TokenUsage, tool_calls::ResultKey,
    },
    executors::{Context, Evidence, Executor, Extra, Format, Header, Meta, Parsed, wire::Object},
};

/// `opencode run --format json`.
///
/// - A call is reported at its end, with its result.
/// - Each step states its own tokens and cost.
/// - A run has no final record: it ends with a step that stops or with an error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opencode;

type Cx<'s> = Context<'s, OpencodeResult>;

impl Executor for Opencode {
    const FORMAT: Format = Format::new("opencode", "opencode, run --format json", "opencode");
    type Line<'a> = JsonLine<'a>;
    type Result = OpencodeResult;
    type Memory = ();

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
            "step_start" | "step_finish" | "text" | "reasoning" | "tool_use" => {
                object.has_all(&["sessionID", "part"])
            }
            "error" => object.has_all(&["sessionID", "error"]),
            _ => false,
        })
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        object.get_str("sessionID")
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<JsonLine<'a>> {
        JsonLine::parse(object, header)
    }

    fn line(&self, line: JsonLine<'_>, extra: Extra, (): &mut (), cx: &mut Cx<'_>) {
        let JsonLine { message_id, kind } = line;
        let meta = Meta { message_id, extra, ..Meta::default() };
        match kind {
            Kind::StepStart => {
                if cx.known().started_at.is_none() {
                    cx.session(Session { started_at: cx.at, ..Session::default() });
                }
            }
            Kind::Text(text) => cx.entry(NormalizedEntryType::AssistantMessage, text, meta),
            Kind::Reasoning(text) => cx.entry(NormalizedEntryType::Thinking, text, meta),
            Kind::ToolUse(line) => tool_use(*line, meta, cx),
            Kind::StepFinish(reason, usage) => step_finish(reason, usage, cx),
            Kind::Error { name, message, facts } => {
                error(name, message, facts, meta, cx);
            }
        }
    }
}

fn tool_use(line: ToolUse<'_>, mut meta: Meta, cx: &mut Cx<'_>) {
    let id = line.id.clone();
    let call = action_mapper::map(&line.name, line.input);
    let title = line.title.clone().filter(|title| *title != call.title);
    meta.extra.extend(title.map(|title| ("title".to_owned(), Json::from(title))));
    cx.call(id.clone(), &line.name, call, meta);
    let key = ResultKey::from(id).with_tool(Text::from(&*line.name));
    cx.result(key, result::of(line));
}

fn step_finish(reason: Option<Cow<'_, str>>, usage: TokenUsage, cx: &mut Cx<'_>) {
    cx.usage(usage);
    let outcome = match reason.as_deref() {
        // The run continues.
        None | Some("tool-calls" | "unknown") => return,
        Some("stop") => Some(Outcome::Success),
        Some("length") => Some(Outcome::LimitReached),
        Some("error" | "content-filter") => Some(Outcome::Failed),
        Some(_) => None,
    };
    let (outcome_reason, ended_at) = (reason.map(Text::from), cx.at);
    cx.session(Session { outcome, outcome_reason, ended_at, ..Session::default() });
}

fn error(name: Cow<'_, str>, message: Option<Text>, facts: Extra, mut meta: Meta, cx: &mut Cx<'_>) {
    let outcome = match &*name {
        "MessageAbortedError" => Outcome::Cancelled,
        "MessageOutputLengthError" => Outcome::LimitReached,
        _ => Outcome::Failed,
    };
    let name = Text::from(name);
    let message = message.unwrap_or_else(|| name.clone());
    meta.extra.push(("name".to_owned(), Json::from(name)));
    meta.extra.extend(facts);
    cx.entry(NormalizedEntryType::ErrorMessage, message.clone(), meta);
    let (outcome, outcome_reason, ended_at) = (Some(outcome), Some(message), cx.at);
    cx.session(Session { outcome, outcome_reason, ended_at, ..Session::default() });
}
