//! Indices of entries: [`EntryIndexProvider`] of new ones, and [`CorrIdResolver`] of known calls.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::conversation::{CorrId, EntryIdx};

/// Assigns the indices of new entries: 0, 1, 2, ..., without duplicates and gaps.
///
/// One provider may serve several streams that write into one conversation (an agent's standard
/// output and its standard error), so it takes a shared reference.
pub trait EntryIndexProvider {
    /// The index of the next entry.
    fn next_index(&self) -> EntryIdx;
}

impl<P: EntryIndexProvider + ?Sized> EntryIndexProvider for &P {
    fn next_index(&self) -> EntryIdx {
        (**self).next_index()
    }
}

impl<P: EntryIndexProvider + ?Sized> EntryIndexProvider for Arc<P> {
    fn next_index(&self) -> EntryIdx {
        (**self).next_index()
    }
}

/// Counts up. Clones share one counter.
#[derive(Clone, Debug, Default)]
pub struct EntryIndices(Arc<AtomicUsize>);

impl EntryIndices {
    /// Continues a conversation that already has `len` entries.
    pub fn starting_at(len: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(len)))
    }

    /// Sets the next index.
    pub fn resume_at(&self, index: usize) {
        self.0.store(index, Ordering::Relaxed);
    }

    /// The next index: the number of indices assigned, including those before the start.
    pub fn given(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl EntryIndexProvider for EntryIndices {
    fn next_index(&self) -> EntryIdx {
        EntryIdx::new(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Finds the entry with a correlation id in a stored conversation.
///
/// Every tool call's entry carries its id as `metadata.corrId`, so that any store of entries can implement this
/// trait. After a restart, the emitter uses it instead of its own map.
pub trait CorrIdResolver {
    /// The index of the tool call's entry with this id.
    fn resolve_corr_id(&self, corr_id: &CorrId) -> Option<EntryIdx>;
}

impl<C: CorrIdResolver + ?Sized> CorrIdResolver for &C {
    fn resolve_corr_id(&self, corr_id: &CorrId) -> Option<EntryIdx> {
        (**self).resolve_corr_id(corr_id)
    }
}

impl<C: CorrIdResolver + ?Sized> CorrIdResolver for Arc<C> {
    fn resolve_corr_id(&self, corr_id: &CorrId) -> Option<EntryIdx> {
        (**self).resolve_corr_id(corr_id)
    }
}

/// Resolves nothing: for a new conversation.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoResolver;

impl CorrIdResolver for NoResolver {
    fn resolve_corr_id(&self, _: &CorrId) -> Option<EntryIdx> {
        None
    }
}
