//! [`at_end`]: a fold as an emitter of its result.

use std::convert::Infallible;

use super::Emitter;
use crate::transduce::{Batch, wrapper::access};

/// Emits the result of a fold at the end of the events. A fold is an emitter without outputs, such as a sum or a
/// document; `result` is called once, after `fold` has finished.
///
/// ```
/// use std::convert::Infallible;
///
/// use foldline::transduce::{Batch, Emitter, at_end};
///
/// #[derive(Default)]
/// struct Sum(u32);
///
/// impl Emitter<u32, Infallible> for Sum {
///     fn emit(&mut self, n: &u32) -> Batch<Infallible> {
///         self.0 += n;
///         Batch::EMPTY
///     }
/// }
///
/// let mut sum = at_end(Sum::default(), |sum: &mut Sum| Batch::one(sum.0));
/// assert!(sum.emit(&1).is_empty() && sum.emit(&20).is_empty());
/// assert_eq!(sum.finish().as_slice(), [21]);
/// ```
pub const fn at_end<M, F>(fold: M, result: F) -> AtEnd<M, F> {
    AtEnd { fold, result }
}

/// The emitter returned by [`at_end`].
#[derive(Clone, Copy, Debug)]
pub struct AtEnd<M, F> {
    fold: M,
    result: F,
}

access!(AtEnd<M, F>, fold: M);

impl<Event, Out, M, F> Emitter<Event, Out> for AtEnd<M, F>
where
    Event: ?Sized,
    M: Emitter<Event, Infallible>,
    F: FnMut(&mut M) -> Batch<Out>,
{
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        self.fold.emit(event).map(|never| match never {})
    }

    fn finish(&mut self) -> Batch<Out> {
        self.fold.finish().drain_with(|never| match never {});
        (self.result)(&mut self.fold)
    }
}
