//! What streams and session files have in common: messages in, entries and calls out.

use crate::json::Raw;

use super::{
    action_mapper,
    content::{Block, BlockKind, Message, ToolResult, ToolUse},
    detail::ResultDetail,
    markup,
    result::{self, ClaudeResult},
};
use crate::{
    conversation::{CorrId, NormalizedEntry, NormalizedEntryType, Session, Text, ToolStatus},
    executors::{
        context::{Context, Meta},
        executor::Extra,
        wire::Fields,
    },
};

/// What is said of one line.
pub(super) type Cx<'s> = Context<'s, ClaudeResult>;

/// What stands beside a message with results.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside<'a> {
    /// `tool_use_result`.
    pub(super) detail: Option<Raw<'a>>,
    /// `tool_result_meta`.
    pub(super) meta: Option<&'a [Raw<'a>]>,
}

/// Who a user message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The person, or for a sub-agent the agent that started it.
    Person,
    /// The program, in the person's name.
    Program,
}

/// Somebody who may have shown an entry before: gives it back if not.
pub(super) type Claim<'c> =
    &'c mut dyn FnMut(NormalizedEntry, &mut Cx<'_>) -> Option<NormalizedEntry>;

/// The main conversation goes on with a model; that it is another one than before is shown.
pub(super) fn model(model: Option<Text>, cx: &mut Cx<'_>) {
    let model = model.filter(|model| is_news(model, cx));
    if model.is_some() {
        cx.session(Session { model, ..Session::default() });
    }
}

/// Something that the program says.
pub(super) fn notice(text: impl Into<Text>, cx: &mut Cx<'_>) {
    cx.entry(NormalizedEntryType::SystemMessage, text, ());
}

/// A message of the model. `entry_type` is what its texts are.
pub(super) fn assistant(
    message: Message<'_>,
    entry_type: &NormalizedEntryType,
    mut extra: Extra,
    claim: Claim<'_>,
    cx: &mut Cx<'_>,
) {
    extra.extend(cx.unknown_fields("assistant.message", &message.unknown));
    let model = message.model.filter(|model| is_news(model, cx));
    let said = |extra: &mut Extra| Meta {
        message_id: message.id.clone(),
        model: model.clone(),
        extra: std::mem::take(extra),
    };
    for Block { kind, unknown } in message.content {
        let (entry_type, text) = match kind {
            BlockKind::Text(text) | BlockKind::Thinking(text) if text.is_empty() => {
                cx.unknown_fields("assistant.empty", &unknown);
                continue;
            }
            BlockKind::Text(text) | BlockKind::Media(text) => {
                extra.extend(cx.unknown_fields("assistant.text", &unknown));
                (entry_type.clone(), text)
            }
            BlockKind::Thinking(text) => {
                extra.extend(cx.unknown_fields("assistant.thinking", &unknown));
                (NormalizedEntryType::Thinking, text)
            }
            BlockKind::ToolUse(tool) => {
                extra.extend(cx.unknown_fields("tool_use", &unknown));
                call(tool, said(&mut extra), cx);
                continue;
            }
            BlockKind::ToolResult(answer) => {
                result(answer, unknown, ResultDetail::default(), cx);
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
        let entry = cx.draft(entry_type, text, said(&mut extra));
        if let Some(entry) = claim(entry, cx) {
            cx.push(entry);
        }
    }
}

/// A message to the model: what somebody said, and what the tools gave back.
pub(super) fn user(
    message: Message<'_>,
    from: Speaker,
    mut extra: Extra,
    beside: Beside<'_>,
    cx: &mut Cx<'_>,
) {
    extra.extend(cx.unknown_fields("user.message", &message.unknown));
    let results = message.content.iter().filter(|block| block.is_result()).count();
    for Block { kind, unknown } in message.content {
        match kind {
            BlockKind::Text(text) | BlockKind::Media(text) | BlockKind::Thinking(text) => {
                extra.extend(cx.unknown_fields("user.text", &unknown));
                let (entry_type, text) = match from {
                    Speaker::Person => markup::read(text),
                    Speaker::Program => (NormalizedEntryType::SystemMessage, text),
                };
                if !text.is_empty() {
                    cx.entry(entry_type, text, std::mem::take(&mut extra));
                }
            }
            BlockKind::ToolResult(answer) => {
                // The field beside the message is about its one result.
                let detail = beside.detail.filter(|_| results == 1);
                let mut detail = detail.map(ResultDetail::read).unwrap_or_default();
                let id = answer.id.as_ref().map(CorrId::as_str);
                detail.add_meta(beside.meta.unwrap_or_default(), id);
                result(answer, unknown, detail, cx);
            }
            BlockKind::ToolUse(tool) => {
                extra.extend(cx.unknown_fields("tool_use", &unknown));
                call(tool, (message.id.clone(), std::mem::take(&mut extra)), cx);
            }
            BlockKind::RedactedThinking => {}
            BlockKind::Unknown { name, raw } => cx.unknown_block(&name, raw),
        }
    }
}

pub(super) fn call(tool: ToolUse<'_>, meta: impl Into<Meta>, cx: &mut Cx<'_>) {
    let call = action_mapper::map(&tool.name, tool.input, cx.cwd().as_deref());
    cx.call(tool.id, &tool.name, call, meta);
}

fn result(answer: ToolResult<'_>, unknown: Fields<'_>, detail: ResultDetail, cx: &mut Cx<'_>) {
    cx.unknown_fields("tool_result", &unknown);
    for (name, raw) in &answer.unknown_parts {
        cx.unknown_part(name, *raw);
    }
    let id = answer.id.clone();
    cx.result(id, ClaudeResult::new(answer, detail, cx.at, result::kept(unknown)));
}

/// The log shows that an open call is running.
pub(super) fn running(call: &CorrId, cx: &mut Cx<'_>) {
    let created = |entry: &NormalizedEntry| {
        entry.tool().is_some_and(|tool| tool.status == ToolStatus::Created)
    };
    if cx.calls().get(call).is_some_and(created) {
        cx.update(call, |entry| {
            if let Some(tool) = entry.tool_mut() {
                tool.status = ToolStatus::InProgress;
            }
        });
    }
}

fn is_news(model: &Text, cx: &Cx<'_>) -> bool {
    cx.known().model.as_ref().is_none_or(|known| !is_same_model(known, model))
}

/// A session's model may be spelt with the size of its context: `claude-opus-4-6[1m]`.
fn is_same_model(a: &Text, b: &Text) -> bool {
    let (a, b) = (a.decode(), b.decode());
    let base = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
    a == b || (a.contains('[') != b.contains('[') && base(&a) == base(&b))
}
