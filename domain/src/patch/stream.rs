//! [`PatchStream`]: numbered patches with their positions, for other programs.

use foldline::transduce::{Batch, Emitter, Resume};
use serde::{Deserialize, Serialize};

use super::{
    ConversationPatch, CorrIdResolver, EntryIndexProvider, EntryIndices, PatchEmitter,
    PatchEmitterState, PatchState,
};
use crate::{
    conversation::{DomainEvent, Located, Position, SessionKey},
    dynamic::{PerSession, per_session},
};

/// One patch of the stream: a JSON object `{"seq":1,"position":{"line":1,"offset":0},"patch":[..]}`. Each session has
/// a separate document, and the patches of all sessions except the first one name it: `"session":1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PatchRecord {
    /// The session whose document it changes.
    pub session: SessionKey,
    /// 1, 2, 3, ... without gaps.
    pub seq: u64,
    /// The record of the log that caused the patch.
    pub position: Position,
    /// The patch, in the form of RFC 6902.
    pub patch: ConversationPatch,
}

/// Numbers the patches of a [`PatchEmitter`] and adds the position of the record that caused them.
///
/// It is an emitter for a fan-out, and its memory is one value:
///
/// ```
/// use foldline::transduce::{Emitter, Resume};
/// use foldline_domain::{
///     DomainEvent, Located, NormalizedEntry, NormalizedEntryType, Position, patch::PatchStream,
/// };
///
/// let said = |line, text: &str| {
///     let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, text);
///     Located::new(Position { line, offset: 0 }, DomainEvent::entry(entry))
/// };
/// let mut stream = PatchStream::default();
/// let first = stream.emit(&said(1, "hello"));
/// assert_eq!(first.as_slice()[0].seq, 1);
///
/// let stored = serde_json::to_string(&stream.state())?;
/// let mut stream = PatchStream::default();
/// stream.resume(serde_json::from_str(&stored)?);
/// let second = stream.emit(&said(2, "again"));
/// assert_eq!(second.as_slice()[0].seq, 2);
/// assert!(serde_json::to_string(&second.as_slice()[0].patch)?.contains("/entries/1"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PatchStream<E = PatchEmitter> {
    emitter: E,
    seq: u64,
    last: Position,
    session: SessionKey,
}

impl<P: EntryIndexProvider, C: CorrIdResolver> PatchStream<PatchEmitter<P, C>> {
    /// Numbers the patches of `emitter` from `seq + 1` on.
    pub fn new(emitter: PatchEmitter<P, C>, seq: u64) -> Self {
        Self { emitter, seq, last: Position::default(), session: SessionKey::default() }
    }

    /// The number of the last patch.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The patch for an event, if it changes anything.
    pub fn record(&mut self, event: &Located<DomainEvent>) -> Option<PatchRecord> {
        (self.last, self.session) = (event.position, event.session);
        let patch = self.emitter.patch(&event.item)?;
        self.seq += 1;
        Some(PatchRecord { session: event.session, seq: self.seq, position: event.position, patch })
    }

    /// The remaining patches at the end, at the position of the last record.
    pub fn remaining(&mut self) -> impl Iterator<Item = PatchRecord> {
        let Self { emitter, seq, last, session } = self;
        emitter.remaining().map(|patch| {
            *seq += 1;
            PatchRecord { session: *session, seq: *seq, position: *last, patch }
        })
    }
}

/// The memory of a [`PatchStream`]: a plain value that can be stored with serde.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PatchStreamState {
    emitter: PatchState,
    next_index: usize,
    seq: u64,
    last: Position,
    session: SessionKey,
}

impl PatchStream {
    /// Continues with the next index and the next number.
    pub fn restore(state: PatchStreamState) -> Self {
        let mut stream = Self::default();
        stream.resume(state);
        stream
    }
}

impl<P, C> Emitter<Located<DomainEvent>, PatchRecord> for PatchStream<PatchEmitter<P, C>>
where
    P: EntryIndexProvider,
    C: CorrIdResolver,
{
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<PatchRecord> {
        Batch::from(self.record(event))
    }

    fn finish(&mut self) -> Batch<PatchRecord> {
        self.remaining().collect()
    }
}

impl<C: CorrIdResolver> Resume for PatchStream<PatchEmitter<EntryIndices, C>> {
    type State = PatchStreamState;

    fn state(&self) -> PatchStreamState {
        let PatchEmitterState { emitter, next_index } = Resume::state(&self.emitter);
        PatchStreamState {
            emitter,
            next_index,
            seq: self.seq,
            last: self.last,
            session: self.session,
        }
    }

    fn resume(&mut self, state: PatchStreamState) {
        let PatchStreamState { emitter, next_index, seq, last, session } = state;
        self.emitter.resume(PatchEmitterState { emitter, next_index });
        (self.seq, self.last, self.session) = (seq, last, session);
    }
}

/// One [`PatchStream`] per session.
pub type SessionPatches = PerSession<PatchStream, fn(&SessionKey) -> PatchStream>;

/// Patches for each session of a log, each with a separate document.
pub fn session_patches() -> SessionPatches {
    per_session(|_| PatchStream::default())
}
