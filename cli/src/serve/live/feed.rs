//! [`Feed`]: the last records of a stream, by number.

use std::{collections::VecDeque, sync::Arc};

use axum::body::Bytes;

use crate::serve::sse;

/// The most records that are kept.
const MOST: usize = 4096;

/// The most bytes of them.
const MOST_BYTES: usize = 8 << 20;

/// The last records of a stream, each with its number: 1, 2, 3, ... without gaps.
///
/// Readers keep the number of the last record that they have, and nothing is kept for each of them. One that
/// was too slow finds that its next record is gone, and takes a snapshot. A record is the event that is sent, so
/// that readers share its bytes.
#[derive(Debug)]
pub(in crate::serve) struct Feed {
    /// The name of the events.
    event: &'static str,
    epoch: Arc<str>,
    records: VecDeque<Bytes>,
    bytes: usize,
    /// The number of the last record.
    last: u64,
}

impl Feed {
    pub(super) fn new(event: &'static str, epoch: Arc<str>) -> Self {
        Self { event, epoch, records: VecDeque::new(), bytes: 0, last: 0 }
    }

    /// Adds a record, which is JSON.
    pub(super) fn push(&mut self, record: &str) {
        self.last += 1;
        let record = sse::numbered(self.event, &self.epoch, self.last, record);
        self.bytes += record.len();
        self.records.push_back(record);
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

    /// The records after this one; `None` if not all of them are there.
    pub(in crate::serve) fn after(&self, number: u64) -> Option<impl Iterator<Item = &Bytes>> {
        let missing = usize::try_from(self.last.checked_sub(number)?).ok()?;
        let from = self.records.len().checked_sub(missing)?;
        Some(self.records.iter().skip(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(feed: &Feed, number: u64) -> Option<Vec<String>> {
        let text = |record: &Bytes| String::from_utf8(record.to_vec()).unwrap();
        Some(feed.after(number)?.map(text).collect())
    }

    #[test]
    fn records_are_there_without_a_gap_or_not_at_all() {
        let mut feed = Feed::new("patch", "e".into());
        assert_eq!(after(&feed, 0), Some(vec![]));
        feed.pass();
        assert_eq!((after(&feed, 0), after(&feed, 1)), (None, Some(vec![])));
        for number in 2..10_000_u64 {
            feed.push(&number.to_string());
        }
        assert_eq!(feed.last(), 9_999);
        let record = "event: patch\nid: e:9999\ndata: 9999\n\n";
        assert_eq!(after(&feed, 9_998), Some(vec![record.to_owned()]));
        let oldest = 9_999 - MOST as u64;
        assert_eq!(after(&feed, oldest).map(|records| records.len()), Some(MOST));
        assert_eq!((after(&feed, oldest - 1), after(&feed, 10_000)), (None, None));
        feed.push(&"x".repeat(MOST_BYTES + 1));
        assert_eq!((after(&feed, 9_999), after(&feed, 10_000)), (None, Some(vec![])));
    }
}
