//! [`Both`]: two reducers on the same input.

use super::Reducer;
use crate::transduce::{Batch, wrapper::access_pair};

/// Runs two reducers on the same input, which is cloned (cloning a reference costs nothing).
///
/// The state is a pair. The events have one type: first the events of the first reducer, then those of the second. A
/// reducer that is done gets no more input; the pair is done when both are.
///
/// ```
/// use foldline::transduce::{Batch, Both, Reducer, reduce_fn};
///
/// let sum = reduce_fn(|| 0, |sum: u32, n: &u32| (sum + n, Batch::one(format!("sum {}", sum + n))));
/// let odd = reduce_fn(|| (), |(), n: &u32| ((), Batch::from((n % 2 == 1).then(|| "odd".into()))));
///
/// let both = Both { first: sum, second: odd };
/// let (state, events) = both.reduce((1, ()), &2);
/// assert_eq!(events.as_slice(), ["sum 3"]);
/// let (_, events) = both.reduce(state, &5);
/// assert_eq!(events.as_slice(), ["sum 8", "odd"]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Both<A, B> {
    /// Its events come first.
    pub first: A,
    /// Its events come second.
    pub second: B,
}

impl<A, B, In, S1, S2, Event> Reducer<In, (S1, S2), Event> for Both<A, B>
where
    In: Clone,
    A: Reducer<In, S1, Event>,
    B: Reducer<In, S2, Event>,
{
    #[inline]
    fn init(&self) -> (S1, S2) {
        (self.first.init(), self.second.init())
    }

    #[inline]
    fn reduce(&self, (mut s1, mut s2): (S1, S2), input: In) -> ((S1, S2), Batch<Event>) {
        let mut events = Batch::EMPTY;
        if !self.first.is_done(&s1) {
            (s1, events) = self.first.reduce(s1, input.clone());
        }
        if !self.second.is_done(&s2) {
            let more;
            (s2, more) = self.second.reduce(s2, input);
            events.append(more);
        }
        ((s1, s2), events)
    }

    fn finish(&self, (s1, s2): (S1, S2)) -> ((S1, S2), Batch<Event>) {
        let (s1, mut events) = self.first.finish(s1);
        let (s2, more) = self.second.finish(s2);
        events.append(more);
        ((s1, s2), events)
    }

    #[inline]
    fn is_done(&self, (s1, s2): &(S1, S2)) -> bool {
        self.first.is_done(s1) && self.second.is_done(s2)
    }
}

access_pair!(Both<A, B>, first: A, second: B);
