//! [`locating`]: gives events the position of the record that caused them; [`by_item`]: adapts an emitter of events to
//! events with positions.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    digest::Digest,
    located::{Located, Position},
};
use crate::transduce::{
    Batch, Emitter, Reducer,
    wrapper::{access, forward_resume},
};

/// A reducer whose inputs and events carry their position. Created by [`locating`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Locating<R> {
    reducer: R,
}

access!(Locating<R>, reducer: R);

/// The state of a [`Locating`]: the inner state, and the position of the last record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocatingState<S> {
    /// The state of the inner reducer.
    pub state: S,
    /// The position of the last record.
    pub position: Position,
    /// The digest of the last record's line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_sha256: Option<Arc<Digest>>,
}

impl<S> LocatingState<S> {
    /// Converts the inner state.
    ///
    /// # Errors
    /// The error of `f`.
    pub fn try_map<T, E>(self, f: impl FnOnce(S) -> Result<T, E>) -> Result<LocatingState<T>, E> {
        let Self { state, position, line_sha256 } = self;
        Ok(LocatingState { state: f(state)?, position, line_sha256 })
    }

    fn located<E>(&self, events: Batch<E>) -> Batch<Located<E>> {
        events.map(|event| {
            Located::new(self.position, event).with_line_sha256(self.line_sha256.clone())
        })
    }
}

/// Gives every event of `reducer` the position of the record that caused it, so that the reducer
/// itself does not handle positions.
pub fn locating<R>(reducer: R) -> Locating<R> {
    Locating { reducer }
}

impl<R, In, S, E> Reducer<Located<In>, LocatingState<S>, Located<E>> for Locating<R>
where
    R: Reducer<In, S, E>,
{
    fn init(&self) -> LocatingState<S> {
        LocatingState {
            state: self.reducer.init(),
            position: Position::default(),
            line_sha256: None,
        }
    }

    fn reduce(
        &self,
        state: LocatingState<S>,
        input: Located<In>,
    ) -> (LocatingState<S>, Batch<Located<E>>) {
        let Located { position, line_sha256, item, session: _ } = input;
        let (state, events) = self.reducer.reduce(state.state, item);
        let state = LocatingState { state, position, line_sha256 };
        let events = state.located(events);
        (state, events)
    }

    fn finish(&self, state: LocatingState<S>) -> (LocatingState<S>, Batch<Located<E>>) {
        let LocatingState { state, position, line_sha256 } = state;
        let (state, events) = self.reducer.finish(state);
        let state = LocatingState { state, position, line_sha256 };
        let events = state.located(events);
        (state, events)
    }

    fn is_done(&self, state: &LocatingState<S>) -> bool {
        self.reducer.is_done(&state.state)
    }
}

/// Converts an emitter for `T` into an emitter for [`Located<T>`](Located), which reads the item and ignores the
/// position. An emitter that does not need positions can be in one fan-out with emitters that do.
///
/// ```
/// use foldline::{position::{Located, Position, by_item}, transduce::{Batch, Emitter, emit_fn}};
///
/// let length = emit_fn(|text: &String| Batch::one(text.len()));
/// let line = emit_fn(|text: &Located<String>| Batch::one(text.position.line));
/// let mut both = (by_item(length), line);
///
/// let text = Located::new(Position { line: 7, offset: 90 }, "four".to_owned());
/// assert_eq!(both.emit(&text), Batch::one((Batch::one(4), Batch::one(7))));
/// ```
#[inline]
pub const fn by_item<M>(emitter: M) -> ByItem<M> {
    ByItem { emitter }
}

/// The emitter returned by [`by_item`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ByItem<M> {
    emitter: M,
}

impl<T, Out, M: Emitter<T, Out>> Emitter<Located<T>, Out> for ByItem<M> {
    #[inline]
    fn emit(&mut self, event: &Located<T>) -> Batch<Out> {
        self.emitter.emit(&event.item)
    }

    #[inline]
    fn finish(&mut self) -> Batch<Out> {
        self.emitter.finish()
    }
}

access!(ByItem<M>, emitter: M);
forward_resume!(ByItem<M>, emitter: M);
