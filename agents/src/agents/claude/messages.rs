//! Messages of streams and session files, converted to entries and calls.

use super::{
    action_mapper, markup,
    result::{self, ClaudeResult, ResultDetail},
};
use crate::{
    dialect::anthropic::{self, Block, BlockKind, Message, Reader, ToolResult},
    prelude::*,
};

/// The context of a line.
pub(super) type Cx<'s> = Context<'s, ClaudeResult>;

/// A check for entries that were already emitted: returns the entry if it was not.
pub(super) type Claim<'c> =
    &'c mut dyn FnMut(NormalizedEntry, &mut Cx<'_>) -> Option<NormalizedEntry>;

/// Sets the model of the main conversation; a change is emitted as an entry.
pub(super) fn model(model: Option<Text>, cx: &mut Cx<'_>) {
    let model = model.filter(|model| is_new_model(model, cx));
    if model.is_some() {
        cx.session(Session { model, ..Session::default() });
    }
}

/// Emits a message of the program.
pub(super) fn notice(text: impl Into<Text>, cx: &mut Cx<'_>) {
    cx.entry(NormalizedEntryType::SystemMessage, text, ());
}

/// Emits a message of the model. `entry_type` is the kind of its texts.
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

/// Facts about a message to the model in addition to its blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct ToModel<'a> {
    /// The kind of its texts, if the program wrote them in the user's name. (The user of a sub-agent is the agent that
    /// started it.)
    pub(super) by_program: Option<NormalizedEntryType>,
    /// `tool_use_result`: the only result of the message, in a tool-specific form.
    pub(super) detail: Option<Raw<'a>>,
    /// `tool_result_meta`: the reasons why tools did not run.
    pub(super) meta: &'a [Raw<'a>],
}

/// Emits a message to the model: texts and tool results.
pub(super) fn user(message: Message<'_>, mut to: ToModel<'_>, extra: Extra, cx: &mut Cx<'_>) {
    let is_result = |block: &&Block<'_>| matches!(block.kind, BlockKind::ToolResult(_));
    if message.content.iter().filter(is_result).count() != 1 {
        to.detail = None;
    }
    anthropic::read(message, "user", Meta::from(extra), &mut to, cx);
}

impl Reader<ClaudeResult> for ToModel<'_> {
    fn text(&mut self, text: Text) -> (NormalizedEntryType, Text) {
        match &self.by_program {
            Some(kind) => (kind.clone(), text),
            None => markup::read(text),
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

/// Whether the program generated the message.
pub(super) fn is_synthetic(message: &Message<'_>) -> bool {
    message.model.as_ref().is_some_and(|model| *model == "<synthetic>")
}

fn is_new_model(model: &Text, cx: &Cx<'_>) -> bool {
    cx.known().model.as_ref().is_none_or(|known| !is_same_model(known, model))
}

/// Compares models without the size of the context, which a session may state: `claude-opus-4-6[1m]`.
fn is_same_model(a: &Text, b: &Text) -> bool {
    let (a, b) = (a.decode(), b.decode());
    let base = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
    a == b || (a.contains('[') != b.contains('[') && base(&a) == base(&b))
}
