//! `stream_event`: parts of a message in progress, with `--include-partial-messages`.

use super::{Message, error_message, take_usage};
use crate::{
    action::ActionMapper,
    dialect::streamed::{Kind, Streamed},
    prelude::*,
};

/// A part of a message in progress.
#[derive(Clone, Debug)]
pub enum PartialEvent<'a> {
    /// `message_start`.
    MessageStart(Box<Message<'a>>),
    /// `content_block_start`.
    BlockStart {
        /// The index of the block in its message.
        index: u64,
        /// The block's type.
        kind: Cow<'a, str>,
        /// The beginning of its text, thought or input.
        text: Text,
        /// The id of a call.
        call: Option<CorrId>,
        /// The tool of a call.
        tool_name: Cow<'a, str>,
    },
    /// `content_block_delta`.
    BlockDelta {
        /// The index of the block in its message.
        index: u64,
        /// The appended content.
        delta: Delta<'a>,
    },
    /// `message_delta`: the tokens so far.
    MessageDelta(Option<TokenUsage>),
    /// `error`.
    Error(Text),
    /// `message_stop`.
    MessageStop,
    /// `content_block_stop`, `ping`: ignored, since the whole block precedes or follows.
    Quiet,
}

/// Content appended to a block.
#[derive(Clone, Debug)]
pub enum Delta<'a> {
    /// `text_delta`, `thinking_delta`.
    Text(Text),
    /// `input_json_delta`.
    Input(Cow<'a, str>),
    /// `signature_delta`, `citations_delta`: ignored.
    Quiet,
    /// A type that this version does not know.
    Unknown(Raw<'a>),
}

impl<'a> PartialEvent<'a> {
    /// The event of a record of the type `stream_event`.
    pub fn take(object: &mut Object<'a>) -> Parsed<Self> {
        let Some(mut event) = object.get("event").and_then(value::object) else {
            return Parsed::Unknown;
        };
        let kind = event.str("type").unwrap_or_default();
        let partial = match &*kind {
            "message_start" => {
                let message = event.object("message").unwrap_or_default();
                Self::MessageStart(Box::new(Message::take(message)))
            }
            "content_block_start" => {
                let index = event.u64("index").unwrap_or(0);
                let mut block = event.object("content_block").unwrap_or_default();
                let kind = block.str("type").unwrap_or_default();
                Self::BlockStart {
                    index,
                    text: block.text(&kind).unwrap_or_default(),
                    kind,
                    call: block.corr_id("id"),
                    tool_name: block.str("name").unwrap_or_default(),
                }
            }
            "content_block_delta" => Self::BlockDelta {
                index: event.u64("index").unwrap_or(0),
                delta: event.raw("delta").map_or(Delta::Quiet, Delta::read),
            },
            "message_delta" => {
                event.ignore(&["delta", "context_management"]);
                Self::MessageDelta(take_usage(&mut event))
            }
            "error" => Self::Error(event.raw("error").map(error_message).unwrap_or_default()),
            "message_stop" => Self::MessageStop,
            "content_block_stop" | "ping" => {
                event.ignore(&["index"]);
                Self::Quiet
            }
            _ => return Parsed::Unknown,
        };
        object.ignore(&["event", "ttft_ms"]);
        object.adopt("", event);
        match partial {
            Self::Quiet | Self::BlockDelta { delta: Delta::Quiet, .. } => Parsed::Ignored,
            partial => Parsed::Line(partial),
        }
    }
}

impl<'a> Delta<'a> {
    fn read(raw: Raw<'a>) -> Self {
        let Some(mut delta) = value::object(raw) else { return Self::Unknown(raw) };
        match delta.str("type").as_deref() {
            Some("text_delta") => Self::Text(delta.text("text").unwrap_or_default()),
            Some("thinking_delta") => Self::Text(delta.text("thinking").unwrap_or_default()),
            Some("input_json_delta") => Self::Input(delta.str("partial_json").unwrap_or_default()),
            Some("signature_delta" | "citations_delta") => Self::Quiet,
            _ => Self::Unknown(raw),
        }
    }
}

impl Streamed {
    /// Applies a part of a message. `map` maps calls without a complete line.
    pub fn read<R: CallResult>(
        &mut self,
        event: PartialEvent<'_>,
        map: ActionMapper,
        cx: &mut Context<'_, R>,
    ) {
        match event {
            PartialEvent::MessageStart(message) => self.begin(cx.parent.as_ref(), message.id),
            PartialEvent::BlockStart { index, kind, text, call, tool_name } => {
                let kind = match (&*kind, call) {
                    ("text", _) => Kind::said(false),
                    ("thinking", _) => Kind::said(true),
                    (kind, Some(id)) if kind.ends_with("tool_use") => {
                        let (tool_name, input) = (tool_name.into_owned(), String::new());
                        Kind::Call { id, tool_name, input }
                    }
                    // The complete line has the content.
                    _ => return,
                };
                self.begin_within(index, kind, map, cx);
                self.grow(index, &text, cx);
            }
            PartialEvent::BlockDelta { index, delta } => match delta {
                Delta::Text(text) => self.grow(index, &text, cx),
                Delta::Input(more) => self.grow_input(index, &more, cx.parent.as_ref()),
                Delta::Quiet => {}
                Delta::Unknown(raw) => cx.unknown_block("delta", raw),
            },
            PartialEvent::MessageStop => self.stop(cx.parent.as_ref()),
            PartialEvent::Error(message) => {
                cx.entry(NormalizedEntryType::ErrorMessage, message, ());
            }
            PartialEvent::MessageDelta(_) | PartialEvent::Quiet => {}
        }
    }
}
