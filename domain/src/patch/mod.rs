//! JSON Patches for user interfaces.
//!
//! [`PatchEmitter`] is the presentation side: unlike reducers, it knows the index of each entry. It gets new indices
//! from an [`EntryIndexProvider`], and resolves unknown correlations with a [`CorrIdResolver`].

mod conversation_patch;
mod index;
mod stream;

use std::{collections::BTreeMap, sync::Arc};

use foldline::transduce::{Batch, Emitter, Resume};
use serde::{Deserialize, Serialize};
use tracing::{debug, warn};

pub use self::{
    conversation_patch::{ConversationPatch, DoesNotFit},
    index::{CorrIdResolver, EntryIndexProvider, EntryIndices, NoResolver},
    stream::{PatchRecord, PatchStream, PatchStreamState, SessionPatches, session_patches},
};
use crate::conversation::{
    Conversation, CorrId, DomainEvent, EntryIdx, NormalizedEntry, Summary, SummaryPart, Text,
    WarningKind, entry_of_call,
};

/// Converts domain events into [`ConversationPatch`]es, at most one per event.
///
/// JSON Patch cannot append to a string, so a growing entry is replaced as a whole, but only when the unsent text is
/// a third of the sent text. The sent bytes therefore stay within a constant factor of the final text, the reader is
/// never further behind than that, and closing the entry sends the rest.
///
/// ```
/// use foldline::transduce::Transducer;
/// use foldline_agents::{ExecutorReducer, droid::Droid, wire::Record};
/// use foldline_domain::patch::PatchEmitter;
///
/// // The `&mut` shell round the pure core: `step` takes the state out, reduces, puts it back.
/// let mut transducer = Transducer::new(ExecutorReducer::new(Droid), PatchEmitter::default());
/// let mut patches = Vec::new();
/// let line = r#"{"type":"message","role":"user","id":"m1","text":"hi","timestamp":1}"#;
/// Record::read(line, |_, record| patches.extend(transducer.step(record)));
/// assert_eq!(patches.len(), 2); // the session's facts, and the entry
/// ```
#[derive(Clone, Debug)]
pub struct PatchEmitter<P = EntryIndices, C = NoResolver> {
    state: PatchState,
    indices: P,
    resolver: C,
}

/// The memory of a [`PatchEmitter`]: a plain value that can be stored with serde.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PatchState {
    /// The indices of entries that still grow or await a result.
    open: BTreeMap<CorrId, Open>,
    summary: Summary,
}

/// The state of a [`PatchEmitter`] that counts its own entries: its memory and the next index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PatchEmitterState {
    emitter: PatchState,
    next_index: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Open {
    index: EntryIdx,
    growing: Option<Box<Growing>>,
}

impl Default for PatchEmitter {
    /// An emitter for a new conversation.
    fn default() -> Self {
        Self::new(EntryIndices::default())
    }
}

impl PatchEmitter {
    /// An emitter that continues this conversation: it assigns the next index, and adds to the facts and totals. For
    /// calls that are open in it, it needs a [resolver](Self::with_resolver).
    pub fn continuing(conversation: &Conversation) -> Self {
        let summary = conversation.summary.clone();
        let state = PatchState { open: BTreeMap::new(), summary };
        Self::new(EntryIndices::starting_at(conversation.entries.len())).with_state(state)
    }
}

impl<P: EntryIndexProvider> PatchEmitter<P> {
    /// An emitter that takes the indices of new entries from `indices`.
    pub fn new(indices: P) -> Self {
        Self { state: PatchState::default(), indices, resolver: NoResolver }
    }
}

impl<P: EntryIndexProvider, C: CorrIdResolver> PatchEmitter<P, C> {
    /// Sets a resolver for unknown correlations.
    pub fn with_resolver<D: CorrIdResolver>(self, resolver: D) -> PatchEmitter<P, D> {
        PatchEmitter { state: self.state, indices: self.indices, resolver }
    }

    /// Sets a stored memory.
    #[must_use]
    pub fn with_state(mut self, state: PatchState) -> Self {
        self.state = state;
        self
    }

    /// The memory, for storing.
    pub fn state(&self) -> &PatchState {
        &self.state
    }

    /// The provider of indices.
    pub fn indices(&self) -> &P {
        &self.indices
    }

    /// The patch for an event.
    pub fn patch(&mut self, event: &DomainEvent) -> Option<ConversationPatch> {
        match event {
            DomainEvent::NewEntry { entry } => {
                let index = self.indices.next_index();
                debug!(%index, "entry added");
                Some(ConversationPatch::add_entry(index, Arc::clone(entry)))
            }
            DomainEvent::OpenEntry { corr_id, entry } => {
                let growing = Some(Box::new(Growing::new(entry)));
                let index = self.open(corr_id, growing);
                Some(ConversationPatch::add_entry(index, Arc::clone(entry)))
            }
            DomainEvent::GrowEntry { corr_id, text } => {
                let Some(Open { index, growing: Some(growing) }) = self.state.open.get_mut(corr_id)
                else {
                    return Some(self.missing(corr_id));
                };
                growing.push(text);
                let entry = growing.flush_if_worth_it()?;
                debug!(?corr_id, %index, "entry replaced");
                Some(ConversationPatch::replace_entry(*index, entry))
            }
            DomainEvent::CloseEntry { corr_id, entry } => self.close(corr_id, entry.as_ref()),
            DomainEvent::NewToolCall { corr_id, entry } => {
                let index = self.open(corr_id, None);
                Some(ConversationPatch::add_entry(index, entry_of_call(corr_id, entry)))
            }
            DomainEvent::UpdateToolCall { corr_id, entry } => {
                let Some(index) = self.index_of(corr_id) else {
                    return Some(self.missing(corr_id));
                };
                if entry.tool().is_none_or(|tool| tool.status.is_final()) {
                    self.state.open.remove(corr_id);
                }
                debug!(?corr_id, %index, open = self.state.open.len(), "entry replaced");
                Some(ConversationPatch::replace_entry(index, entry_of_call(corr_id, entry)))
            }
            DomainEvent::Session(_) | DomainEvent::Usage { .. } | DomainEvent::Warning(_) => {
                let part = self.state.summary.apply(event)?;
                self.summary_patch(part)
            }
            DomainEvent::SessionEnded => None,
        }
    }

