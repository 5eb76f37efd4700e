//! Converts the blocks of a message to entries, calls and results, and ends denied calls.

use super::{Block, BlockKind, Message, ToolResult, ToolUse};
use crate::{action::ActionMapper, prelude::*};

/// The agent-specific part of reading blocks.
pub trait Reader<R: CallResult> {
    /// The kind of a text's entry and its displayed text. An empty text gives no entry.
    fn text(&mut self, text: Text) -> (NormalizedEntryType, Text);

    /// Maps a call with the agent's action mapper.
    fn call(&mut self, name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall;

    /// Reads a tool's result. `extra` are the block's unknown fields, which have been reported.
    fn result(&mut self, answer: ToolResult<'_>, extra: Extra, cx: &mut Context<'_, R>) -> R;

    /// Emits an entry.
    fn entry(&mut self, entry: NormalizedEntry, cx: &mut Context<'_, R>) {
        cx.push(entry);
    }
}

/// Emits the blocks of a message in order. Warnings name the message by `of`: `user`. Extra fields go to the first
/// entry, the message's id and model to each entry.
pub fn read<R: CallResult>(
    message: Message<'_>,
    of: &str,
    mut meta: Meta,
    reader: &mut impl Reader<R>,
    cx: &mut Context<'_, R>,
) {
    meta.extra.extend(cx.unknown_fields(&format!("{of}.message"), &message.unknown));
    for Block { kind, unknown } in message.content {
        let (entry_type, content) = match kind {
            BlockKind::Text(Content { text, .. }) | BlockKind::Thinking(text)
                if text.is_empty() =>
            {
                cx.unknown_fields(&format!("{of}.empty"), &unknown);
                continue;
            }
            BlockKind::Text(content) | BlockKind::Media(content) => {
                meta.extra.extend(cx.unknown_fields(&format!("{of}.text"), &unknown));
                let mut entry_type = NormalizedEntryType::UserMessage;
                let content = content.cut(|text| {
                    let (kind, text) = reader.text(text);
                    entry_type = kind;
                    text
                });
                (entry_type, content)
            }
            BlockKind::Thinking(text) => {
                meta.extra.extend(cx.unknown_fields(&format!("{of}.thinking"), &unknown));
                (NormalizedEntryType::Thinking, text.into())
            }
            BlockKind::ToolUse(ToolUse { id, name, input }) => {
                meta.extra.extend(cx.unknown_fields("tool_use", &unknown));
                let call = reader.call(&name, input, cx.cwd().as_deref());
                cx.call(id, &name, call, meta.next());
                continue;
            }
            BlockKind::ToolResult(answer) => {
                let extra = cx.unknown_fields("tool_result", &unknown);
                for (name, part) in &answer.unknown_parts {
                    cx.unknown_part(name, *part);
                }
                let id = answer.id.clone();
                let result = reader.result(answer, extra, cx);
                cx.result(id, result);
                continue;
            }
            BlockKind::RedactedThinking => {
                cx.unknown_fields("redacted_thinking", &unknown);
                continue;
            }
            BlockKind::Unknown { name, raw } => {
                cx.unknown_block(&name, raw);
                continue;
            }
        };
        if !content.is_empty() {
            let entry = cx.draft(entry_type, content, meta.next());
            reader.entry(entry, cx);
        }
    }
}

/// A denied call.
#[derive(Clone, Debug)]
pub struct Denial<'a> {
    call: Option<CorrId>,
    tool_name: Cow<'a, str>,
    input: Option<Raw<'a>>,
}

impl<'a> Denial<'a> {
    /// Takes the field `permission_denials`.
    pub fn take_all(object: &mut Object<'a>) -> Vec<Self> {
        let denials = object.array("permission_denials").unwrap_or_default();
        denials.into_iter().filter_map(Self::read).collect()
    }

    fn read(raw: Raw<'a>) -> Option<Self> {
        let mut object: Object<'a> = value::object(raw)?;
        Some(Self {
            call: object.corr_id("tool_use_id"),
            tool_name: object.str("tool_name").unwrap_or_default(),
            input: object.raw("tool_input"),
        })
    }

    /// Ends a denied call, unless it already has a result.
    pub fn end_call<R: CallResult>(self, map: ActionMapper, denied: R, cx: &mut Context<'_, R>) {
        let Self { call: Some(call), tool_name, input } = self else { return };
        let is_open = cx.calls().get(&call).is_some();
        if cx.calls().knows(&call) && !is_open {
            return;
        }
        if !is_open {
            let mapped = map(&tool_name, input, cx.cwd().as_deref());
            cx.call(Some(call.clone()), &tool_name, mapped, ());
        }
        cx.result(call, denied);
    }
}

/// The innermost message of an error, which providers wrap in `error` objects; a string is itself a message.
pub fn error_message(raw: Raw<'_>) -> Text {
    let mut innermost = raw;
    // Errors are wrapped two or three times; deeper ones are ignored.
    for _ in 0..8 {
        let Some(mut object) = value::object(innermost) else { break };
        match object.raw("error").or_else(|| object.raw("message")) {
            Some(inner) => innermost = inner,
            None => break,
        }
    }
    value::into_text(innermost)
}
