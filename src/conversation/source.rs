//! Where in a log something was said.

use serde::{Deserialize, Serialize};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sourced<T> {
    /// The position of the record.
    pub source: Source,
    /// What was caused.
    #[serde(flatten)]
    pub item: T,
}

impl<T> Sourced<T> {
    /// `item`, caused by the record at `source`.
    pub const fn new(source: Source, item: T) -> Self {
        Self { source, item }
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
        SourcedState { state: self.reducer.init(), source: Source::default() }
    }

    fn reduce(
        &self,
        state: SourcedState<S>,
        input: Sourced<In>,
    ) -> (SourcedState<S>, Batch<Sourced<E>>) {
        let source = input.source;
        let (state, events) = self.reducer.reduce(state.state, input.item);
        (SourcedState { state, source }, events.map(|event| Sourced::new(source, event)))
    }

    fn finish(&self, state: SourcedState<S>) -> (SourcedState<S>, Batch<Sourced<E>>) {
        let source = state.source;
        let (state, events) = self.reducer.finish(state.state);
        (SourcedState { state, source }, events.map(|event| Sourced::new(source, event)))
    }

    fn is_done(&self, state: &SourcedState<S>) -> bool {
        self.reducer.is_done(&state.state)
    }
}
