//! The threads that Amp kept, `~/.local/share/amp/threads/T-<id>.json`.

mod types;

use serde::{Deserialize, Serialize};

use self::types::{Answer, Message, Part, ThreadDocument, is_blank};
use super::{action_mapper, result::AmpResult};
use crate::{
    dialect::anthropic::{Block, BlockKind},
    prelude::*,
};

/// A thread: one document, which Amp writes again whenever it changes. Each message states its tokens once.
#[derive(Clone, Copy, Debug, Default)]
pub struct AmpThread;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AmpThreadMemory {}

type Cx<'s> = Context<'s, AmpResult>;

impl Executor for AmpThread {
    const FORMAT: Format = Format::new("amp-thread", "Amp, thread file", "amp").with_homes(&[
        "${AMP_THREADS_DIR:-~/.local/share/amp/threads}",
        "${XDG_DATA_HOME:-~/.local/share}/amp/threads",
    ]);
    type Line<'a> = ThreadDocument<'a>;
    type Result = AmpResult;
    type Memory = AmpThreadMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let is_thread = object.get_str("id").is_some_and(|id| id.starts_with("T-"));
        Evidence::certain_if(is_thread && object.has_all(&["v", "created", "messages"]))
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<ThreadDocument<'a>> {
        if self.recognise(object) != Evidence::Certain {
            return Parsed::Unknown;
        }
        header.name = "thread".into();
        Parsed::Line(ThreadDocument::take(object))
    }

    fn line(
        &self,
        line: ThreadDocument<'_>,
        extra: Extra,
        _memory: &mut AmpThreadMemory,
        cx: &mut Cx<'_>,
    ) {
        let ThreadDocument { facts, mode, messages } = line;
        cx.at = facts.started_at;
        cx.session(facts);
        if let Some(mode) = mode {
            cx.entry(NormalizedEntryType::SystemMessage, format!("agent mode: {mode}"), extra);
        }
        for message in messages {
            cx.at = message.at.or(cx.at);
            tell(message, cx);
        }
    }
}

fn tell(message: Message<'_>, cx: &mut Cx<'_>) {
    let Message { id, is_user, blocks, model, usage, is_cancelled, unknown, .. } = message;
    let mut meta = Meta::from(cx.unknown_fields("message", &unknown));
    let kind = match is_user {
        true => NormalizedEntryType::UserMessage,
        false => NormalizedEntryType::AssistantMessage,
    };
    if model.is_some() && cx.known().model != model {
        cx.session(Session { model: model.clone(), ..Session::default() });
    }
    for block in blocks {
        match block {
            Part::Block(block) if is_blank(&block.kind) => {}
            Part::Block(block) => show(block, kind.clone(), &mut meta, cx),
            Part::Answer(answer) => result(answer, cx),
        }
    }
    if is_cancelled {
        cx.entry(NormalizedEntryType::SystemMessage, "cancelled", meta.next());
    }
    let thread = cx.known().session_id.clone();
    let key = thread.zip(id).map(|(thread, id)| Text::from(format!("{thread}/{id}")));
    cx.usage_of_message(key, model, usage);
}

fn show(block: Block<'_>, kind: NormalizedEntryType, meta: &mut Meta, cx: &mut Cx<'_>) {
    let more = cx.unknown_fields("block", &block.unknown);
    meta.extra.extend(more);
    match block.kind {
        BlockKind::Text(content) | BlockKind::Media(content) => {
            cx.entry(kind, content, meta.next());
        }
        BlockKind::Thinking(text) => cx.entry(NormalizedEntryType::Thinking, text, meta.next()),
        BlockKind::RedactedThinking => {
            cx.entry(NormalizedEntryType::Thinking, "[redacted]", meta.next());
        }
        BlockKind::ToolUse(call) => {
            let mapped = action_mapper::map(&call.name, call.input, cx.cwd().as_deref());
            cx.call(call.id, &call.name, mapped, meta.next());
        }
        BlockKind::ToolResult(answer) => {
            cx.entry(NormalizedEntryType::SystemMessage, answer.body, meta.next());
        }
        BlockKind::Unknown { name, raw } => cx.unknown_block(&name, raw),
    }
}

fn result(answer: Answer<'_>, cx: &mut Cx<'_>) {
    let Answer { call, status, result, error, unknown } = answer;
    let extra = cx.unknown_fields("run", &unknown);
    let status = match &*status.decode() {
        "error" => ToolStatus::Failed,
        "cancelled" => ToolStatus::Cancelled,
        "rejected-by-user" => ToolStatus::Denied { reason: error.clone() },
        _ => ToolStatus::Success,
    };
    let body = result.filter(|result| !result.is_null()).map(value::into_text).or(error);
    cx.result(call, AmpResult::new(status, cx.at).with_body(body).with_extra(extra));
}
