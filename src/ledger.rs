//! [`Ledger`]: the rule that makes ingestion exactly-once.
//!
//! Plain values and one trait, without I/O, so that any engine can implement it.

use std::fmt;

use crate::conversation::{DomainEvent, Json, Source, Sourced, TaskId, Timestamp};

/// Keeps what sources say, together with how far each was read and the reducer's state there.
///
/// The rule: the events of a stretch of a source, the position behind it and the state there become
/// visible together or not at all, and only if the stretch begins where the stored one ends. So a
/// process may be killed at any moment, and start again from [`load`](Self::load): nothing is lost,
/// and nothing is there twice. It is a law of this crate, and every implementation is to be tested
/// for it.
pub trait Ledger {
    /// What can go wrong beside a refusal.
    type Error;

    /// How far `source` was read; `None` if nothing of it was committed.
    fn load(&self, source: &SourceName) -> Result<Option<Checkpoint>, Self::Error>;

    /// Adds what was read, and how far the outputs beside the ledger have come: all of it or, on any
    /// error, nothing.
    ///
    /// Each commit is refused with [`CommitError::Moved`] unless its source stands where the commit
    /// expects it. Several of one source follow one another.
    fn commit(
        &mut self,
        commits: Vec<Commit>,
        outputs: &[OutputState],
    ) -> Result<Receipt, CommitError<Self::Error>>;

    /// How far the output of this name has come; `None` if nothing was committed of it.
    fn output(&self, name: &str) -> Result<Option<Json>, Self::Error>;

    /// Removes the source and everything that came from it; says whether there was anything.
    fn forget(&mut self, source: &SourceName) -> Result<bool, Self::Error>;
}

/// What a source is called in the ledger. Opaque; for a file, the path it was first seen at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// By what a file is recognised when it has grown, moved, or been replaced by another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The device that the file is on, where the system tells.
    pub device: Option<u64>,
    /// The file's number on the device, where the system tells.
    pub inode: Option<u64>,
    /// Its length in bytes when it was read.
    pub size: u64,
    /// When it was last written.
    pub modified: Option<Timestamp>,
    /// A digest of the beginning and the end of what was committed.
    pub fingerprint: Vec<u8>,
}

/// How far a source was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The source as it was then.
    pub facts: SourceFacts,
    /// Where the next record begins.
    pub position: Source,
    /// The reducer's state there, as its owner wrote it.
    pub state: Json,
    /// The source was declared complete, and the reducer finished: it cannot go on from here.
    pub complete: bool,
}

/// One stretch of a source.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Which source.
    pub source: SourceName,
    /// The source as it is now.
    pub facts: SourceFacts,
    /// Where the stretch begins: the position stored by the commit before, `None` for the first.
    pub expected: Option<Source>,
    /// What the stretch says.
    pub events: Vec<Sourced<DomainEvent>>,
    /// Where the next record begins.
    pub position: Source,
    /// The reducer's state there.
    pub state: Json,
    /// The source is complete, and the reducer was finished.
    pub complete: bool,
}

/// How far something has come that is written beside the ledger from the same events, such as a file.
/// Who goes on with it cuts it back to there first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputState {
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
        expected: Option<Source>,
        /// Where the source stands.
        stored: Option<Source>,
    },
    /// The engine failed.
    #[error(transparent)]
    Failed(#[from] E),
}

struct Place<'p>(&'p Option<Source>);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Source { line, offset }) => write!(f, "line {line} (byte {offset})"),
            None => f.write_str("its beginning"),
        }
    }
}
