//! [`Quarantine`]: sources whose events are not stored until they are released; the names of marks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldline::ledger::{Mark, SourceName};
use serde::{Deserialize, Serialize};

use super::{Topic, destination::Destination};
use crate::{
    error::Error,
    marks::{DELETED, mark},
};

/// Separates the partition from the source in the names of the marks.
const UNSTORED: &str = " unstored ";

/// The reason why the events of a source are not stored, as a mark of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unstored {
    pub(crate) note: String,
    /// The offset from which its partition has to be read again to store them.
    from: i64,
    /// The offset of the message that cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    /// They are stored from now on.
    #[serde(default)]
    pub(crate) released: bool,
    /// The message that cannot be read is skipped.
    #[serde(default)]
    pub(crate) skip: bool,
}

/// A source with its mark.
#[derive(Debug)]
pub(crate) struct HeldSource {
    pub(crate) mark: String,
    partition: i32,
    pub(crate) source: SourceName,
    pub(crate) unstored: Unstored,
}

/// The sources of a topic whose events are held back, or were and are released.
pub(crate) fn held(marks: Vec<Mark>, topic: &str) -> Vec<HeldSource> {
    let prefix = format!("kafka:{topic}/");
    let held = |Mark { name: mark, state }: Mark| {
        let (partition, source) = mark.strip_prefix(&prefix)?.split_once(UNSTORED)?;
        let (partition, source) = (partition.parse().ok()?, SourceName::from(source));
        let unstored = serde_json::from_str(state.get()).ok()?;
        Some(HeldSource { partition, source, unstored, mark })
    };
    marks.into_iter().filter_map(held).collect()
}

/// Decides which events are stored.
pub(super) struct Quarantine {
    topic: String,
    /// Sources whose events are not stored.
    refused: HashMap<SourceName, i32>,
    released: HashMap<SourceName, Released>,
    /// Partitions of events, and of checkpoints, that were read again up to their offsets.
    caught_up: [BTreeSet<i32>; 2],
    /// Marks that change with the next commit.
    changed: BTreeMap<String, Option<Unstored>>,
}

/// A released source, until its events before the offset of its partition are stored.
struct Released {
    mark: String,
    partition: i32,
    unstored: Unstored,
}

impl Quarantine {
    /// Reads the marks of a database.
    pub(super) fn read(database: &mut Destination, topic: &str) -> Result<Self, Error> {
        let topic_name = topic.to_owned();
        let (refused, released, caught_up, changed) = Default::default();
        let mut quarantine = Self { topic: topic_name, refused, released, caught_up, changed };
        for HeldSource { mark, partition, source, unstored } in held(database.marks()?, topic) {
            if unstored.released {
                let released = Released { mark, partition, unstored };
                quarantine.released.insert(source, released);
            } else {
                quarantine.refused.insert(source, partition);
            }
        }
        Ok(quarantine)
    }

    /// The offset from which a partition of a topic is read, if this is before its offset: that of a released source.
    /// All checkpoints are read again: the topic has only the latest of each source.
    pub(super) fn begin(&self, topic: Topic, partition: i32) -> Option<i64> {
        let released = self.released.values().filter(|released| released.partition == partition);
        let from = |released: &Released| match topic {
            Topic::Events => released.unstored.from,
            Topic::Checkpoints => 0,
        };
        released.map(from).min()
    }

    /// Whether a message of a source is read. `begun` is the offset of its partition when the sink started.
    pub(super) fn admits(
        &self,
        topic: Topic,
        source: &SourceName,
        (offset, begun): (i64, i64),
    ) -> bool {
        match (self.released.get(source), topic) {
            (Some(_), Topic::Checkpoints) => true,
            (Some(released), Topic::Events) => offset >= released.unstored.from,
            (None, _) => offset >= begun && !self.refused.contains_key(source),
        }
    }

    /// Whether an event of a source is skipped.
    pub(super) fn skips(&self, source: &SourceName, offset: i64) -> bool {
        let unstored = self.released.get(source).map(|released| &released.unstored);
        unstored.is_some_and(|unstored| unstored.skip && unstored.at == Some(offset))
    }

    /// Holds the events of a source back.
    pub(super) fn refuse(
        &mut self,
        source: &SourceName,
        partition: i32,
        (from, at): (i64, Option<i64>),
        note: &str,
    ) {
        let earlier = self.released.remove(source).map(|released| released.unstored.from);
        let from = earlier.map_or(from, |earlier| earlier.min(from));
        let unstored = Unstored { note: note.to_owned(), from, at, released: false, skip: false };
        let mark = format!("{}{UNSTORED}{source}", name(&self.topic, partition));
        self.changed.insert(mark, Some(unstored));
        self.refused.insert(source.clone(), partition);
    }

    /// Everything before an offset of a partition was read again. After both topics, its released sources are like all
    /// others.
    pub(super) fn caught_up(&mut self, topic: Topic, partition: i32) {
        if self.released.is_empty() {
            return;
        }
        self.caught_up[topic as usize].insert(partition);
        if self.caught_up.iter().all(|caught_up| caught_up.contains(&partition)) {
            let done = self.released.extract_if(|_, released| released.partition == partition);
            self.changed.extend(done.map(|(_, released)| (released.mark, None)));
        }
    }

    /// The marks to be committed.
    pub(super) fn marks(&self) -> Result<Vec<Mark>, Error> {
        self.changed.iter().map(|(name, unstored)| mark(name, unstored)).collect()
    }

    /// Records that the marks were committed.
    pub(super) fn committed(&mut self) {
        self.changed.clear();
    }
}

/// The name of the mark with the offset of the next event of a partition.
pub(crate) fn name(topic: &str, partition: i32) -> String {
    format!("kafka:{topic}/{partition}")
}

/// The name of the mark with the events of a partition that were deleted before they were stored.
pub(crate) fn name_of_deleted(name: &str) -> String {
    format!("{name} {DELETED}")
}
