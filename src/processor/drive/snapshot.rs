//! [`Snapshot`]: a processor's state as a value.

use foldline_json::Json;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{position::Position, processor::line::FramerState, transduce::Resume};

/// Counts of the data that a [`Processor`](crate::processor::Processor) has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Lines, including blank ones.
    pub lines: u64,
    /// Blank lines.
    pub blank: u64,
    /// Records that were reduced; a line may have several.
    pub records: u64,
}

/// The state of a [`Processor`](crate::processor::Processor): a plain value that can be stored with serde.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot<S, E = ()> {
    /// Where the next line begins.
    pub framer: FramerState,
    /// The progress within that line, if some of its records were reduced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// Counts up to this point.
    pub counts: Counts,
    /// The state of the reducer.
    pub state: S,
    /// The memory of the emitter.
    pub emitter: E,
}

/// A position within a line that has several records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Within {
    /// The number of its records that were reduced.
    pub records: u64,
    /// The position of the next record.
    pub next: Position,
}

/// The remains of a processor at the end of a log: see [`Processor::finish`](crate::processor::Processor::finish).
#[derive(Debug)]
pub struct Finished<S, M> {
    /// The end of the log.
    pub framer: FramerState,
    /// Counts of the log.
    pub counts: Counts,
    /// The state of the reducer after completion.
    pub state: S,
    /// The emitter, finished.
    pub emitter: M,
}

impl<S, M: Resume> Finished<S, M> {
    /// The snapshot of a complete log.
    pub fn snapshot(&self) -> Snapshot<&S, M::State> {
        let Self { framer, counts, state, emitter } = self;
        Snapshot { framer: *framer, within: None, counts: *counts, state, emitter: emitter.state() }
    }
}

/// Incremented when the meaning of a stored snapshot changes.
const VERSION: u32 = 1;

/// A snapshot in its stored form.
#[derive(Serialize, Deserialize)]
struct Stored<S> {
    version: u32,
    snapshot: S,
}

/// The reason why a stored snapshot cannot be restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// It was written by another version.
    #[error("it has version {0}, and this program reads version {VERSION}")]
    Version(u32),
    /// It is not a snapshot of these reducers and emitters.
    #[error("it is damaged, or of another type: {0}")]
    Damaged(#[from] serde_json::Error),
}

impl<S: Serialize, E: Serialize> Snapshot<S, E> {
    /// The snapshot with its format version, for [`Checkpoint::state`](crate::ledger::Checkpoint).
    ///
    /// # Errors
    /// The `Serialize` of the state or the memory fails; the types of this crate never do.
    pub fn to_json(&self) -> Result<Json, foldline_json::Error> {
        Json::of(&Stored { version: VERSION, snapshot: self })
    }
}

impl<S: DeserializeOwned, E: DeserializeOwned> Snapshot<S, E> {
    /// Reads the JSON of [`to_json`](Self::to_json).
    ///
    /// # Errors
    /// The snapshot was written by another version, or is damaged.
    pub fn from_json(json: &Json) -> Result<Self, SnapshotError> {
        let Stored { version, snapshot: raw } =
            serde_json::from_str::<Stored<&serde_json::value::RawValue>>(json.get())?;
        if version != VERSION {
            return Err(SnapshotError::Version(version));
        }
        Ok(serde_json::from_str(raw.get())?)
    }
}

impl<S, E> Snapshot<S, E> {
    /// Converts the reducer's state, for instance from JSON to the state of an executor that is chosen at run time.
    ///
    /// # Errors
    /// The errors of `make`.
    pub fn try_map_state<T, F>(
        self,
        make: impl FnOnce(S) -> Result<T, F>,
    ) -> Result<Snapshot<T, E>, F> {
        let Self { framer, within, counts, state, emitter } = self;
        Ok(Snapshot { framer, within, counts, state: make(state)?, emitter })
    }
}
