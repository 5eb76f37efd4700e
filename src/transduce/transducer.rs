//! [`Transducer`]: the `&mut` shell round a pure core.

use std::iter;

use super::{Batch, Emitter, Reducer};

/// A reducer, its state, and an emitter.
///
/// The types of input, event and output belong to the methods, not to the `Transducer`: they are
/// chosen at each call, so an input may borrow from a buffer that the next call uses again.
///
/// # When something panics
///
/// A reducer does not panic by contract. If it does all the same, the state was inside it and is
/// lost: the transducer is then *poisoned*, and every method that needs the state panics, rather than
/// going on from a state that never was. Build a new one with [`restore`](Self::restore) from the
/// last snapshot of the [`state`](Self::state).
///
/// If an emitter panics, the state is already the one after the input, but emitters behind it have
/// not seen the event, nor any emitter the events after it.
#[derive(Clone, Debug)]
pub struct Transducer<R, State, M> {
    reducer: R,
    /// `None` while the reducer has it; for good, if it panicked.
    state: Option<State>,
    emitter: M,
}

impl<R, State, M> Transducer<R, State, M> {
    /// Begins with the reducer's first state.
    #[inline]
    pub fn new<In, Event>(reducer: R, emitter: M) -> Self
    where
        R: Reducer<In, State, Event>,
    {
        let state = reducer.init();
        Self::restore(reducer, state, emitter)
    }

    /// Begins with a given state: a snapshot.
    ///
    /// An emitter with a memory of its own has to be restored to the same point by the caller.
    #[inline]
    pub const fn restore(reducer: R, state: State, emitter: M) -> Self {
        Transducer { reducer, state: Some(state), emitter }
    }

    /// The state between two steps: what a snapshot has to hold.
    ///
    /// # Panics
    ///
    /// If the transducer [is poisoned](Self::is_poisoned).
    #[inline]
    #[track_caller]
    pub fn state(&self) -> &State {
        match &self.state {
            Some(state) => state,
            None => poisoned(),
        }
    }

    /// Whether the reducer panicked in an earlier step, so that there is no state any more.
    #[inline]
    pub const fn is_poisoned(&self) -> bool {
        self.state.is_none()
    }

    /// Whether no further input can matter: see [`Reducer::is_done`].
    ///
    /// # Panics
    ///
    /// If the transducer [is poisoned](Self::is_poisoned).
    #[inline]
    #[track_caller]
    pub fn is_done<In, Event>(&self) -> bool
    where
        R: Reducer<In, State, Event>,
    {
        self.reducer.is_done(self.state())
    }

    /// The emitter.
    #[inline]
    pub const fn emitter(&self) -> &M {
        &self.emitter
    }

    /// The emitter, to be changed between two steps: to switch an `Option` on, say.
    #[inline]
    pub const fn emitter_mut(&mut self) -> &mut M {
        &mut self.emitter
    }

    /// Takes the transducer apart without finishing. No state is left if it
    /// [is poisoned](Self::is_poisoned).
    #[inline]
    pub fn into_parts(self) -> (R, Option<State>, M) {
        (self.reducer, self.state, self.emitter)
    }

    /// One step: takes the state out, reduces, puts the new state back, and emits the events.
    ///
    /// ```
    /// use foldline::transduce::{Batch, Transducer, emit_fn, reduce_fn};
    ///
    /// let count = reduce_fn(|| 0, |n: u32, _line: &str| (n + 1, Batch::one(n)));
    /// let mut shell = Transducer::new(count, emit_fn(|n: &u32| Batch::one(n * 10)));
    /// assert_eq!(shell.step("a").as_slice(), [0]);
    /// assert_eq!(shell.step("b").as_slice(), [10]);
    /// assert_eq!(shell.state(), &2);
    /// ```
    ///
    /// # Panics
    ///
    /// If the transducer [is poisoned](Self::is_poisoned), or if the reducer or an emitter panics.
    #[inline]
    #[track_caller]
    pub fn step<In, Event, Out>(&mut self, input: In) -> Batch<Out>
    where
        R: Reducer<In, State, Event>,
        M: Emitter<Event, Out>,
    {
        let mut all = Batch::EMPTY;
        for event in &self.reduce(input) {
            all.append(self.emitter.emit(event));
        }
        all
    }

