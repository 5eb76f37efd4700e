//! [`memoryless`]: a closure as an emitter without a memory, where a memory is required.

use std::fmt;

use super::{Emitter, Resume};
use crate::transduce::Batch;

/// Converts a closure into an emitter whose output depends only on the current event: it has no memory to store.
///
/// The closure cannot change its captured variables: it is an `Fn`. Use [`emit_fn`](super::emit_fn) where no memory is
/// required, and implement [`Resume`] for an emitter that has one.
///
/// ```
/// use foldline::transduce::{Batch, Resume, guard, memoryless};
///
/// fn resumable(_: impl Resume) {}
///
/// resumable(guard(memoryless(|n: &u32| Batch::one(n * 2))));
/// ```
///
/// ```compile_fail
/// use foldline::transduce::{Batch, memoryless};
///
/// let mut sum = 0;
/// let sums = memoryless(|n: &u32| {
///     sum += n;
///     Batch::one(sum)
/// });
/// ```
#[inline]
pub const fn memoryless<Event, Out, F>(f: F) -> Memoryless<F>
where
    Event: ?Sized,
    F: Fn(&Event) -> Batch<Out>,
{
    Memoryless(f)
}

/// The emitter returned by [`memoryless`].
#[derive(Clone, Copy)]
pub struct Memoryless<F>(F);

impl<Event, Out, F> Emitter<Event, Out> for Memoryless<F>
where
    Event: ?Sized,
    F: Fn(&Event) -> Batch<Out>,
{
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        (self.0)(event)
    }
}

impl<F> Resume for Memoryless<F> {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}

impl<F> fmt::Debug for Memoryless<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memoryless").finish_non_exhaustive()
    }
}
