//! [`Reducer`] and its combinators.

mod both;
mod from_fn;
mod keyed;
mod then;

pub use both::Both;
pub use from_fn::{ReduceFn, reduce_fn};
pub use keyed::Keyed;
pub use then::Then;

use std::sync::Arc;

use super::Batch;

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
        Then::new(self, next)
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

// Here, and not next to `Then`, because the trait constructs one.
impl<A, B, In, S1, S2, E1, E2> Reducer<In, (S1, S2), E2> for Then<A, B, E1>
where
    A: Reducer<In, S1, E1>,
    B: Reducer<E1, S2, E2>,
{
    #[inline]
    fn init(&self) -> (S1, S2) {
        let (first, second) = self.get_ref();
        (first.init(), second.init())
    }

    #[inline]
    fn reduce(&self, (s1, s2): (S1, S2), input: In) -> ((S1, S2), Batch<E2>) {
        let (first, second) = self.get_ref();
        let (s1, events) = first.reduce(s1, input);
        let (s2, out) = feed(second, s2, events);
        ((s1, s2), out)
    }

    fn finish(&self, (s1, s2): (S1, S2)) -> ((S1, S2), Batch<E2>) {
        let (first, second) = self.get_ref();
        let (s1, events) = first.finish(s1);
        let (s2, mut out) = feed(second, s2, events);
        let (s2, last) = second.finish(s2);
        out.append(last);
        ((s1, s2), out)
    }

    #[inline]
    fn is_done(&self, (s1, s2): &(S1, S2)) -> bool {
        let (first, second) = self.get_ref();
        first.is_done(s1) || second.is_done(s2)
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