    /// One step, its outputs handed on one by one as they arise, without collecting them.
    ///
    /// # Panics
    ///
    /// As [`step`](Self::step).
    #[inline]
    #[track_caller]
    pub fn step_with<In, Event, Out>(&mut self, input: In, mut each: impl FnMut(Out))
    where
        R: Reducer<In, State, Event>,
        M: Emitter<Event, Out>,
    {
        for event in &self.reduce(input) {
            self.emitter.emit(event).drain_with(&mut each);
        }
    }

    /// The end of input: what the reducer held back, and then what the emitter did.
    ///
    /// Takes the transducer, so that there is one end only.
    ///
    /// # Panics
    ///
    /// As [`step`](Self::step).
    #[track_caller]
    pub fn finish<In, Event, Out>(mut self) -> (State, M, Batch<Out>)
    where
        R: Reducer<In, State, Event>,
        M: Emitter<Event, Out>,
    {
        let state = self.take_state();
        let (state, events) = self.reducer.finish(state);
        let mut all = Batch::EMPTY;
        for event in &events {
            all.append(self.emitter.emit(event));
        }
        all.append(self.emitter.finish());
        (state, self.emitter, all)
    }

    /// The outputs for a sequence of inputs, each input being pulled when it is needed.
    ///
    /// After the last input, or as soon as the reducer is done, come the outputs of
    /// [`finish`](Self::finish). To have an emitter back afterwards, lend it: `&mut emitter` is one.
    ///
    /// ```
    /// use foldline::transduce::{Batch, Transducer, emit_fn, reduce_fn};
    ///
    /// let words = reduce_fn(|| (), |(), line: &str| {
    ///     ((), line.split(' ').map(str::to_owned).collect())
    /// });
    /// let lengths = emit_fn(|word: &String| Batch::one(word.len()));
    /// let outputs = Transducer::new(words, lengths).over(["to be", "or not"]);
    /// assert!(outputs.eq([2, 2, 2, 3]));
    /// ```
    ///
    /// # Panics
    ///
    /// The iterator panics as [`step`](Self::step) does.
    pub fn over<I, Event, Out>(self, inputs: I) -> impl Iterator<Item = Out>
    where
        I: IntoIterator,
        R: Reducer<I::Item, State, Event>,
        M: Emitter<Event, Out>,
    {
        let mut inputs = inputs.into_iter();
        let mut running = Some(self);
        let mut ready = Batch::EMPTY.into_iter();
        iter::from_fn(move || {
            loop {
                if let Some(out) = ready.next() {
                    return Some(out);
                }
                let shell = running.as_mut()?;
                // Asked first: an input that cannot matter is not even pulled.
                let input = if shell.is_done() { None } else { inputs.next() };
                ready = match input {
                    Some(input) => shell.step(input).into_iter(),
                    None => running.take()?.finish().2.into_iter(),
                };
            }
        })
    }

    /// Takes the state out, reduces, and puts the new state back.
    #[inline]
    #[track_caller]
    fn reduce<In, Event>(&mut self, input: In) -> Batch<Event>
    where
        R: Reducer<In, State, Event>,
    {
        let state = self.take_state();
        let (state, events) = self.reducer.reduce(state, input);
        self.state = Some(state);
        events
    }

