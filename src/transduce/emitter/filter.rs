//! [`filter`]: an emitter that receives some of the events.

use std::fmt;

use super::Emitter;
use crate::transduce::{
    Batch,
    wrapper::{access, forward_resume},
};

/// An emitter that receives only the events for which `predicate` is true. `finish` is forwarded.
///
/// ```
/// use foldline::transduce::{Batch, Emitter, filter};
///
/// struct Last(u32);
/// impl Emitter<u32, u32> for Last {
///     fn emit(&mut self, n: &u32) -> Batch<u32> {
///         self.0 = *n;
///         Batch::EMPTY
///     }
///     fn finish(&mut self) -> Batch<u32> {
///         Batch::one(self.0)
///     }
/// }
///
/// let mut last_even = filter(Last(0), |n| n % 2 == 0);
/// for n in [1, 4, 5] {
///     assert!(last_even.emit(&n).is_empty());
/// }
/// assert_eq!(last_even.finish().as_slice(), [4]);
/// ```
#[inline]
pub fn filter<Event, Out, M, P>(emitter: M, predicate: P) -> Filter<M, P>
where
    Event: ?Sized,
    M: Emitter<Event, Out>,
    P: FnMut(&Event) -> bool,
{
    Filter { emitter, predicate }
}

/// The emitter returned by [`filter`].
#[derive(Clone, Copy)]
pub struct Filter<M, P> {
    emitter: M,
    predicate: P,
}

impl<Event, Out, M, P> Emitter<Event, Out> for Filter<M, P>
where
    Event: ?Sized,
    M: Emitter<Event, Out>,
    P: FnMut(&Event) -> bool,
{
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        if (self.predicate)(event) { self.emitter.emit(event) } else { Batch::EMPTY }
    }

    #[inline]
    fn finish(&mut self) -> Batch<Out> {
        self.emitter.finish()
    }
}

access!(Filter<M, P>, emitter: M);
forward_resume!(Filter<M, P>, emitter: M);

impl<M: fmt::Debug, P> fmt::Debug for Filter<M, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter").field("emitter", &self.emitter).finish_non_exhaustive()
    }
}
