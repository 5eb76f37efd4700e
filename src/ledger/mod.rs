//! [`Ledger`]: the rule that makes ingestion exactly-once.
//!
//! Plain values and one trait, so that any engine can implement it; and [`FileLedger`], the smallest one.

mod file;
mod identity;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::{
    file::{FileLedger, FileLedgerError},
    identity::{Extent, Identity},
};
use crate::conversation::{Json, Position, TaskId};

/// Keeps what sources say, together with how far each was read and the state there.
///
/// The rule: the output of a stretch, the position behind it and the state there become visible together or
/// not at all, and only if the stretch begins where the stored one ends.
pub trait Ledger {
    /// What a stretch of a source gives: rows, bytes, messages.
    type Output;
    /// What a commit added, in the engine's own words.
    type Receipt;
    /// What can go wrong beside a refusal.
    type Error;

    /// How far `source` was read; `None` if nothing of it was committed.
    ///
    /// # Errors
    /// The engine failed.
    fn load(&mut self, source: &SourceName) -> Result<Option<Checkpoint>, Self::Error>;

    /// Adds what was read, and how far what is beside the ledger has come: all of it or, on any error,
    /// nothing. Several commits of one source follow one another.
    ///
    /// # Errors
    /// [`CommitError::Moved`] unless each source stands where its commit expects it. After any error the
    /// states in memory are ahead of the ledger: whoever goes on loads again.
    fn commit(
        &mut self,
        commits: &[Commit<Self::Output>],
        beside: &[Mark],
    ) -> Result<Self::Receipt, CommitError<Self::Error>>;

    /// How far what is called `name` has come beside the ledger; `None` if nothing was committed of it.
    ///
    /// # Errors
    /// The engine failed.
    fn mark(&mut self, name: &str) -> Result<Option<Json>, Self::Error>;

    /// Removes the source and everything that came from it; says whether there was anything.
    ///
    /// # Errors
    /// The engine failed.
    fn forget(&mut self, source: &SourceName) -> Result<bool, Self::Error>;
}

/// What a source is called in the ledger. Opaque; for a file, the path it was first seen at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceName(String);

impl SourceName {
    /// The name as it is written.
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

/// What is known of a source from outside of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFacts {
    /// Where it is now.
    pub path: String,
    /// The name of its format.
    pub format: String,
    /// The task of the sessions that begin in it; without one, a session's task is its own id.
    pub task: Option<TaskId>,
    /// By what it is recognised again.
    pub identity: Identity,
}

/// How far a source was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The source as it was then.
    pub facts: SourceFacts,
    /// Where the next record begins.
    pub position: Position,
    /// The state there, as its owner wrote it: a [`Snapshot`](crate::processor::Snapshot), for a processor.
    pub state: Json,
    /// The source was declared complete, and the reducer finished: it cannot go on from here.
    pub complete: bool,
}

/// One stretch of a source.
#[derive(Clone, Debug)]
pub struct Commit<Out> {
    /// Which source.
    pub source: SourceName,
    /// Where the stretch begins: the position stored by the commit before, `None` for the first.
    pub expected: Option<Position>,
    /// Where it ends.
    pub checkpoint: Checkpoint,
    /// What it gives.
    pub output: Out,
}

impl<Out> Commit<Out> {
    /// The same stretch with its output made into something else.
    pub fn map<B>(self, make: impl FnOnce(Out) -> B) -> Commit<B> {
        let Self { source, expected, checkpoint, output } = self;
        Commit { source, expected, checkpoint, output: make(output) }
    }
}

/// How far something beside the ledger has come: a file that is written from the same events, the offset of
/// a message that sources came in. Who goes on with it goes back to there first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// What it is called in the ledger.
    pub name: String,
    /// How far it has come, as its owner wrote it.
    pub state: Json,
}

/// What was added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Sessions that began.
    pub sessions: u64,
    /// Entries, tool calls among them.
    pub entries: u64,
    /// Tool calls.
    pub calls: u64,
    /// Warnings.
    pub warnings: u64,
}

impl Receipt {
    /// Adds another one.
    pub fn add(&mut self, more: Self) {
        let Self { sessions, entries, calls, warnings } = more;
        self.sessions += sessions;
        self.entries += entries;
        self.calls += calls;
        self.warnings += warnings;
    }
}

/// Why nothing was committed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError<E> {
    /// Somebody else has read the source meanwhile, or it was never read that far.
    #[error("{source_name} stands at {}, not at {}", Place(stored), Place(expected))]
    Moved {
        /// Which source.
        source_name: SourceName,
        /// Where the commit began.
        expected: Option<Position>,
        /// Where the source stands.
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
