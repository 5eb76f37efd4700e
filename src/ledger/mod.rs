//! [`Ledger`]: the rule that makes ingestion exactly-once.
//!
//! Plain values and one trait, which any engine can implement; and [`FileLedger`], the smallest implementation.

mod file;
mod identity;

use std::fmt;

use foldline_json::Json;
use serde::{Deserialize, Serialize};

pub(crate) use self::identity::CERTAIN;
pub use self::{
    file::{FileLedger, FileLedgerError},
    identity::{Extent, Identity},
};
use crate::position::Position;

/// Stores the output of sources, together with the position up to which each was read and the state at that position.
///
/// The rule: the output of a segment, its end position and the state at that position become visible together or not
/// at all, and only if the segment begins where the stored one ends.
pub trait Ledger {
    /// The output of a segment of a source: rows, bytes, messages.
    type Output;
    /// A summary of what a commit added.
    type Receipt;
    /// The error of the engine.
    type Error;

    /// The checkpoint of `source`; `None` if nothing of it was committed.
    ///
    /// # Errors
    /// The engine failed.
    fn load(&mut self, source: &SourceName) -> Result<Option<Checkpoint>, Self::Error>;

    /// Commits outputs, positions, states, and marks of side outputs (`beside`): all of them, or none on any error.
    /// Several commits of one source must be consecutive.
    ///
    /// # Errors
    /// [`CommitError::Moved`] if the stored position of a source differs from the position that its commit expects.
    /// After any error, the states in memory are ahead of the ledger: load them again to continue.
    fn commit(
        &mut self,
        commits: &[Commit<Self::Output>],
        beside: &[Mark],
    ) -> Result<Self::Receipt, CommitError<Self::Error>>;

    /// The mark with this name; `None` if none was committed.
    ///
    /// # Errors
    /// The engine failed.
    fn mark(&mut self, name: &str) -> Result<Option<Json>, Self::Error>;

    /// Removes the source and all of its output. Returns whether the source was known.
    ///
    /// # Errors
    /// The engine failed.
    fn forget(&mut self, source: &SourceName) -> Result<bool, Self::Error>;
}

/// The name of a source in the ledger. Opaque; for a file, the path at which it was first found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceName(String);

impl SourceName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for SourceName {
    fn from(name: String) -> Self {
        Self(name)
    }
}

impl From<&str> for SourceName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Facts about a source that are not in its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFacts {
    /// Its current path.
    pub path: String,
    /// The name of its format.
    pub format: String,
    /// The task that the work in the source belongs to, if it was given one.
    pub task: Option<String>,
    /// The name of the machine that it is on, if that is known.
    #[serde(default)]
    pub host: Option<String>,
    /// The name of the user whose file it is, if that is known.
    #[serde(default)]
    pub user: Option<String>,
    /// The identity of the file.
    pub identity: Identity,
}

/// The position up to which a source was read, and the state at that position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The facts about the source at that time.
    pub facts: SourceFacts,
    /// The position of the next record.
    pub position: Position,
    /// The state at the position. For a processor, a [`Snapshot`](crate::processor::Snapshot).
    pub state: Json,
    /// The source was declared complete, and the reducer finished: it cannot be resumed.
    pub complete: bool,
}

/// One segment of a source.
#[derive(Clone, Debug)]
pub struct Commit<Out> {
    /// The source.
    pub source: SourceName,
    /// The beginning of the segment: the position stored by the previous commit, `None` for the first.
    pub expected: Option<Position>,
    /// The end of the segment.
    pub checkpoint: Checkpoint,
    /// The output.
    pub output: Out,
}

impl<Out> Commit<Out> {
    /// Whether `next` is the next segment of the same source.
    pub fn goes_on_with(&self, next: &Self) -> bool {
        self.source == next.source && Some(self.checkpoint.position) == next.expected
    }

    /// Merges this commit with the [next](Self::goes_on_with) one: only the last state is stored.
    pub fn append(&mut self, next: Self, append: impl FnOnce(&mut Out, Out)) {
        self.checkpoint = next.checkpoint;
        append(&mut self.output, next.output);
    }

    /// Converts the output.
    pub fn map<B>(self, make: impl FnOnce(Out) -> B) -> Commit<B> {
        let Self { source, expected, checkpoint, output } = self;
        Commit { source, expected, checkpoint, output: make(output) }
    }
}

/// The progress of something outside the ledger that is committed together with it: the length of a file that is
/// written from the same events, the offset of an input message. Resume it from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its name in the ledger.
    pub name: String,
    /// Its progress, in a format defined by its owner.
    pub state: Json,
}

/// The additions of a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// New sessions.
    pub sessions: u64,
    /// New entries, including tool calls.
    pub entries: u64,
    /// Tool calls.
    pub calls: u64,
    /// Warnings.
    pub warnings: u64,
}

impl Receipt {
    /// Adds the counts of another receipt.
    pub fn add(&mut self, more: Self) {
        let Self { sessions, entries, calls, warnings } = more;
        self.sessions += sessions;
        self.entries += entries;
        self.calls += calls;
        self.warnings += warnings;
    }
}

/// The reason why nothing was committed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError<E> {
    /// Another process has committed to the source in the meantime, or the source was never read that far.
    #[error("the stored position of {source_name} is {}, not {}", Place(stored), Place(expected))]
    Moved {
        /// The source.
        source_name: SourceName,
        /// The position at which the commit began.
        expected: Option<Position>,
        /// The stored position of the source.
        stored: Option<Position>,
    },
    /// The engine failed.
    #[error(transparent)]
    Failed(#[from] E),
}

struct Place<'p>(&'p Option<Position>);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Position { line, offset }) => write!(f, "line {line} (byte {offset})"),
            None => f.write_str("its beginning"),
        }
    }
}