    /// The remaining patches: unsent text of entries that were never closed.
    pub fn remaining(&mut self) -> impl Iterator<Item = ConversationPatch> {
        self.state.open.values_mut().filter_map(|open| {
            let entry = open.growing.as_mut()?.flush()?;
            Some(ConversationPatch::replace_entry(open.index, entry))
        })
    }

    fn open(&mut self, corr_id: &CorrId, growing: Option<Box<Growing>>) -> EntryIdx {
        let index = self.indices.next_index();
        self.state.open.insert(corr_id.clone(), Open { index, growing });
        debug!(?corr_id, %index, open = self.state.open.len(), "entry added");
        index
    }

    fn close(
        &mut self,
        corr_id: &CorrId,
        entry: Option<&Arc<NormalizedEntry>>,
    ) -> Option<ConversationPatch> {
        let Some(open) = self.state.open.remove(corr_id) else {
            return Some(self.missing(corr_id));
        };
        let index = open.index;
        debug!(?corr_id, %index, open = self.state.open.len(), "entry closed");
        if let Some(entry) = entry {
            return Some(ConversationPatch::replace_entry(index, Arc::clone(entry)));
        }
        let entry = open.growing?.flush()?;
        Some(ConversationPatch::replace_entry(index, entry))
    }

    fn index_of(&self, corr_id: &CorrId) -> Option<EntryIdx> {
        if let Some(open) = self.state.open.get(corr_id) {
            return Some(open.index);
        }
        let index = self.resolver.resolve_corr_id(corr_id)?;
        debug!(?corr_id, %index, "correlation resolved from the stored conversation");
        Some(index)
    }

    fn missing(&mut self, corr_id: &CorrId) -> ConversationPatch {
        warn!(?corr_id, "correlation missing: an update for an unknown entry");
        self.state.summary.warn(WarningKind::UnknownCorrelation);
        ConversationPatch::warnings(self.state.summary.warnings.clone())
    }

    fn summary_patch(&self, part: SummaryPart) -> Option<ConversationPatch> {
        let summary = &self.state.summary;
        Some(match part {
            SummaryPart::Session => {
                ConversationPatch::session((**summary.session.as_ref()?).clone())
            }
            SummaryPart::Usage => ConversationPatch::usage(summary.usage?),
            SummaryPart::Warning(_) => ConversationPatch::warnings(summary.warnings.clone()),
        })
    }
}

impl<P, C> Emitter<DomainEvent, ConversationPatch> for PatchEmitter<P, C>
where
    P: EntryIndexProvider,
    C: CorrIdResolver,
{
    fn emit(&mut self, event: &DomainEvent) -> Batch<ConversationPatch> {
        Batch::from(self.patch(event))
    }

    fn finish(&mut self) -> Batch<ConversationPatch> {
        self.remaining().collect()
    }
}

/// If several emitters share the [`EntryIndices`], store and resume their memories together.
impl<C: CorrIdResolver> Resume for PatchEmitter<EntryIndices, C> {
    type State = PatchEmitterState;

    fn state(&self) -> PatchEmitterState {
        PatchEmitterState { emitter: self.state.clone(), next_index: self.indices.given() }
    }

    fn resume(&mut self, state: PatchEmitterState) {
        self.state = state.emitter;
        self.indices.resume_at(state.next_index);
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Growing {
    entry: Arc<NormalizedEntry>,
    /// The length of the sent text, and of the text added since.
    sent: usize,
    pending: usize,
}

impl Growing {
    pub(super) fn new(entry: &Arc<NormalizedEntry>) -> Self {
        Self { entry: Arc::clone(entry), sent: entry.content.size(), pending: 0 }
    }

    pub(super) fn push(&mut self, text: &Text) {
        self.pending += text.size();
        Arc::make_mut(&mut self.entry).content.push(text);
    }

    /// The current entry, if the unsent text is at least a third of the sent text.
    pub(super) fn flush_if_worth_it(&mut self) -> Option<Arc<NormalizedEntry>> {
        if self.pending.saturating_mul(3) < self.sent { None } else { self.flush() }
    }

    /// The current entry, if it has unsent text.
    pub(super) fn flush(&mut self) -> Option<Arc<NormalizedEntry>> {
        if self.pending == 0 {
            return None;
        }
        self.sent += std::mem::take(&mut self.pending);
        Some(Arc::clone(&self.entry))
    }
}
