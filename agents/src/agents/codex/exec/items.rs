//! Items of `codex exec --json`: texts, which may grow, and tool calls.

use std::collections::BTreeMap;

use foldline_domain::tool_calls::CallResult as _;
use serde::{Deserialize, Serialize};

use super::{
    threads::Threads,
    types::{Item, ItemKind, Phase},
};
use crate::{
    codex::{result::CodexResult, tools::Tool},
    prelude::*,
};

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CodexExecMemory {
    pub(super) threads: Threads,
    pub(super) growing: Growing,
    pub(super) turns: u64,
    /// The last failure of this turn, which may be reported twice.
    pub(super) last_error: Option<Text>,
}

/// A line during its processing.
pub(super) struct Step<'s, 'c> {
    pub(super) memory: &'s mut CodexExecMemory,
    pub(super) cx: &'s mut Context<'c, CodexResult>,
    /// The thread in the line.
    pub(super) thread: Option<&'s str>,
}

impl Step<'_, '_> {
    pub(super) fn item(&mut self, phase: Phase, item: Item<'_>, mut extra: Extra) {
        let Item { id, name, kind, unknown } = item;
        extra.extend(self.cx.unknown_fields(&name, &unknown));
        let id = id.map(|id| self.memory.threads.corr_id(self.thread, &id));
        match kind {
            ItemKind::Message(text) => {
                self.text(phase, id, NormalizedEntryType::AssistantMessage, text, extra);
            }
            ItemKind::Reasoning(text) => {
                self.text(phase, id, NormalizedEntryType::Thinking, text, extra);
            }
            ItemKind::Tool(tool) => self.tool(phase, id, &tool, extra),
            ItemKind::Error(message) => {
                if phase == Phase::Completed {
                    self.cx.entry(NormalizedEntryType::ErrorMessage, message, extra);
                }
            }
            ItemKind::Unknown(item) => self.cx.unknown_block(&name, item),
        }
    }

    /// Emits a text. Messages and thoughts are complete unless a harness streams them.
    fn text(
        &mut self,
        phase: Phase,
        id: Option<CorrId>,
        entry_type: NormalizedEntryType,
        text: Text,
        extra: Extra,
    ) {
        let Self { memory, cx, .. } = self;
        let grows = id.as_ref().is_some_and(|id| memory.growing.contains(id));
        if text.is_empty() && !grows {
            return;
        }
        match (phase, id) {
            (Phase::Started | Phase::Updated, Some(id)) if grows => {
                memory.growing.grow(&id, text, cx);
            }
            (Phase::Started | Phase::Updated, Some(id)) => {
                let entry = cx.draft(entry_type, text, extra);
                memory.growing.open(id, entry, cx);
            }
            (Phase::Completed, Some(id)) if grows => {
                let whole = cx.draft(entry_type, text, extra);
                memory.growing.close(&id, whole, cx);
            }
            (Phase::Completed, _) => cx.entry(entry_type, text, extra),
            (Phase::Started | Phase::Updated, None) => {}
        }
    }

    fn tool(&mut self, phase: Phase, id: Option<CorrId>, tool: &Tool<'_>, extra: Extra) {
        let Self { memory, cx, .. } = self;
        let call = tool.call(cx.cwd().as_deref());
        let mut result = tool.result();
        (result.action, result.title) =
            (Some(Box::new(call.action.clone())), Some(call.title.clone()));
        result.extra.extend(extra);
        for (name, block) in tool.unknown_blocks() {
            cx.unknown_block(name, block.clone());
        }
        if let (Tool::Agents(agents), Some(id)) = (tool, &id) {
            for thread in &agents.threads {
                memory.threads.spawned(&thread.decode(), id);
            }
        }
        let name = tool.name();
        let is_known = id.as_ref().is_some_and(|id| cx.calls().knows(id));
        match (phase, id) {
            (Phase::Started, id) => cx.call(id, &name, call, ()),
            (Phase::Updated, Some(id)) => {
                if !is_known {
                    cx.call(Some(id.clone()), &name, call, ());
                }
                result.status = ToolStatus::InProgress;
                cx.update(&id, |call| result.complete(call));
            }
            (Phase::Completed, Some(id)) => {
                if is_known {
                    result.timestamp = cx.at;
                } else {
                    cx.call(Some(id.clone()), &name, call, ());
                }
                cx.result(id, result);
            }
            (Phase::Updated, None) => {}
            (Phase::Completed, None) => {
                if cx.calls().oldest_of(&name).is_none() {
                    cx.call(None, &name, call, ());
                }
                let tool_name = Some(name.into());
                cx.result(ResultKey { tool_name, ..ResultKey::default() }, result);
            }
        }
    }
}

/// The number of opened entries that are remembered.
const REMEMBERED: usize = 256;

type Cx<'s> = Context<'s, CodexResult>;

/// Incomplete messages and thoughts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Growing {
    /// The open texts by item.
    texts: BTreeMap<CorrId, Open>,
    /// The ids of the latest entries; an item that restarts needs a new id.
    opened: RecentIds,
    count: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Open {
    corr_id: CorrId,
    text: Text,
}

impl Growing {
    pub(super) fn contains(&self, item: &CorrId) -> bool {
        self.texts.contains_key(item)
    }

    pub(super) fn open(&mut self, item: CorrId, entry: NormalizedEntry, cx: &mut Cx<'_>) {
        self.count += 1;
        let mut corr_id = CorrId::from(format!("{item}/text"));
        if self.opened.contains(&corr_id) {
            corr_id = CorrId::from(format!("{item}/text-{}", self.count));
        }
        self.opened.insert(corr_id.clone(), REMEMBERED);
        let text = entry.content.clone();
        self.texts.insert(item, Open { corr_id: corr_id.clone(), text });
        cx.open(corr_id, entry);
    }

    /// Updates an item with its whole text.
    pub(super) fn grow(&mut self, item: &CorrId, text: Text, cx: &mut Cx<'_>) {
        let Some(Open { corr_id, text: known }) = self.texts.get_mut(item) else { return };
        let grown = text.decode();
        let more = grown.strip_prefix(&*known.decode()).filter(|more| !more.is_empty());
        if let Some(more) = more.map(Text::from) {
            cx.grow(corr_id.clone(), more);
            *known = text;
        }
    }

    pub(super) fn close(&mut self, item: &CorrId, whole: NormalizedEntry, cx: &mut Cx<'_>) {
        if let Some(Open { corr_id, .. }) = self.texts.remove(item) {
            cx.close(corr_id, Some(whole));
        }
    }

    /// Closes all open texts at the end of the log.
    pub(super) fn finish(&mut self, cx: &mut Cx<'_>) {
        for (_, Open { corr_id, .. }) in std::mem::take(&mut self.texts) {
            cx.close(corr_id, None);
        }
    }
}
