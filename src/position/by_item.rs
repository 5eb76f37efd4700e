//! [`by_item`]: adapts an emitter of events to events with positions.

use super::located::Located;
use crate::transduce::{
    Batch, Emitter,
    wrapper::{access, forward_resume},
};

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
