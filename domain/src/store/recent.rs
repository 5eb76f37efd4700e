//! [`Recent`]: the last items of a sequence, by number; [`Sequenced`]: a value with its number.

use std::{collections::VecDeque, ops::Deref, sync::OnceLock};

use serde::Serialize;

/// The maximum number of items kept.
const MOST: usize = 4096;

/// The maximum size of the items in bytes.
const MOST_BYTES: usize = 8 << 20;

/// The last items of a sequence, numbered 1, 2, 3, ... without gaps: up to 4096 items, and up to 8 MiB.
///
/// Readers keep the number of their last item; the sequence keeps no data per reader. A reader that was too slow
/// finds that its next item is gone.
///
/// ```
/// use foldline_domain::store::Recent;
///
/// let mut recent = Recent::default();
/// recent.push("first", 5);
/// recent.push("second", 6);
/// assert!(recent.after(1).is_some_and(|items| items.eq(["second"].iter())));
/// recent.skip();
/// assert!(recent.after(2).is_none());
/// ```
#[derive(Debug)]
pub struct Recent<T> {
    /// Each item with its size.
    items: VecDeque<(T, usize)>,
    bytes: usize,
    last: u64,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { items: VecDeque::new(), bytes: 0, last: 0 }
    }
}

impl<T> Recent<T> {
    /// Adds the next item, of approximately this size in bytes.
    pub fn push(&mut self, item: T, bytes: usize) {
        self.last += 1;
        self.bytes += bytes;
        self.items.push_back((item, bytes));
        while self.items.len() > MOST || self.bytes > MOST_BYTES {
            let Some((_, bytes)) = self.items.pop_front() else { return };
            self.bytes -= bytes;
        }
    }

    /// Counts an item without keeping it, and drops all earlier items.
    pub fn skip(&mut self) {
        let last = self.last + 1;
        *self = Self { last, ..Self::default() };
    }

    /// The number of the last item; 0 before the first one.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The items after this number; `None` if not all of them are kept.
    pub fn after(&self, number: u64) -> Option<impl ExactSizeIterator<Item = &T>> {
        let missing = usize::try_from(self.last.checked_sub(number)?).ok()?;
        let from = self.items.len().checked_sub(missing)?;
        Some(self.items.range(from..).map(|(item, _)| item))
    }
}

/// A value with its number in a sequence. Its JSON is generated on first use, and shared by all readers.
#[derive(Debug)]
pub struct Sequenced<T> {
    /// The number.
    pub seq: u64,
    value: T,
    json: OnceLock<Box<str>>,
}

impl<T> Sequenced<T> {
    /// A value with its number.
    pub fn new(seq: u64, value: T) -> Self {
        Self { seq, value, json: OnceLock::new() }
    }
}

impl<T: Serialize> Sequenced<T> {
    /// The value as JSON; an empty string for a value without a JSON form. Documents and patches always have one.
    pub fn json(&self) -> &str {
        self.json.get_or_init(|| foldline_json::to_string(&self.value).unwrap_or_default().into())
    }
}

impl<T> Deref for Sequenced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Sequenced<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.seq, &self.value) == (other.seq, &other.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(recent: &Recent<u64>, number: u64) -> Option<Vec<u64>> {
        Some(recent.after(number)?.copied().collect())
    }

    #[test]
    fn items_are_there_without_a_gap_or_not_at_all() {
        let mut recent = Recent::default();
        assert_eq!(after(&recent, 0), Some(vec![]));
        recent.skip();
        assert_eq!((after(&recent, 0), after(&recent, 1)), (None, Some(vec![])));
        (2..10_000).for_each(|number| recent.push(number, 1));
        assert_eq!(recent.last(), 9_999);
        assert_eq!(after(&recent, 9_998), Some(vec![9_999]));
        let oldest = 9_999 - MOST as u64;
        assert_eq!(after(&recent, oldest).map(|items| items.len()), Some(MOST));
        assert_eq!((after(&recent, oldest - 1), after(&recent, 10_000)), (None, None));
        recent.push(10_000, MOST_BYTES + 1);
        assert_eq!((after(&recent, 9_999), after(&recent, 10_000)), (None, Some(vec![])));
    }
}
