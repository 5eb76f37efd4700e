//! [`KeyedEmitter`]: an emitter for each session of a stream.

use std::{collections::BTreeMap, fmt};

use super::{Emitter, Gather, Resume};
use crate::transduce::{Batch, wrapper::access};

/// An emitter for each key: the counterpart of a [`Keyed`](crate::transduce::Keyed) reducer.
///
/// The state of an emitter (indices, open entries, counters) belongs to one session. Where one stream
/// carries several sessions, a single emitter would mix them up. Here, each key gets its own emitter,
/// made with the first event of that key. Each output is paired with a clone of its key, as with
/// `Keyed`.
///
/// Emitters stay until they are [closed](Self::close): on a stream that never ends, close sessions that
/// are over, or memory grows with their number. At the end the remaining emitters finish, in the order
/// of their keys.
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
pub struct KeyedEmitter<K, M, F, Make> {
    emitters: BTreeMap<K, M>,
    key: F,
    make: Make,
}

impl<K, M, F, Make> KeyedEmitter<K, M, F, Make> {
    /// One emitter, made by `make`, for each key that `key` extracts from the events.
    #[inline]
    pub fn new<Event: ?Sized>(key: F, make: Make) -> Self
    where
        F: Fn(&Event) -> K,
        Make: FnMut(&K) -> M,
    {
        KeyedEmitter { emitters: BTreeMap::new(), key, make }
    }

    /// Ends one session: finishes its emitter, and returns it with its last outputs, since it may hold
    /// [gathered](Gather) output. `None` if there is no emitter with this key.
    ///
    /// A later event with the same key makes a new emitter.
    #[must_use = "the session's last outputs are lost otherwise"]
    pub fn close<Event: ?Sized, Out>(&mut self, key: &K) -> Option<(M, Batch<Out>)>
    where
        K: Ord,
        M: Emitter<Event, Out>,
    {
        let mut emitter = self.emitters.remove(key)?;
        let last = emitter.finish();
        Some((emitter, last))
    }
}

access!(KeyedEmitter<K, M, F, Make>, emitters: BTreeMap<K, M>);

impl<K, M, F, Make, Event, Out> Emitter<Event, (K, Out)> for KeyedEmitter<K, M, F, Make>
where
    Event: ?Sized,
    K: Ord + Clone,
    M: Emitter<Event, Out>,
    F: Fn(&Event) -> K,
    Make: FnMut(&K) -> M,
{
    fn emit(&mut self, event: &Event) -> Batch<(K, Out)> {
        let key = (self.key)(event);
        let out = match self.emitters.get_mut(&key) {
            Some(emitter) => emitter.emit(event),
            None => {
                let emitter = (self.make)(&key);
                self.emitters.entry(key.clone()).or_insert(emitter).emit(event)
            }
        };
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

/// One memory per key. Resuming replaces all emitters by new ones with these memories.
impl<K, M, F, Make> Resume for KeyedEmitter<K, M, F, Make>
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

/// One stretch per key.
impl<K, M, F, Make> Gather for KeyedEmitter<K, M, F, Make>
where
    K: Ord + Clone,
    M: Gather,
{
    type Stretch = BTreeMap<K, M::Stretch>;

    fn cut(&mut self) -> Self::Stretch {
        self.emitters.iter_mut().map(|(key, emitter)| (key.clone(), emitter.cut())).collect()
    }

    fn size(&self) -> usize {
        self.emitters.values().fold(0, |size, emitter| size.saturating_add(emitter.size()))
    }
}

impl<K: fmt::Debug, M: fmt::Debug, F, Make> fmt::Debug for KeyedEmitter<K, M, F, Make> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedEmitter").field("emitters", &self.emitters).finish_non_exhaustive()
    }
}
