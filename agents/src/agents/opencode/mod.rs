//! opencode: the stream of `opencode run --format json`.

mod action_mapper;
mod result;
mod session;
#[cfg(feature = "databases")]
mod source;
mod types;

pub use self::session::OpencodeSession;
#[cfg(feature = "databases")]
pub use self::source::OpencodeSource;
use self::{
    result::{Cx, OpencodeResult},
    types::{JsonLine, Kind},
};
use crate::prelude::*;

/// `opencode run --format json`.
///
/// - A call is reported at its end, with its result.
/// - Each step states its own tokens and cost.
/// - A run has no final record: it ends with a step that stops or with an error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opencode;

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
            Kind::ToolUse(line) => result::call_ended(*line, meta, cx),
            Kind::StepFinish(reason, usage) => {
                cx.usage(usage);
                result::run_ended(reason, cx);
            }
            Kind::Error(failure) => result::run_failed(failure, meta, cx),
        }
    }
}
