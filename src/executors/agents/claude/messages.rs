//! What streams and session files have in common: messages in, entries and calls out.

use super::{
    action_mapper,
    detail::ResultDetail,
    markup,
    result::{self, ClaudeResult},
};
use crate::{
    conversation::{CorrId, NormalizedEntry, NormalizedEntryType, Session, Text},
    executors::{
        Context, Extra, MappedCall, Meta,
        dialect::anthropic::{self, Block, BlockKind, Message, Reader, ToolResult},
    },
    json::Raw,
};

/// What is said of one line.
pub(super) type Cx<'s> = Context<'s, ClaudeResult>;

/// Somebody who may have shown an entry before: gives it back if not.
pub(super) type Claim<'c> =
    &'c mut dyn FnMut(NormalizedEntry, &mut Cx<'_>) -> Option<NormalizedEntry>;

/// The main conversation goes on with a model; that it is another one than before is shown.
pub(super) fn model(model: Option<Text>, cx: &mut Cx<'_>) {
    let model = model.filter(|model| is_new_model(model, cx));
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
    extra: Extra,
    claim: Claim<'_>,
    cx: &mut Cx<'_>,
) {
    let model = message.model.clone().filter(|model| is_new_model(model, cx));
    let meta = Meta { message_id: message.id.clone(), model, extra };
    anthropic::read(message, "assistant", meta, &mut FromModel { entry_type, claim }, cx);
}

struct FromModel<'c> {
    entry_type: &'c NormalizedEntryType,
    claim: Claim<'c>,
}

impl Reader<ClaudeResult> for FromModel<'_> {
    fn text(&mut self, text: Text) -> (NormalizedEntryType, Text) {
        (self.entry_type.clone(), text)
    }

    fn call(&mut self, name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
        action_mapper::map(name, input, cwd)
    }

    fn result(&mut self, answer: ToolResult<'_>, extra: Extra, cx: &mut Cx<'_>) -> ClaudeResult {
        result::of(answer, ResultDetail::default()).at(cx.at).with_extra(extra)
    }

    fn entry(&mut self, entry: NormalizedEntry, cx: &mut Cx<'_>) {
        if let Some(entry) = (self.claim)(entry, cx) {
            cx.push(entry);
        }
    }
}

/// What is known of a message to the model beside its blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ToModel<'a> {
    /// The program says it in the person's name. (The person of a sub-agent is the agent that started it.)
    pub(super) from_program: bool,
    /// `tool_use_result`: the one result of the message, in its tool's own shape.
    pub(super) detail: Option<Raw<'a>>,
    /// `tool_result_meta`: why tools were not run.
    pub(super) meta: &'a [Raw<'a>],
}

/// A message to the model: what somebody said, and what the tools gave back.
pub(super) fn user(message: Message<'_>, mut to: ToModel<'_>, extra: Extra, cx: &mut Cx<'_>) {
    let is_result = |block: &&Block<'_>| matches!(block.kind, BlockKind::ToolResult(_));
    if message.content.iter().filter(is_result).count() != 1 {
        to.detail = None;
    }
    anthropic::read(message, "user", Meta::from(extra), &mut to, cx);
}

impl Reader<ClaudeResult> for ToModel<'_> {
    fn text(&mut self, text: Text) -> (NormalizedEntryType, Text) {
        match self.from_program {
            true => (NormalizedEntryType::SystemMessage, text),
            false => markup::read(text),
        }
    }

    fn call(&mut self, name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
        action_mapper::map(name, input, cwd)
    }

    fn result(&mut self, answer: ToolResult<'_>, extra: Extra, cx: &mut Cx<'_>) -> ClaudeResult {
        let mut detail = self.detail.map(ResultDetail::read).unwrap_or_default();
        detail.add_meta(self.meta, answer.id.as_ref().map(CorrId::as_str));
        result::of(answer, detail).at(cx.at).with_extra(extra)
    }
}

/// Whether the program made the message up.
pub(super) fn is_synthetic(message: &Message<'_>) -> bool {
    message.model.as_ref().is_some_and(|model| *model == "<synthetic>")
}

fn is_new_model(model: &Text, cx: &Cx<'_>) -> bool {
    cx.known().model.as_ref().is_none_or(|known| !is_same_model(known, model))
}

/// A session's model may be spelt with the size of its context: `claude-opus-4-6[1m]`.
fn is_same_model(a: &Text, b: &Text) -> bool {
    let (a, b) = (a.decode(), b.decode());
    let base = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
    a == b || (a.contains('[') != b.contains('[') && base(&a) == base(&b))
}
