//! [`EntryIndexProvider`]: indices of new entries.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::conversation::EntryIdx;

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
    pub fn go_on_at(&self, index: usize) {
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
