//! [`contramap`]: an emitter for a part of the event.

use std::fmt;

use super::Emitter;
use crate::transduce::{
    Batch,
    wrapper::{access, forward_resume},
};

/// Converts an emitter for `B` into an emitter for `A`, where each `A` contains a `B`.
///
/// ```
/// use foldline::transduce::{Batch, Emitter, contramap};
///
/// struct Text;
/// impl Emitter<str, usize> for Text {
///     fn emit(&mut self, text: &str) -> Batch<usize> {
///         Batch::one(text.len())
///     }
/// }
///
/// struct Message {
///     text: String,
/// }
///
/// let mut lengths = contramap(Text, |message: &Message| &message.text);
/// assert_eq!(lengths.emit(&Message { text: "four".into() }).as_slice(), [4]);
/// ```
#[inline]
pub fn contramap<A, B, Out, M, F>(emitter: M, f: F) -> Contramap<M, F>
where
    A: ?Sized,
    B: ?Sized,
    M: Emitter<B, Out>,
    F: for<'e> Fn(&'e A) -> &'e B,
{
    Contramap { emitter, f }
}

/// The emitter returned by [`contramap`].
#[derive(Clone, Copy)]
pub struct Contramap<M, F> {
    emitter: M,
    f: F,
}

impl<A, B, Out, M, F> Emitter<A, Out> for Contramap<M, F>
where
    A: ?Sized,
    B: ?Sized,
    M: Emitter<B, Out>,
    F: for<'e> Fn(&'e A) -> &'e B,
{
    #[inline]
    fn emit(&mut self, event: &A) -> Batch<Out> {
        self.emitter.emit((self.f)(event))
    }

    #[inline]
    fn finish(&mut self) -> Batch<Out> {
        self.emitter.finish()
    }
}

access!(Contramap<M, F>, emitter: M);
forward_resume!(Contramap<M, F>, emitter: M);

impl<M: fmt::Debug, F> fmt::Debug for Contramap<M, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contramap").field("emitter", &self.emitter).finish_non_exhaustive()
    }
}
