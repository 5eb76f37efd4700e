//! Streamed parts of messages, so that the complete lines do not repeat text.
//!
//! The complete line of a block precedes or follows the event that ends the block. So an entry stays open until its
//! line closes it. Entries that no line claims are closed with the run.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{action::ActionMapper, prelude::*};

/// The maximum number of blocks, messages and ids that are remembered.
const REMEMBERED: usize = 256;

/// The streamed blocks that wait for their complete line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Streamed {
    /// The message in progress of each agent.
    messages: VecDeque<Writing>,
    blocks: VecDeque<Block>,
    /// The ids of the latest entries; a repeated message needs new ids.
    opened: RecentIds,
    count: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Writing {
    parent: Option<CorrId>,
    message_id: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Block {
    parent: Option<CorrId>,
    message_id: Option<Text>,
    index: u64,
    /// Whether its message is still in progress.
    is_current: bool,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Kind {
    Said {
        /// The open entry; `None` while it is empty.
        corr_id: Option<CorrId>,
        is_thought: bool,
        text: Text,
    },
    Call {
        id: CorrId,
        tool_name: String,
        input: String,
    },
}

impl Streamed {
    /// Begins a message of an agent.
    pub(super) fn begin(&mut self, parent: Option<&CorrId>, message_id: Option<Text>) {
        self.stop(parent);
        self.messages.push_back(Writing { parent: parent.cloned(), message_id });
        if self.messages.len() > REMEMBERED {
            self.messages.pop_front();
        }
    }

    /// Ends the message of an agent.
    pub(super) fn stop(&mut self, parent: Option<&CorrId>) {
        self.messages.retain(|message| message.parent.as_ref() != parent);
        for block in &mut self.blocks {
            if block.parent.as_ref() == parent {
                block.is_current = false;
            }
        }
    }

    /// Begins a text, a thought or a call in the message in progress.
    pub(super) fn begin_within<R: CallResult>(
        &mut self,
        index: u64,
        kind: Kind,
        map: ActionMapper,
        cx: &mut Context<'_, R>,
    ) {
        let writing = self.messages.iter().find(|message| message.parent == cx.parent);
        let message_id = writing.and_then(|message| message.message_id.clone());
        self.begin_block(message_id, index, kind, map, cx);
    }

    fn begin_block<R: CallResult>(
        &mut self,
        message_id: Option<Text>,
        index: u64,
        kind: Kind,
        map: ActionMapper,
        cx: &mut Context<'_, R>,
    ) {
        let parent = cx.parent.clone();
        self.blocks.push_back(Block { parent, message_id, index, is_current: true, kind });
        if self.blocks.len() > REMEMBERED
            && let Some(oldest) = self.blocks.pop_front()
        {
            oldest.abandon(map, cx);
        }
    }

    /// Appends a chunk of a text or thought, in logs whose chunks name their message.
    pub fn piece<R: CallResult>(
        &mut self,
        message_id: &Text,
        index: u64,
        is_thought: bool,
        more: &Text,
        cx: &mut Context<'_, R>,
    ) {
        let parent = cx.parent.clone();
        let is_it = |block: &Block| {
            block.message_id.as_ref() == Some(message_id)
                && block.index == index
                && block.text_for(is_thought, parent.as_ref()).is_some()
        };
        if !self.blocks.iter().any(is_it) {
            let kind = Kind::said(is_thought);
            // No call begins here, so the mapper is never used.
            let map: ActionMapper = |name, input, _| MappedCall::tool(name, input);
            self.begin_block(Some(message_id.clone()), index, kind, map, cx);
        }
        self.grow_at(self.blocks.iter().position(is_it), more, cx);
    }

    /// Appends to a text or thought. A block whose complete line has been read is skipped.
    pub(super) fn grow<R: CallResult>(&mut self, index: u64, more: &Text, cx: &mut Context<'_, R>) {
        self.grow_at(self.current(index, cx.parent.as_ref()), more, cx);
    }

    fn grow_at<R: CallResult>(&mut self, at: Option<usize>, more: &Text, cx: &mut Context<'_, R>) {
        if more.is_empty() {
            return;
        }
        let Some(block) = at.and_then(|at| self.blocks.get_mut(at)) else { return };
        let Kind::Said { corr_id, is_thought, text } = &mut block.kind else { return };
        text.push(more);
        if let Some(corr_id) = corr_id.clone() {
            return cx.grow(corr_id, more.clone());
        }
        let entry_type = match is_thought {
            true => NormalizedEntryType::Thinking,
            false => NormalizedEntryType::AssistantMessage,
        };
        let entry = cx.draft(entry_type, more.clone(), (block.message_id.clone(), Vec::new()));
        let base = block.message_id.as_ref().map(Text::to_string);
        let id = next_id(&mut self.opened, &mut self.count, base, block.index);
        *corr_id = Some(id.clone());
        cx.open(id, entry);
    }

    /// Appends to a call's input.
    pub(super) fn grow_input(&mut self, index: u64, more: &str, parent: Option<&CorrId>) {
        let Some(at) = self.current(index, parent) else { return };
        if let Some(Block { kind: Kind::Call { input, .. }, .. }) = self.blocks.get_mut(at) {
            input.push_str(more);
        }
    }

    fn current(&self, index: u64, parent: Option<&CorrId>) -> Option<usize> {
        self.blocks.iter().rposition(|block| {
            block.is_current && block.index == index && block.parent.as_ref() == parent
        })
    }

    /// Emits a whole entry, possibly after its chunks.
    pub fn say<R: CallResult>(&mut self, whole: NormalizedEntry, cx: &mut Context<'_, R>) {
        if let Some(entry) = self.claim(whole, cx) {
            cx.push(entry);
        }
    }

    /// Claims the entry of a complete text: returns the text if no part of it was emitted.
    ///
    /// The text belongs to the first waiting block of its message and kind. If the ids of message and line differ, the
    /// text itself identifies the block.
    pub fn claim<R: CallResult>(
        &mut self,
        entry: NormalizedEntry,
        cx: &mut Context<'_, R>,
    ) -> Option<NormalizedEntry> {
        if self.blocks.is_empty() {
            return Some(entry);
        }
        let thinks = match entry.entry_type {
            NormalizedEntryType::Thinking => true,
            NormalizedEntryType::AssistantMessage | NormalizedEntryType::ErrorMessage => false,
            _ => return Some(entry),
        };
        let metadata = entry.metadata.as_deref();
        let parent = metadata.and_then(|metadata| metadata.parent_corr_id.as_ref());
        let message_id = metadata.and_then(|metadata| metadata.message_id.as_ref());
        let by_id = self.blocks.iter().position(|block| {
            message_id.is_some()
                && block.message_id.as_ref() == message_id
                && block.text_for(thinks, parent).is_some()
        });
        let at = by_id.or_else(|| {
            let says_it = |text: &Text| entry.content == *text;
            self.blocks.iter().position(|block| block.text_for(thinks, parent).is_some_and(says_it))
        });
        let Some(block) = at.and_then(|at| self.blocks.remove(at)) else { return Some(entry) };
        let Kind::Said { corr_id: Some(corr_id), text, .. } = block.kind else {
            return Some(entry);
        };
        let says_more = entry.content != text
            || entry.entry_type == NormalizedEntryType::ErrorMessage
            || entry.metadata.as_ref().is_some_and(|metadata| {
                metadata.message_id != block.message_id
                    || metadata.model.is_some()
                    || !metadata.extra.is_empty()
            });
        cx.close(corr_id, says_more.then_some(entry));
        None
    }

    /// Claims a call by its complete line.
    pub fn claim_call(&mut self, call: &CorrId) {
        self.blocks.retain(|block| !matches!(&block.kind, Kind::Call { id, .. } if id == call));
    }

    /// Ends the run: closes unclaimed entries with their streamed text.
    pub fn abandon<R: CallResult>(&mut self, map: ActionMapper, cx: &mut Context<'_, R>) {
        self.messages.clear();
        for block in std::mem::take(&mut self.blocks) {
            block.abandon(map, cx);
        }
    }
}

impl Kind {
    pub(super) fn said(is_thought: bool) -> Self {
        Self::Said { corr_id: None, is_thought, text: Text::default() }
    }
}

impl Block {
    /// The emitted text of the block, if it is of this kind.
    fn text_for(&self, thinks: bool, parent: Option<&CorrId>) -> Option<&Text> {
        match &self.kind {
            Kind::Said { is_thought, text, .. }
                if *is_thought == thinks && self.parent.as_ref() == parent =>
            {
                Some(text)
            }
            _ => None,
        }
    }

    fn abandon<R: CallResult>(self, map: ActionMapper, cx: &mut Context<'_, R>) {
        match self.kind {
            Kind::Said { corr_id, .. } => {
                if let Some(corr_id) = corr_id {
                    cx.close(corr_id, None);
                }
            }
            Kind::Call { id, tool_name, input } => {
                // A truncated input is not JSON and is kept as text.
                let text = Raw::parse(&input).is_err().then(|| foldline_json::literal(&input));
                let input = Raw::parse(text.as_ref().unwrap_or(&input)).ok();
                let parent = std::mem::replace(&mut cx.parent, self.parent);
                let call = map(&tool_name, input, cx.cwd().as_deref());
                cx.call(Some(id), &tool_name, call, (self.message_id, Vec::new()));
                cx.parent = parent;
            }
        }
    }
}

/// A new id for an entry: `msg_1/0`, or another id for a repeated message.
fn next_id(
    opened: &mut RecentIds,
    count: &mut u64,
    message_id: Option<String>,
    index: u64,
) -> CorrId {
    let number = *count;
    *count += 1;
    let wanted = message_id.map(|id| CorrId::from(format!("{id}/{index}")));
    let id = match wanted.filter(|id| !opened.contains(id)) {
        Some(id) => id,
        None => CorrId::from(format!("streamed-{number}/{index}")),
    };
    opened.insert(id.clone(), REMEMBERED);
    id
}
