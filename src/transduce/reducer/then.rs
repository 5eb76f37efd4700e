//! [`Then`]: one reducer after another.

use std::{fmt, marker::PhantomData};

use crate::transduce::wrapper::access_pair;

/// Two reducers in sequence: the events of the first are the inputs of the second.
///
/// Created by [`Reducer::then`](super::Reducer::then). The state is a pair. At the end, the events that the first
/// reducer releases still pass through the second, which then releases its own. The sequence is done as soon as
/// either reducer is; once the second is done it gets no more events.
///
/// ```
/// use foldline::transduce::{Batch, Reducer, Transducer, emit_fn, reduce_fn};
///
/// let words = reduce_fn(|| (), |(), line: &str| {
///     ((), line.split_whitespace().map(str::to_owned).collect())
/// });
/// let long = reduce_fn(|| 0, |seen: u32, word: String| {
///     (seen + 1, Batch::from((word.len() > 4).then_some(word)))
/// });
/// let print = emit_fn(|word: &String| Batch::one(word.clone()));
///
/// let mut shell = Transducer::new(words.then(long), print);
/// assert_eq!(shell.step("to be or not, that").as_slice(), [] as [&str; 0]);
/// assert_eq!(shell.step("is the question").as_slice(), ["question"]);
/// assert_eq!(shell.state(), &((), 8));
/// ```
pub struct Then<A, B, Event> {
    first: A,
    second: B,
    /// The intermediate events, which neither reducer type names.
    between: PhantomData<fn() -> Event>,
}

impl<A, B, Event> Then<A, B, Event> {
    #[inline]
    pub(super) const fn new(first: A, second: B) -> Self {
        Then { first, second, between: PhantomData }
    }
}

access_pair!(Then<A, B, Event>, first: A, second: B);

// Implemented by hand: a derive would require the same of the intermediate events, which are not stored.
impl<A: Clone, B: Clone, Event> Clone for Then<A, B, Event> {
    fn clone(&self) -> Self {
        Then::new(self.first.clone(), self.second.clone())
    }
}

impl<A: fmt::Debug, B: fmt::Debug, Event> fmt::Debug for Then<A, B, Event> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Then").field("first", &self.first).field("second", &self.second).finish()
    }
}
