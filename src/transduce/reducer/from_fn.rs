//! [`reduce_fn`]: a reducer from two closures.

use std::fmt;

use super::Reducer;
use crate::transduce::{Batch, wrapper::access_pair};

/// Creates a reducer from an initial state and a step function.
///
/// Annotate the types of the closure's parameters. If the input is a reference, the closure then holds for every
/// lifetime, and a buffer can be reused for the next input. A reducer that releases output at the end, or can be done
/// early, needs a separate `impl`.
///
/// ```
/// use foldline::transduce::{Batch, Reducer, reduce_fn};
///
/// let total = reduce_fn(|| 0, |sum: usize, line: &str| {
///     let sum = sum + line.len();
///     (sum, Batch::one(sum))
/// });
/// let (state, events) = total.reduce(total.init(), "four");
/// assert_eq!((state, events.as_slice()), (4, &[4][..]));
/// ```
#[inline]
pub const fn reduce_fn<I, F>(init: I, step: F) -> ReduceFn<I, F> {
    // No bounds here: with bounds, the closure would be inferred for a single lifetime.
    ReduceFn { init, step }
}

/// The reducer returned by [`reduce_fn`].
#[derive(Clone, Copy)]
pub struct ReduceFn<I, F> {
    init: I,
    step: F,
}

impl<I, F, In, State, Event> Reducer<In, State, Event> for ReduceFn<I, F>
where
    I: Fn() -> State,
    F: Fn(State, In) -> (State, Batch<Event>),
{
    #[inline]
    fn init(&self) -> State {
        (self.init)()
    }

    #[inline]
    fn reduce(&self, state: State, input: In) -> (State, Batch<Event>) {
        (self.step)(state, input)
    }
}

access_pair!(ReduceFn<I, F>, init: I, step: F);

impl<I, F> fmt::Debug for ReduceFn<I, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReduceFn").finish_non_exhaustive()
    }
}
