//! [`Feed`]: the last records of a stream, by number.

use std::{collections::VecDeque, sync::Arc};

/// The most records that are kept.
const MOST: usize = 4096;

/// The most bytes of them.
const MOST_BYTES: usize = 8 << 20;

/// The last records of a stream, each with its number: 1, 2, 3, ... without gaps.
///
/// Readers keep the number of the last record that they have, and nothing is kept for each of them. One that
/// was too slow finds that its next record is gone, and takes a snapshot.
#[derive(Debug, Default)]
pub(in crate::serve) struct Feed {
    records: VecDeque<Arc<str>>,
    bytes: usize,
    /// The number of the last record.
    last: u64,
}

impl Feed {
    /// Adds a record.
    pub(super) fn push(&mut self, record: String) {
        self.last += 1;
        self.bytes += record.len();
        self.records.push_back(record.into());
        while self.records.len() > MOST || self.bytes > MOST_BYTES {
            let Some(first) = self.records.pop_front() else { return };
            self.bytes -= first.len();
        }
    }

    /// Counts a record that nobody waits for.
    pub(super) fn pass(&mut self) {
        self.last += 1;
        self.records.clear();
        self.bytes = 0;
    }

    /// The number of the last record; 0 before the first one.
    pub(in crate::serve) fn last(&self) -> u64 {
        self.last
    }

    /// The records after this one, with their numbers; `None` if not all of them are there.
    pub(in crate::serve) fn after(
        &self,
        number: u64,
    ) -> Option<impl Iterator<Item = (u64, Arc<str>)>> {
        let missing = usize::try_from(self.last.checked_sub(number)?).ok()?;
        let from = self.records.len().checked_sub(missing)?;
        Some((number + 1..).zip(self.records.iter().skip(from).cloned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(feed: &Feed, number: u64) -> Option<Vec<(u64, String)>> {
        Some(feed.after(number)?.map(|(number, record)| (number, record.to_string())).collect())
    }

    #[test]
    fn records_are_there_without_a_gap_or_not_at_all() {
        let mut feed = Feed::default();
        assert_eq!(after(&feed, 0), Some(vec![]));
        feed.pass();
        assert_eq!((after(&feed, 0), after(&feed, 1)), (None, Some(vec![])));
        for number in 2..10_000_u64 {
            feed.push(number.to_string());
        }
        assert_eq!(feed.last(), 9_999);
        assert_eq!(after(&feed, 9_998), Some(vec![(9_999, "9999".to_owned())]));
        let oldest = 9_999 - MOST as u64;
        assert_eq!(after(&feed, oldest).map(|records| records.len()), Some(MOST));
        assert_eq!((after(&feed, oldest - 1), after(&feed, 10_000)), (None, None));
        feed.push("x".repeat(MOST_BYTES + 1));
        assert_eq!((after(&feed, 9_999), after(&feed, 10_000)), (None, Some(vec![])));
    }
}
