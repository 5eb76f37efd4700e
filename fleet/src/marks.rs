//! Marks of a ledger: [`Deleted`] messages, and why a source is [`Unfolded`].

use std::fmt;

use foldline::ledger::{Mark, SourceName};
use foldline_domain::Json;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A mark with this state.
pub(crate) fn mark(name: impl Into<String>, state: &impl Serialize) -> Result<Mark, Error> {
    let state = Json::of(state).map_err(|error| Error::Output(error.into()))?;
    Ok(Mark { name: name.into(), state })
}

/// The name of the mark of a worker with the [`Range`]s of its partition.
pub(crate) const DELETED: &str = "deleted";

/// Offsets of a partition, from `from` to before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

impl Range {
    /// The offsets from the next one to be read, `None` at the beginning, to the first retained one.
    pub(crate) fn before(first: i64, next: Option<i64>) -> Option<Self> {
        let from = next.unwrap_or(0);
        (from < first).then_some(Self { from, to: first })
    }

    pub(crate) fn length(self) -> u64 {
        u64::try_from(self.to - self.from).unwrap_or(0)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the messages from offset {} to {}", self.from, self.to - 1)
    }
}

/// The ranges of a partition, which are stored as a mark.
#[derive(Debug, Default)]
pub(crate) struct Deleted {
    ranges: Vec<Range>,
    is_changed: bool,
}

impl Deleted {
    /// The ranges that are stored in this mark.
    pub(crate) fn stored(mark: Option<Json>) -> Self {
        let ranges = mark.and_then(|mark| serde_json::from_str(mark.get()).ok());
        Self { ranges: ranges.unwrap_or_default(), is_changed: false }
    }

    pub(crate) fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    pub(crate) fn add(&mut self, range: Range) {
        self.ranges.push(range);
        self.is_changed = true;
    }

    /// The mark to be committed, if the ranges have changed since the last commit.
    pub(crate) fn mark(&self, name: String) -> Result<Option<Mark>, Error> {
        self.is_changed.then(|| mark(name, &self.ranges)).transpose()
    }

    /// Records that the mark was committed.
    pub(crate) fn committed(&mut self) {
        self.is_changed = false;
    }
}

/// Prefix of the names of marks with an [`Unfolded`]; the name of the source follows.
pub(crate) const UNFOLDED: &str = "unfolded ";

/// The reason why a source is not folded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unfolded {
    pub(crate) note: String,
    /// The offset of the logs from which its partition has to be read again to fold it.
    pub(crate) from: i64,
}

impl Unfolded {
    /// The name of the mark of a source.
    pub(crate) fn mark(source: &SourceName) -> String {
        format!("{UNFOLDED}{source}")
    }

    /// Reads a mark; `None` if the source is folded.
    pub(crate) fn read(mark: &Json) -> Option<Self> {
        // Earlier versions stored only the note.
        let only_note = || Some(Self { note: serde_json::from_str(mark.get()).ok()?, from: 0 });
        serde_json::from_str(mark.get()).ok().or_else(only_note)
    }
}
