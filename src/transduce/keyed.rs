//! Several sessions in one stream: a reducer state ([`Keyed`]) and an emitter ([`KeyedEmitter`]) for each.

use std::collections::BTreeMap;

use super::{
    Batch, Emitter, Reducer, Resume,
    wrapper::{access, debug},
};

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

debug!(Keyed<R, F>, reducer: R);

/// One emitter per key: the counterpart of a [`Keyed`](crate::transduce::Keyed) reducer.
///
/// The state of an emitter (indices, open entries, counters) belongs to one session. On a stream with several
/// sessions, a single emitter would mix them. Here, each key has a separate emitter, created at the first event of
/// that key. Each output is paired with a clone of its key, as with `Keyed`.
///
/// Emitters stay until they are [closed](Self::close): on an unbounded stream, close finished sessions, or memory
/// grows with their number. At the end the remaining emitters finish, in the order of their keys.
///
/// ```
/// use foldline::transduce::{
///     Batch, Keyed, KeyedEmitter, Transducer, contramap, emit_fn, reduce_fn,
/// };
///
/// // The log: lines of several doors, each opening and closing.
/// let toggle = reduce_fn(|| false, |open: bool, _line: &str| (!open, Batch::one(!open)));
/// let doors = Keyed::new(toggle, |line: &&str| line.chars().next());
///
/// // The sink numbers the lines of each door; it knows nothing of other doors.
/// let sinks = KeyedEmitter::new(
///     |(door, _): &(Option<char>, bool)| *door,
///     |_door| {
///         let mut line = 0;
///         let numbered = emit_fn(move |open: &bool| {
///             line += 1;
///             Batch::one(format!("{line}: {}", if *open { "open" } else { "closed" }))
///         });
///         contramap(numbered, |(_, open): &(Option<char>, bool)| open)
///     },
/// );
///
/// let mut shell = Transducer::new(doors, sinks);
/// assert_eq!(shell.step("a 09:00").as_slice(), [(Some('a'), "1: open".to_owned())]);
/// assert_eq!(shell.step("b 09:01").as_slice(), [(Some('b'), "1: open".to_owned())]);
/// assert_eq!(shell.step("a 09:02").as_slice(), [(Some('a'), "2: closed".to_owned())]);
///
/// // Door a is removed: what the reducer held of it comes out, and then both forget it.
/// let last = shell.apply(|doors, open| doors.close(open, &Some('a')));
/// assert!(last.is_empty());
/// assert!(shell.emitter_mut().close(&Some('a')).is_some());
/// assert_eq!(shell.state().len(), 1);
/// assert_eq!(shell.step("a 09:03").as_slice(), [(Some('a'), "1: open".to_owned())]);
/// ```
#[derive(Clone)]
pub struct KeyedEmitter<K, M, F, Make, G = ()> {
    emitters: BTreeMap<K, M>,
    key: F,
    make: Make,
    ends: G,
}

/// Recognises the last event of a key; a closure can implement it, and `()` never recognises one.
pub trait Ends<Event: ?Sized> {
    /// Whether the event is the last one of its key.
    fn is_last(&self, event: &Event) -> bool;
}

impl<Event: ?Sized> Ends<Event> for () {
    fn is_last(&self, _: &Event) -> bool {
        false
    }
}

impl<Event: ?Sized, G: Fn(&Event) -> bool> Ends<Event> for G {
    fn is_last(&self, event: &Event) -> bool {
        self(event)
    }
}

impl<K, M, F, Make> KeyedEmitter<K, M, F, Make> {
    /// Creates an emitter with `make` for each key that `key` extracts from the events.
    #[inline]
    pub fn new<Event: ?Sized>(key: F, make: Make) -> Self
    where
        F: Fn(&Event) -> K,
        Make: FnMut(&K) -> M,
    {
        KeyedEmitter { emitters: BTreeMap::new(), key, make, ends: () }
    }

    /// Like [`new`](Self::new), but [closes](Self::close) a session automatically after the event for which `ends`
    /// returns true.
    pub fn ending<Event: ?Sized, G: Fn(&Event) -> bool>(
        self,
        ends: G,
    ) -> KeyedEmitter<K, M, F, Make, G> {
        let Self { emitters, key, make, ends: () } = self;
        KeyedEmitter { emitters, key, make, ends }
    }
}

impl<K, M, F, Make, G> KeyedEmitter<K, M, F, Make, G> {
    /// Ends one session: finishes its emitter, and returns its last outputs. `None` if there is no emitter with this
    /// key.
    ///
    /// A later event with the same key creates a new emitter.
    #[must_use = "the session's last outputs are lost otherwise"]
    pub fn close<Event: ?Sized, Out>(&mut self, key: &K) -> Option<Batch<Out>>
    where
        K: Ord,
        M: Emitter<Event, Out>,
    {
        self.emitters.remove(key).map(|mut emitter| emitter.finish())
    }
}

access!(KeyedEmitter<K, M, F, Make, G>, emitters: BTreeMap<K, M>);

impl<K, M, F, Make, G, Event, Out> Emitter<Event, (K, Out)> for KeyedEmitter<K, M, F, Make, G>
where
    Event: ?Sized,
    K: Ord + Clone,
    M: Emitter<Event, Out>,
    F: Fn(&Event) -> K,
    Make: FnMut(&K) -> M,
    G: Ends<Event>,
{
    fn emit(&mut self, event: &Event) -> Batch<(K, Out)> {
        let key = (self.key)(event);
        let mut out = match self.emitters.get_mut(&key) {
            Some(emitter) => emitter.emit(event),
            None => {
                let emitter = (self.make)(&key);
                self.emitters.entry(key.clone()).or_insert(emitter).emit(event)
            }
        };
        if self.ends.is_last(event)
            && let Some(last) = self.close(&key)
        {
            out.append(last);
        }
        out.map(|out| (key.clone(), out))
    }

    fn finish(&mut self) -> Batch<(K, Out)> {
        let mut all = Batch::EMPTY;
        for (key, emitter) in &mut self.emitters {
            all.append(emitter.finish().map(|out| (key.clone(), out)));
        }
        all
    }
}

/// One memory per key. Resuming replaces all emitters by new emitters with these memories.
impl<K, M, F, Make, G> Resume for KeyedEmitter<K, M, F, Make, G>
where
    K: Ord + Clone,
    M: Resume,
    Make: FnMut(&K) -> M,
{
    type State = BTreeMap<K, M::State>;

    fn state(&self) -> Self::State {
        self.emitters.iter().map(|(key, emitter)| (key.clone(), emitter.state())).collect()
    }

    fn resume(&mut self, state: Self::State) {
        let make = &mut self.make;
        let resumed = state.into_iter().map(|(key, state)| {
            let mut emitter = make(&key);
            emitter.resume(state);
            (key, emitter)
        });
        self.emitters = resumed.collect();
    }
}

debug!(KeyedEmitter<K, M, F, Make, G>, emitters: K, M);
