//! [`Snapshot`]: a processor's state as a value.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::FramerState;
use crate::{conversation::Json, transduce::Resume};

/// What a [`Processor`](super::Processor) has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Lines, blank ones included.
    pub lines: u64,
    /// Lines with nothing on them.
    pub blank: u64,
    /// Records that were reduced; several may stand on one line.
    pub records: u64,
}

#[cfg(feature = "metrics")]
impl From<Counts> for crate::emitters::metrics::LinesRead {
    fn from(Counts { lines, blank, records }: Counts) -> Self {
        Self { lines, blank, records }
    }
}

/// From where a [`Processor`](super::Processor) can go on: a plain value that can be stored with serde.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot<S, E = ()> {
    /// Where the next line begins.
    pub framer: FramerState,
    /// What was read before it.
    pub counts: Counts,
    /// The state of the reducer there.
    pub state: S,
    /// What the emitter remembers there.
    pub emitter: E,
}

/// What there is when a log has been read to its end: see [`Processor::finish`](super::Processor::finish).
#[derive(Debug)]
#[non_exhaustive]
pub struct Finished<S, M> {
    /// Where the log ends.
    pub framer: FramerState,
    /// What was read of it.
    pub counts: Counts,
    /// The state of the reducer after completion.
    pub state: S,
    /// The emitter, finished.
    pub emitter: M,
}

impl<S, M: Resume> Finished<S, M> {
    /// What is to be stored of a log that is complete.
    pub fn snapshot(&self) -> Snapshot<&S, M::State> {
        let Self { framer, counts, state, emitter } = self;
        Snapshot { framer: *framer, counts: *counts, state, emitter: emitter.state() }
    }
}

/// Changes when a stored snapshot would no longer mean the same.
const VERSION: u32 = 3;

/// A snapshot as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored<S> {
    version: u32,
    snapshot: S,
}

/// Why a stored state cannot be gone on from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// It was written by another version.
    #[error("it has version {0}, and this program reads version {VERSION}")]
    Version(u32),
    /// It is no snapshot of these reducers and emitters.
    #[error("it is damaged, or of another kind: {0}")]
    Damaged(#[from] serde_json::Error),
}

impl<S: Serialize, E: Serialize> Snapshot<S, E> {
    /// The snapshot with the version of its form, for [`Checkpoint::state`](crate::ledger::Checkpoint).
    ///
    /// # Errors
    /// The state, or what the emitters remember, refuses to be serialised; the types of this crate never
    /// do.
    pub fn to_json(&self) -> Result<Json, crate::json::Error> {
        Json::of(&Stored { version: VERSION, snapshot: self })
    }
}

impl<S: DeserializeOwned, E: DeserializeOwned> Snapshot<S, E> {
    /// Reads what [`to_json`](Self::to_json) gave.
    ///
    /// # Errors
    /// It was written by another version, or is damaged.
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
    /// The same snapshot with the reducer's state made into another type: a state that is known only
    /// once its executor is, say.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn try_map_state<T, F>(
        self,
        make: impl FnOnce(S) -> Result<T, F>,
    ) -> Result<Snapshot<T, E>, F> {
        let Self { framer, counts, state, emitter } = self;
        Ok(Snapshot { framer, counts, state: make(state)?, emitter })
    }
}
