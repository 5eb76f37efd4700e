//! [`Keyed`]: several sessions in one stream.

use std::{collections::BTreeMap, fmt};

use super::Reducer;
use crate::transduce::{Batch, wrapper::access};

/// One reducer state per key, for a stream with several sessions.
///
/// A session begins with the first input of its key, and its events are paired with the key, so that a consumer can
/// distinguish the sessions ([`contramap`](crate::transduce::contramap) removes the key for a consumer that does not
/// need it). A key is cloned for each event: prefer a key that is cheap to clone, such as a number or an `Arc<str>`.
///
/// A session that is done is finished and removed immediately, so the state holds only open sessions; a later input
/// with the same key begins a new session. At the end the remaining sessions finish, in the order of their keys (the
/// map is ordered, so that the same input gives the same events), and their last states stay in the map.
///
/// If a reducer panics, the states of all sessions are lost; a [guarded](crate::transduce::guard) reducer loses only
/// the state of its session.
///
/// ```
/// use foldline::transduce::{Batch, Keyed, Reducer, Transducer, emit_fn, reduce_fn};
///
/// let count = reduce_fn(|| 0, |n: u32, _line: &str| (n + 1, Batch::one(n + 1)));
/// let by_first_letter = Keyed::new(count, |line: &&str| line.chars().next());
/// let mut shell = Transducer::new(by_first_letter, emit_fn(|event: &(Option<char>, u32)| Batch::one(*event)));
///
/// assert_eq!(shell.step("apple").as_slice(), [(Some('a'), 1)]);
/// assert_eq!(shell.step("beet").as_slice(), [(Some('b'), 1)]);
/// assert_eq!(shell.step("avocado").as_slice(), [(Some('a'), 2)]);
/// assert_eq!(shell.state().len(), 2);
/// ```
#[derive(Clone, Copy)]
pub struct Keyed<R, F> {
    reducer: R,
    key: F,
}

impl<R, F> Keyed<R, F> {
    /// Keeps one session for each key that `key` extracts from the inputs.
    ///
    /// In a closure, annotate the input type: `|line: &&str| ..` then holds for lines of any lifetime.
    #[inline]
    pub const fn new(reducer: R, key: F) -> Self {
        Keyed { reducer, key }
    }

    /// Ends one session explicitly: it is finished and removed, like a session that is done. Does nothing if no
    /// session has this key. A later input with the same key begins a new session.
    ///
    /// Call it for sessions that will not continue (the file is gone, or there was no input for a day), to keep the
    /// state bounded. In a [`Transducer`](crate::transduce::Transducer), call it through
    /// [`apply`](crate::transduce::Transducer::apply).
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use foldline::transduce::{Batch, Keyed, Reducer, reduce_fn};
    ///
    /// let count = reduce_fn(|| 0, |n: u32, _: char| (n + 1, Batch::<u32>::EMPTY));
    /// let counts = Keyed::new(count, |c: &char| *c);
    /// let (state, _) = counts.reduce(BTreeMap::from([('a', 1), ('b', 2)]), 'a');
    /// let (state, events) = counts.close(state, &'a');
    /// assert!(events.is_empty()); // this reducer holds nothing back
    /// assert_eq!(state, BTreeMap::from([('b', 2)]));
    /// ```
    pub fn close<In, K, State, Event>(
        &self,
        mut sessions: BTreeMap<K, State>,
        key: &K,
    ) -> (BTreeMap<K, State>, Batch<(K, Event)>)
    where
        R: Reducer<In, State, Event>,
        F: Fn(&In) -> K,
        K: Ord + Clone,
    {
        let Some((key, state)) = sessions.remove_entry(key) else {
            return (sessions, Batch::EMPTY);
        };
        let (_, events) = self.reducer.finish(state);
        (sessions, events.map(|event| (key.clone(), event)))
    }
}

access!(Keyed<R, F>, reducer: R);

impl<R, F, In, K, State, Event> Reducer<In, BTreeMap<K, State>, (K, Event)> for Keyed<R, F>
where
    R: Reducer<In, State, Event>,
    F: Fn(&In) -> K,
    K: Ord + Clone,
{
    #[inline]
    fn init(&self) -> BTreeMap<K, State> {
        BTreeMap::new()
    }

    fn reduce(
        &self,
        mut sessions: BTreeMap<K, State>,
        input: In,
    ) -> (BTreeMap<K, State>, Batch<(K, Event)>) {
        let key = (self.key)(&input);
        // Removed and reinserted: the state has to be moved, and a map cannot hold an empty slot.
        let state = sessions.remove(&key).unwrap_or_else(|| self.reducer.init());
        let (state, mut events) = self.reducer.reduce(state, input);
        let done = self.reducer.is_done(&state);
        if done {
            events.append(self.reducer.finish(state).1);
            return (sessions, events.map(|event| (key.clone(), event)));
        }
        let events = events.map(|event| (key.clone(), event));
        sessions.insert(key, state);
        (sessions, events)
    }

    fn finish(&self, sessions: BTreeMap<K, State>) -> (BTreeMap<K, State>, Batch<(K, Event)>) {
        let mut all = Batch::EMPTY;
        let finished = sessions
            .into_iter()
            .map(|(key, state)| {
                let (state, events) = self.reducer.finish(state);
                all.append(events.map(|event| (key.clone(), event)));
                (key, state)
            })
            .collect();
        (finished, all)
    }
}

impl<R: fmt::Debug, F> fmt::Debug for Keyed<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed").field("reducer", &self.reducer).finish_non_exhaustive()
    }
}
