//! [`Reducer`] and its combinators.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{
    Batch,
    wrapper::{access_pair, debug},
};

/// The functional core: a pure function from state and input to state and events.
///
/// A reducer is total and deterministic: the same inputs give the same states and events, no input causes a panic,
/// and invalid input is reported as an event. It reads no clock and does no I/O. Everything it remembers is in
/// `State`; the reducer itself holds only configuration.
///
/// The state moves in and out, so that a stale state cannot be used by mistake. A move is not free: in a hot loop, a
/// state of more than a few words belongs in a `Box`, which moves as one pointer.
///
/// `In` is a value. It may be a reference, or hold references: `impl<'a> Reducer<&'a str, ..>` reads lines from a
/// buffer that is reused for the next line. Implement the trait once per type; with two implementations the compiler
/// cannot infer the input type.
///
/// ```
/// use foldline::transduce::{Batch, Reducer};
///
/// /// Reports each line that is the same as the line before.
/// struct Repeats;
///
/// impl<'a> Reducer<&'a str, String, String> for Repeats {
///     fn init(&self) -> String {
///         String::new()
///     }
///     fn reduce(&self, last: String, line: &'a str) -> (String, Batch<String>) {
///         if last == line { (last.clone(), Batch::one(last)) } else { (line.into(), Batch::EMPTY) }
///     }
/// }
///
/// let (state, events) = Repeats.reduce("b".into(), "b");
/// assert_eq!(state, "b");
/// assert_eq!(events.as_slice(), ["b"]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Reducer<{In}, {State}, {Event}>`",
    label = "no reducer from input `{In}` with state `{State}` to events `{Event}`",
    note = "a reducer has one input, one state and one type of event: compare all three with its `impl`",
    note = "a closure becomes a reducer with `reduce_fn`",
    note = "for an input that borrows, implement it for every lifetime: `impl<'a> Reducer<&'a str, ..>`"
)]
pub trait Reducer<In, State, Event> {
    /// The state before the first input.
    fn init(&self) -> State;

    /// One step.
    fn reduce(&self, state: State, input: In) -> (State, Batch<Event>);

    /// The end of input: releases held data. Called once, after the last step.
    #[inline]
    fn finish(&self, state: State) -> (State, Batch<Event>) {
        (state, Batch::EMPTY)
    }

    /// Whether no further input can have an effect. The caller may then stop reading, but still calls
    /// [`finish`](Self::finish). The combinators here and [`Transducer::over`](super::Transducer::over) do so.
    #[inline]
    fn is_done(&self, state: &State) -> bool {
        let _ = state;
        false
    }

    /// Feeds the events of this reducer into `next`.
    #[inline]
    fn then<S2, E2, B>(self, next: B) -> Then<Self, B, Event>
    where
        Self: Sized,
        B: Reducer<Event, S2, E2>,
    {
        Then { first: self, second: next, between: PhantomData }
    }
}

/// Forwards every method. A macro, because a forgotten method would silently fall back to its default.
macro_rules! forward_to_inner {
    ($($pointer:ty),+) => {$(
        impl<In, State, Event, R> Reducer<In, State, Event> for $pointer
        where
            R: Reducer<In, State, Event> + ?Sized,
        {
            #[inline]
            fn init(&self) -> State {
                (**self).init()
            }

            #[inline]
            fn reduce(&self, state: State, input: In) -> (State, Batch<Event>) {
                (**self).reduce(state, input)
            }

            #[inline]
            fn finish(&self, state: State) -> (State, Batch<Event>) {
                (**self).finish(state)
            }

            #[inline]
            fn is_done(&self, state: &State) -> bool {
                (**self).is_done(state)
            }
        }
    )+};
}

forward_to_inner!(&R, Box<R>, Arc<R>);

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
debug!(ReduceFn<I, F>);

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

access_pair!(Then<A, B, Event>, first: A, second: B);

// Implemented by hand: a derive would require the same of the intermediate events, which are not stored.
impl<A: Clone, B: Clone, Event> Clone for Then<A, B, Event> {
    fn clone(&self) -> Self {
        Then { first: self.first.clone(), second: self.second.clone(), between: PhantomData }
    }
}

impl<A: fmt::Debug, B: fmt::Debug, Event> fmt::Debug for Then<A, B, Event> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Then").field("first", &self.first).field("second", &self.second).finish()
    }
}

impl<A, B, In, S1, S2, E1, E2> Reducer<In, (S1, S2), E2> for Then<A, B, E1>
where
    A: Reducer<In, S1, E1>,
    B: Reducer<E1, S2, E2>,
{
    #[inline]
    fn init(&self) -> (S1, S2) {
        (self.first.init(), self.second.init())
    }

    #[inline]
    fn reduce(&self, (s1, s2): (S1, S2), input: In) -> ((S1, S2), Batch<E2>) {
        let (s1, events) = self.first.reduce(s1, input);
        let (s2, out) = feed(&self.second, s2, events);
        ((s1, s2), out)
    }

    fn finish(&self, (s1, s2): (S1, S2)) -> ((S1, S2), Batch<E2>) {
        let (s1, events) = self.first.finish(s1);
        let (s2, mut out) = feed(&self.second, s2, events);
        let (s2, last) = self.second.finish(s2);
        out.append(last);
        ((s1, s2), out)
    }

    #[inline]
    fn is_done(&self, (s1, s2): &(S1, S2)) -> bool {
        self.first.is_done(s1) || self.second.is_done(s2)
    }
}

/// Reduces events until the reducer is done.
#[inline]
fn feed<R, Event, State, Out>(
    reducer: &R,
    mut state: State,
    events: Batch<Event>,
) -> (State, Batch<Out>)
where
    R: Reducer<Event, State, Out>,
{
    let mut out = Batch::EMPTY;
    for event in events {
        if reducer.is_done(&state) {
            break;
        }
        let (next, more) = reducer.reduce(state, event);
        state = next;
        out.append(more);
    }
    (state, out)
}
