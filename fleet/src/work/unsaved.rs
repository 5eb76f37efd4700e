//! Sources whose stored state is behind: [`Unsaved`], and [`Sent`] when a partition was taken over.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use foldline::ledger::SourceName;

use crate::{
    ledger::{Cluster, KafkaLedger, KafkaLedgerError, Place},
    messages::{Extent, Reached},
};

/// The maximum time until a state is stored.
const LONGEST: Duration = Duration::from_secs(60);

/// The maximum number of bytes of a partition that are folded again.
const BYTES: u64 = 64 << 20;

/// The sources whose stored state is behind their events, in the order of their first message after it. If the worker
/// ends, the next owner reads the partition again from the first of them.
///
/// A state is longer than a line: if it was stored with each line, there would be more states than logs.
#[derive(Default)]
pub(super) struct Unsaved {
    queue: VecDeque<Entry>,
    /// The offset of each of them; entries of others are obsolete.
    offsets: HashMap<SourceName, i64>,
    /// The states of sources with an earlier offset have to be stored at once.
    urgent: i64,
}

struct Entry {
    source: SourceName,
    offset: i64,
    since: Instant,
    /// The bytes of the partition that were read before.
    bytes: u64,
}

impl Unsaved {
    /// Adds a source, unless it is there; `offset` is that of the message, and `bytes` were read before it.
    pub(super) fn add(&mut self, source: &SourceName, offset: i64, bytes: u64) {
        if !self.offsets.contains_key(source) {
            self.offsets.insert(source.clone(), offset);
            let since = Instant::now();
            self.queue.push_back(Entry { source: source.clone(), offset, since, bytes });
        }
    }

    /// Removes a source: its state is stored, or it is folded no further.
    pub(super) fn remove(&mut self, source: &SourceName) {
        self.offsets.remove(source);
        while self.queue.front().is_some_and(|entry| !self.is_valid(entry)) {
            self.queue.pop_front();
        }
    }

    /// What was read before this offset was folded again. It has to be stored at once: otherwise
    /// a worker in a crash loop replays a growing tail.
    pub(super) fn caught_up(&mut self, offset: i64) {
        self.urgent = offset;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The offset of the first message that is not in the stored states.
    pub(super) fn first(&self) -> Option<i64> {
        self.queue.front().map(|entry| entry.offset)
    }

    /// Whether the state of the first source has to be stored; `bytes` were read so far.
    pub(super) fn is_due(&self, bytes: u64) -> bool {
        self.queue.front().is_some_and(|entry| self.is_entry_due(entry, bytes))
    }

    /// The first sources, at most this many: those whose states have to be stored, or `all`.
    pub(super) fn oldest(&self, bytes: u64, all: bool, most: usize) -> Vec<SourceName> {
        let valid = self.queue.iter().filter(|entry| self.is_valid(entry));
        let due = valid.take_while(|entry| all || self.is_entry_due(entry, bytes));
        due.take(most).map(|entry| entry.source.clone()).collect()
    }

    fn is_entry_due(&self, entry: &Entry, bytes: u64) -> bool {
        entry.offset < self.urgent
            || entry.since.elapsed() >= LONGEST
            || bytes.saturating_sub(entry.bytes) >= BYTES
    }

    fn is_valid(&self, entry: &Entry) -> bool {
        self.offsets.get(&entry.source) == Some(&entry.offset)
    }
}

/// The sources of which more was sent than their stored state covers, as their checkpoints state it. They are folded
/// again from that state, and events up to the checkpoint are not sent again.
#[derive(Default)]
pub(super) struct Sent {
    /// The extent of the checkpoint, or the reason why it cannot be read.
    extents: HashMap<SourceName, Result<Extent, String>>,
}

impl Sent {
    /// Compares the checkpoints of a partition with the stored states.
    pub(super) fn read(
        cluster: &Cluster,
        place: &Place,
        ledger: &KafkaLedger,
    ) -> Result<Self, KafkaLedgerError> {
        let mut extents = HashMap::new();
        cluster.read_topic(place, |key, value| {
            let source = SourceName::from(String::from_utf8_lossy(key).into_owned());
            match value.map(Reached::read) {
                None => drop(extents.remove(&source)),
                // Positions restart in a further file.
                Some(Ok(reached))
                    if reached.file == 0 && ledger.position(&source) == Some(reached.position) =>
                {
                    extents.remove(&source);
                }
                Some(Ok(reached)) => drop(extents.insert(source, Ok(reached.extent()))),
                Some(Err(error)) => drop(extents.insert(source, Err(error.to_string()))),
            }
        })?;
        Ok(Self { extents })
    }

    /// Whether there is a checkpoint of a source that its state may not cover.
    pub(super) fn has(&self, source: &SourceName) -> bool {
        self.extents.contains_key(source)
    }

    /// What was sent of a source, if that may be more than its state covers.
    pub(super) fn extent(&self, source: &SourceName) -> Result<Extent, String> {
        self.extents.get(source).cloned().unwrap_or(Ok(Extent::default()))
    }

    /// The state of a source is stored.
    pub(super) fn stored(&mut self, source: &SourceName, extent: Extent) {
        if let Some(Ok(sent)) = self.extents.get(source)
            && extent >= *sent
        {
            self.extents.remove(source);
        }
    }

    /// The sources.
    pub(super) fn sources(&self) -> impl Iterator<Item = &SourceName> {
        self.extents.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_stored_in_the_order_of_their_first_messages() {
        let mut unsaved = Unsaved::default();
        let names = ["a", "b", "c"].map(SourceName::from);
        for (offset, source) in (10..).zip(names.iter().chain(&names)) {
            unsaved.add(source, offset, offset as u64);
        }
        assert_eq!(unsaved.oldest(0, true, 2), names[..2]);
        assert_eq!(unsaved.first(), Some(10));
        assert_eq!(unsaved.oldest(11 + BYTES, false, 9), names[..2]);
        unsaved.remove(&names[1]);
        assert_eq!(unsaved.first(), Some(10));
        unsaved.remove(&names[0]);
        unsaved.add(&names[0], 20, 20);
        assert_eq!((unsaved.first(), unsaved.is_due(11 + BYTES)), (Some(12), false));
        assert_eq!(unsaved.oldest(0, true, 9), [names[2].clone(), names[0].clone()]);
        unsaved.caught_up(13);
        assert_eq!(unsaved.oldest(0, false, 9), [names[2].clone()]);
        unsaved.remove(&names[2]);
        unsaved.remove(&names[0]);
        assert!(unsaved.is_empty() && unsaved.first().is_none());
    }
}
