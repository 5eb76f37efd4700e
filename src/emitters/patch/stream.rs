//! [`PatchStream`]: numbered patches with their positions, as other programs read them.

use serde::{Deserialize, Serialize};

use super::{
    ConversationPatch, CorrIdResolver, EntryIndexProvider, EntryIndices, PatchEmitter, PatchState,
};
use crate::conversation::{DomainEvent, Located, Position};

/// One patch of the stream: a JSON object `{"seq":1,"position":{"line":1,"offset":0},"patch":[..]}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PatchRecord {
    /// 1, 2, 3, ... without gaps.
    pub seq: u64,
    /// The record of the log that caused the patch.
    pub position: Position,
    /// The patch, in the form of RFC 6902.
    pub patch: ConversationPatch,
}

/// Numbers the patches of a [`PatchEmitter`] and gives them the position of what caused them.
#[derive(Clone, Debug, Default)]
pub struct PatchStream<E = PatchEmitter> {
    emitter: E,
    seq: u64,
    last: Position,
}

impl<P: EntryIndexProvider, C: CorrIdResolver> PatchStream<PatchEmitter<P, C>> {
    /// Numbers the patches of `emitter` from `seq + 1` on.
    pub fn new(emitter: PatchEmitter<P, C>, seq: u64) -> Self {
        Self { emitter, seq, last: Position::default() }
    }

    /// The number of the last patch.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The patch for an event, if it changes anything.
    pub fn record(&mut self, event: &Located<DomainEvent>) -> Option<PatchRecord> {
        self.last = event.position;
        let patch = self.emitter.patch(&event.item)?;
        self.seq += 1;
        Some(PatchRecord { seq: self.seq, position: event.position, patch })
    }

    /// The patches that remain at the end, at the position of the last record.
    pub fn remaining(&mut self) -> impl Iterator<Item = PatchRecord> {
        let Self { emitter, seq, last } = self;
        emitter.remaining().map(|patch| {
            *seq += 1;
            PatchRecord { seq: *seq, position: *last, patch }
        })
    }
}

/// What a [`PatchStream`] remembers: a plain value that can be stored with serde.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PatchStreamState {
    emitter: PatchState,
    next_index: usize,
    seq: u64,
    last: Position,
}

impl PatchStream {
    /// What the stream remembers, to be stored.
    pub fn state(&self) -> PatchStreamState {
        PatchStreamState {
            emitter: self.emitter.state().clone(),
            next_index: self.emitter.indices().given(),
            seq: self.seq,
            last: self.last,
        }
    }

    /// Goes on from a stored state: with the next index and the next number.
    pub fn restore(state: PatchStreamState) -> Self {
        let indices = EntryIndices::starting_at(state.next_index);
        let emitter = PatchEmitter::new(indices).with_state(state.emitter);
        Self { emitter, seq: state.seq, last: state.last }
    }
}
