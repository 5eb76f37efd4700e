//! [`SharedVec`]: a list whose clones share their items.

use std::sync::Arc;

/// The number of items of a chunk.
const CHUNK: usize = 512;

/// A list whose clones share their items in chunks: a clone costs one pointer for each chunk, and the first change after it copies
/// one chunk. A page of a long session is made from such a clone while the session grows.
#[derive(Clone, Debug)]
pub(super) struct SharedVec<T> {
    /// All but the last are full.
    chunks: Vec<Arc<Vec<T>>>,
    len: usize,
}

impl<T> Default for SharedVec<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<T> SharedVec<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The number of items before the first that is not `less`, in a list that is sorted so.
    pub(super) fn partition_point(&self, mut less: impl FnMut(&T) -> bool) -> usize {
        let full = self.chunks.partition_point(|chunk| chunk.last().is_some_and(&mut less));
        let within = self.chunks.get(full).map_or(0, |chunk| chunk.partition_point(less));
        self.len.min(full * CHUNK + within)
    }
}

impl<T: Clone> SharedVec<T> {
    pub(super) fn push(&mut self, item: T) {
        if self.len.is_multiple_of(CHUNK) {
            self.chunks.push(Arc::new(Vec::new()));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            Arc::make_mut(chunk).push(item);
            self.len += 1;
        }
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        Arc::make_mut(self.chunks.get_mut(index / CHUNK)?).get_mut(index % CHUNK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_keeps_its_items() {
        let mut all = SharedVec::default();
        (0..1_300).for_each(|number| all.push(number));
        let before = all.clone();
        *all.get_mut(600).unwrap() = 7;
        all.push(1_300);
        assert_eq!((before.len(), before.get(600), before.get(1_300)), (1_300, Some(&600), None));
        assert_eq!((all.len(), all.get(600), all.get(1_300)), (1_301, Some(&7), Some(&1_300)));
        let is_shared = |chunk: usize| Arc::ptr_eq(&all.chunks[chunk], &before.chunks[chunk]);
        assert_eq!([0, 1, 2].map(is_shared), [true, false, false]);
        assert!(before.iter().copied().eq(0..1_300));
        let places = [0, 1, 511, 512, 1_299, 9_999];
        assert_eq!(
            places.map(|at| before.partition_point(|n| *n < at)),
            [0, 1, 511, 512, 1_299, 1_300]
        );
    }
}
