//! Where in a log something was said.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use crate::transduce::{Batch, Reducer};

/// A position in a log.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Source {
    /// The line, counted from 1; 0 before anything was read.
    pub line: u64,
    /// The byte at which the record starts, counted from 0 at the start of the log.
    pub offset: u64,
}

/// Something with the position of the record that caused it.
///
/// What completion causes (a call that was never answered) has the position of the last record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sourced<T> {
    /// The position of the record.
    pub source: Source,
    /// The digest of the line that the record stands on, if whoever reads the lines was asked for it.
    /// It is shared by all that one line causes.
    #[serde(skip)]
    pub line_sha256: Option<Arc<Digest>>,
    /// What was caused.
    #[serde(flatten)]
    pub item: T,
}

impl<T> Sourced<T> {
    /// `item`, caused by the record at `source`.
    pub const fn new(source: Source, item: T) -> Self {
        Self { source, line_sha256: None, item }
    }

    /// The same, with the digest of the record's line.
    #[must_use]
    pub fn with_line_sha256(mut self, line_sha256: Option<Arc<Digest>>) -> Self {
        self.line_sha256 = line_sha256;
        self
    }
}

/// A reducer whose inputs and events carry their position. Made by [`with_source`].
#[derive(Clone, Copy, Debug, Default)]
pub struct WithSource<R> {
    reducer: R,
}

/// The state of a [`WithSource`]: the reducer's own, and the position of the last record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourcedState<S> {
    /// The state of the reducer within.
    pub state: S,
    /// The position of the last record.
    pub source: Source,
    /// The digest of the last record's line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_sha256: Option<Arc<Digest>>,
}

impl<S> SourcedState<S> {
    fn sourced<E>(&self, events: Batch<E>) -> Batch<Sourced<E>> {
        events.map(|event| {
            Sourced::new(self.source, event).with_line_sha256(self.line_sha256.clone())
        })
    }
}

/// Gives every event of `reducer` the position of the record that caused it, so that the reducer
/// itself needs not know of positions.
pub fn with_source<R>(reducer: R) -> WithSource<R> {
    WithSource { reducer }
}

impl<R, In, S, E> Reducer<Sourced<In>, SourcedState<S>, Sourced<E>> for WithSource<R>
where
    R: Reducer<In, S, E>,
{
    fn init(&self) -> SourcedState<S> {
        SourcedState { state: self.reducer.init(), source: Source::default(), line_sha256: None }
    }

    fn reduce(
        &self,
        state: SourcedState<S>,
        input: Sourced<In>,
    ) -> (SourcedState<S>, Batch<Sourced<E>>) {
        let Sourced { source, line_sha256, item } = input;
        let (state, events) = self.reducer.reduce(state.state, item);
        let state = SourcedState { state, source, line_sha256 };
        let events = state.sourced(events);
        (state, events)
    }

    fn finish(&self, state: SourcedState<S>) -> (SourcedState<S>, Batch<Sourced<E>>) {
        let SourcedState { state, source, line_sha256 } = state;
        let (state, events) = self.reducer.finish(state);
        let state = SourcedState { state, source, line_sha256 };
        let events = state.sourced(events);
        (state, events)
    }

    fn is_done(&self, state: &SourcedState<S>) -> bool {
        self.reducer.is_done(&state.state)
    }
}
