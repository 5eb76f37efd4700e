//! [`Quarantine`]: sources whose events are not stored until they are released.

use std::collections::{BTreeMap, HashMap};

use foldline::{
    conversation::{Json, Position},
    emitters::database::Rows,
    ledger::{Commit, Mark, SourceName},
};
use serde::{Deserialize, Serialize};

use super::{destination::Destination, marks::name};
use crate::error::Error;

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
pub(crate) struct Held {
    pub(crate) mark: String,
    partition: i32,
    pub(crate) source: SourceName,
    pub(crate) unstored: Unstored,
}

/// The sources of a topic whose events are held back, or were and are released.
pub(crate) fn held(marks: Vec<Mark>, topic: &str) -> Vec<Held> {
    let prefix = format!("kafka:{topic}/");
    let held = |Mark { name: mark, state }: Mark| {
        let (partition, source) = mark.strip_prefix(&prefix)?.split_once(UNSTORED)?;
        let (partition, source) = (partition.parse().ok()?, SourceName::from(source));
        let unstored = serde_json::from_str(state.get()).ok()?;
        Some(Held { partition, source, unstored, mark })
    };
    marks.into_iter().filter_map(held).collect()
}

/// Decides which events are stored.
pub(super) struct Quarantine {
    topic: String,
    /// Sources whose events are not stored.
    refused: HashMap<SourceName, i32>,
    released: HashMap<SourceName, Released>,
    /// Marks that change with the next commit.
    changed: BTreeMap<String, Option<Unstored>>,
}

/// A released source, until its events before the offset of its partition are stored.
struct Released {
    mark: String,
    partition: i32,
    unstored: Unstored,
    /// The position up to which its events are stored.
    position: Option<Position>,
}

impl Quarantine {
    /// Reads the marks of a database.
    pub(super) fn read(database: &mut Destination, topic: &str) -> Result<Self, Error> {
        let topic_name = topic.to_owned();
        let (refused, released, changed) = Default::default();
        let mut quarantine = Self { topic: topic_name, refused, released, changed };
        for Held { mark, partition, source, unstored } in held(database.marks()?, topic) {
            if unstored.released {
                let position = database.load(&source)?.map(|stored| stored.position);
                let released = Released { mark, partition, unstored, position };
                quarantine.released.insert(source, released);
            } else {
                quarantine.refused.insert(source, partition);
            }
        }
        Ok(quarantine)
    }

    /// The offset from which a partition is read, if this is before its offset: that of a released source.
    pub(super) fn begin(&self, partition: i32) -> Option<i64> {
        let released = self.released.values().filter(|released| released.partition == partition);
        released.map(|released| released.unstored.from).min()
    }

    /// Whether a message of a source is read. `begun` is the offset of its partition when the sink started.
    pub(super) fn admits(&self, source: &SourceName, offset: i64, begun: i64) -> bool {
        match self.released.get(source) {
            Some(Released { unstored: Unstored { from, at, skip, .. }, .. }) => {
                offset >= *from && !(*skip && *at == Some(offset))
            }
            None => offset >= begun && !self.refused.contains_key(source),
        }
    }

    /// Whether a segment of a released source is stored already.
    pub(super) fn is_stored(&mut self, commit: &Commit<Rows>) -> bool {
        let Some(released) = self.released.get_mut(&commit.source) else { return false };
        let is_next = released.position == commit.expected;
        if is_next {
            released.position = Some(commit.checkpoint.position);
        }
        !is_next
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

    /// Everything before an offset of a partition was read again, so its released sources are like all others.
    pub(super) fn caught_up(&mut self, partition: i32) {
        let done = self.released.extract_if(|_, released| released.partition == partition);
        self.changed.extend(done.map(|(_, released)| (released.mark, None)));
    }

    /// The marks to be committed.
    pub(super) fn marks(&self) -> Result<Vec<Mark>, Error> {
        let mark = |(name, unstored): (&String, &Option<Unstored>)| {
            let state = Json::of(unstored).map_err(|error| Error::Output(error.into()))?;
            Ok(Mark { name: name.clone(), state })
        };
        self.changed.iter().map(mark).collect()
    }

    /// Records that the marks were committed.
    pub(super) fn committed(&mut self) {
        self.changed.clear();
    }
}