    #[inline]
    #[track_caller]
    fn take_state(&mut self) -> State {
        match self.state.take() {
            Some(state) => state,
            None => poisoned(),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
#[expect(clippy::panic, reason = "there is no state to go on from, and an invented one would lie")]
fn poisoned() -> ! {
    panic!(
        "this Transducer is poisoned: its reducer panicked in an earlier step and took the state \
         with it; build a new one from the last snapshot with Transducer::restore"
    )
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Adds up; panics at 13; done at 100 or more.
    struct Sum;

    impl Reducer<u32, u32, u32> for Sum {
        fn init(&self) -> u32 {
            0
        }
        fn reduce(&self, sum: u32, n: u32) -> (u32, Batch<u32>) {
            assert!(n != 13, "thirteen");
            (sum + n, Batch::one(sum + n))
        }
        fn finish(&self, sum: u32) -> (u32, Batch<u32>) {
            (sum, Batch::one(sum + 1000))
        }
        fn is_done(&self, sum: &u32) -> bool {
            *sum >= 100
        }
    }

    #[derive(Default)]
    struct Copy(usize);

    impl Emitter<u32, u32> for Copy {
        fn emit(&mut self, n: &u32) -> Batch<u32> {
            self.0 += 1;
            Batch::one(*n)
        }
        fn finish(&mut self) -> Batch<u32> {
            Batch::one(0)
        }
    }

    fn message(panic: &(dyn std::any::Any + Send)) -> &str {
        panic.downcast_ref::<&str>().copied().unwrap_or_default()
    }

    #[test]
    fn steps_then_finishes_in_order() {
        let mut shell = Transducer::new(Sum, Copy::default());
        assert_eq!(shell.step(1).as_slice(), [1]);
        let mut seen = Vec::new();
        shell.step_with(2, |out| seen.push(out));
        assert_eq!(seen, [3]);
        let (state, emitter, out) = shell.finish();
        assert_eq!((state, emitter.0, out.as_slice()), (3, 3, &[1003, 0][..]));
    }

    #[test]
    fn goes_on_from_a_snapshot() {
        let mut whole = Transducer::new(Sum, Copy::default());
        let _ = whole.step(5);
        let snapshot = *whole.state();
        let (reducer, _, emitter) = whole.into_parts();
        let mut resumed = Transducer::restore(reducer, snapshot, emitter);
        assert_eq!(resumed.step(6).as_slice(), [11]);
    }

    #[test]
    fn after_a_panic_says_what_to_do() {
        let mut shell = Transducer::new(Sum, Copy::default());
        let _ = shell.step(1);
        assert!(!shell.is_poisoned());
        let thirteen = catch_unwind(AssertUnwindSafe(|| shell.step(13)));
        assert_eq!(message(&*thirteen.unwrap_err()), "thirteen");
        assert!(shell.is_poisoned());

        for attempt in [
            catch_unwind(AssertUnwindSafe(|| drop(shell.step(1)))),
            catch_unwind(AssertUnwindSafe(|| shell.step_with(1, drop::<u32>))),
            catch_unwind(AssertUnwindSafe(|| assert_eq!(shell.state(), &0))),
        ] {
            assert!(message(&*attempt.unwrap_err()).contains("Transducer::restore"));
        }
        // What the emitter gathered can still be had.
        assert_eq!(shell.emitter().0, 1);
        assert!(matches!(shell.into_parts(), (_, None, Copy(1))));
    }

    #[test]
    fn over_pulls_no_input_that_cannot_matter() {
        let mut copy = Copy::default();
        let mut inputs = [60, 50, 13].into_iter();
        let outputs: Vec<u32> = Transducer::new(Sum, &mut copy).over(&mut inputs).collect();
        assert_eq!(outputs, [60, 110, 1110, 0]);
        assert_eq!(inputs.next(), Some(13));
        assert_eq!(copy.0, 3);
    }

    #[test]
    fn over_nothing_still_finishes_and_then_stays_at_the_end() {
        let mut outputs = Transducer::new(Sum, Copy::default()).over([]);
        assert_eq!(outputs.by_ref().collect::<Vec<_>>(), [1000, 0]);
        assert_eq!(outputs.next(), None);
    }

    #[test]
    fn a_done_snapshot_takes_no_input() {
        let outputs = Transducer::restore(Sum, 100, Copy::default()).over([1]);
        assert!(outputs.eq([1100, 0]));
    }
}
