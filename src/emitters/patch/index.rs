//! Who says where an entry goes, and who knows where it went.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::conversation::{CorrId, EntryIdx};

/// Gives out the indices of new entries: 0, 1, 2, ..., none twice and none left out.
///
/// One provider may serve several streams that write into one conversation (an agent's standard
/// output and its standard error), which is why it is asked through a shared reference.
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

/// Counts up. Clones count on together.
#[derive(Clone, Debug, Default)]
pub struct EntryIndices(Arc<AtomicUsize>);

impl EntryIndices {
    /// Goes on after a conversation that already has `len` entries.
    pub fn starting_at(len: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(len)))
    }

    /// Gives out `index` next, whatever was given out before.
    pub(super) fn go_on_at(&self, index: usize) {
        self.0.store(index, Ordering::Relaxed);
    }

    /// How many indices were given out, those before the start included.
    pub fn given(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl EntryIndexProvider for EntryIndices {
    fn next_index(&self) -> EntryIdx {
        EntryIdx::new(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Knows from a stored conversation where the entry with a correlation id is.
///
/// Every tool call's entry carries its id as `metadata.corrId`, so whoever stores entries can answer;
/// after a restart the emitter, whose own map is gone, asks.
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

/// Knows nothing: for a conversation that begins with this emitter.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoResolver;

impl CorrIdResolver for NoResolver {
    fn resolve_corr_id(&self, _: &CorrId) -> Option<EntryIdx> {
        None
    }
}
