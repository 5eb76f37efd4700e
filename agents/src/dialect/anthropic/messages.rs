//! Converts the blocks of a message to entries, calls and results.

use super::{Block, BlockKind, Message, ToolResult, ToolUse};
use crate::prelude::*;

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
