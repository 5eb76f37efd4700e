//! [`Transducer`]: the `&mut` shell around a pure core.

use std::iter;

use super::{Batch, Emitter, Reducer};

/// A reducer, its state, and an emitter.
///
/// The types of input, event and output belong to the methods, not to the `Transducer`: they are chosen at each call,
/// so an input may borrow from a buffer that is reused for the next call.
///
/// # When something panics
///
/// By contract, a reducer does not panic. If it does, its state is lost: the transducer is then *poisoned*, and every
/// method that needs the state panics instead of continuing from an invented state. Build a new transducer with
/// [`restore`](Self::restore) from the last snapshot of the [`state`](Self::state).
///
/// If an emitter panics, the state already includes the input, but later emitters of the fan-out have not received
/// the event, and no emitter has received the events after it.
///
/// [`guard`](super::guard) around a reducer or an emitter turns its panic into an output instead.
#[derive(Debug)]
pub struct Transducer<R, State, M> {
    reducer: R,
    /// `None` while the reducer runs; permanently, if it panicked.
    state: Option<State>,
    emitter: M,
}

impl<R, State, M> Transducer<R, State, M> {
    /// Begins with the reducer's initial state.
    #[inline]
    pub fn new<In, Event>(reducer: R, emitter: M) -> Self
    where
        R: Reducer<In, State, Event>,
    {
        let state = reducer.init();
        Self::restore(reducer, state, emitter)
    }

    /// Begins with a given state, such as a snapshot.
    ///
    /// The caller has to restore an emitter with a memory to the same point.
    #[inline]
    pub const fn restore(reducer: R, state: State, emitter: M) -> Self {
        Transducer { reducer, state: Some(state), emitter }
    }

    /// The state between two steps, for snapshots.
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

    /// Whether the reducer panicked in an earlier step, so that the state is lost.
    #[inline]
    pub const fn is_poisoned(&self) -> bool {
        self.state.is_none()
    }

    /// Whether no further input can have an effect: see [`Reducer::is_done`].
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

    /// The reducer.
    #[inline]
    pub const fn reducer(&self) -> &R {
        &self.reducer
    }

    /// The emitter.
    #[inline]
    pub const fn emitter(&self) -> &M {
        &self.emitter
    }

    /// The emitter, mutable, for changes between two steps, such as enabling an `Option`.
    #[inline]
    pub const fn emitter_mut(&mut self) -> &mut M {
        &mut self.emitter
    }

    /// Replaces the emitter, and returns the previous one.
    #[inline]
    pub fn replace_emitter<N>(self, emitter: N) -> (Transducer<R, State, N>, M) {
        let Self { reducer, state, emitter: before } = self;
        (Transducer { reducer, state, emitter }, before)
    }

    /// Takes the transducer apart without finishing. The state is `None` if it [is poisoned](Self::is_poisoned).
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
        self.advance(input, |out| all.append(out));
        all
    }

    /// One step that passes every output to `each`, without collecting the outputs.
    ///
    /// # Panics
    ///
    /// As for [`step`](Self::step).
    #[inline]
    #[track_caller]
    pub fn step_with<In, Event, Out>(&mut self, input: In, mut each: impl FnMut(Out))
    where
        R: Reducer<In, State, Event>,
        M: Emitter<Event, Out>,
    {
        self.advance(input, |out| out.drain_with(&mut each));
    }

    /// The first half of a step: `f` receives the reducer and the state, and the caller emits the returned events.
    /// For an emitter that is elsewhere.
    ///
    /// ```
    /// use foldline::transduce::{Batch, Reducer, Transducer, reduce_fn};
    ///
    /// let count = reduce_fn(|| 0, |n: u32, _line: &str| (n + 1, Batch::one(n)));
    /// let mut shell = Transducer::new(count, ());
    /// assert_eq!(shell.reduce(|count, n| count.reduce(n, "a")).as_slice(), [0]);
    /// assert_eq!(shell.state(), &1);
    /// ```
    ///
    /// # Panics
    ///
    /// If the transducer [is poisoned](Self::is_poisoned), or if `f` panics.
    #[inline]
    #[track_caller]
    pub fn reduce<Event>(
        &mut self,
        f: impl FnOnce(&R, State) -> (State, Batch<Event>),
    ) -> Batch<Event> {
        let state = self.take_state();
        let (state, events) = f(&self.reducer, state);
        self.state = Some(state);
        events
    }

    /// A step without an input: `f` receives the reducer and the state, and the returned events are emitted. For
    /// methods of a reducer other than [`reduce`](Reducer::reduce), such as [`Keyed::close`](super::Keyed::close).
    ///
    /// ```
    /// use foldline::transduce::{Batch, Keyed, Transducer, emit_fn, reduce_fn};
    ///
    /// let count = reduce_fn(|| 0, |n: u32, _: char| (n + 1, Batch::one(n + 1)));
    /// let counts = Keyed::new(count, |c: &char| *c);
    /// let mut shell = Transducer::new(counts, emit_fn(|event: &(char, u32)| Batch::one(*event)));
    /// assert_eq!(shell.step('a').as_slice(), [('a', 1)]);
    ///
    /// let last = shell.apply(|counts, state| counts.close(state, &'a'));
    /// assert!(last.is_empty() && shell.state().is_empty());
    /// ```
    ///
    /// # Panics
    ///
    /// As for [`step`](Self::step), and if `f` panics.
    #[track_caller]
    pub fn apply<Event, Out>(
        &mut self,
        f: impl FnOnce(&R, State) -> (State, Batch<Event>),
    ) -> Batch<Out>
    where
        M: Emitter<Event, Out>,
    {
        let mut all = Batch::EMPTY;
        for event in &self.reduce(f) {
            all.append(self.emitter.emit(event));
        }
        all
    }

    /// The end of input: finishes the reducer, emits the released events, and then finishes the emitter.
    ///
    /// Consumes the transducer, so that it is finished only once.
    ///
    /// # Panics
    ///
    /// As for [`step`](Self::step).
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

    /// The outputs for a sequence of inputs, pulled lazily.
    ///
    /// After the last input, or as soon as the reducer is done, the outputs of [`finish`](Self::finish) follow. To
    /// keep the emitter, pass `&mut emitter`, which is an emitter too.
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
    /// The iterator panics under the same conditions as [`step`](Self::step).
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
                // Checked first: an input without effect is not pulled.
                let input = if shell.is_done() { None } else { inputs.next() };
                ready = match input {
                    Some(input) => shell.step(input).into_iter(),
                    None => running.take()?.finish().2.into_iter(),
                };
            }
        })
    }

    /// Takes the state out, reduces, puts the new state back, and emits each event.
    #[inline]
    #[track_caller]
    fn advance<In, Event, Out>(&mut self, input: In, mut each: impl FnMut(Batch<Out>))
    where
        R: Reducer<In, State, Event>,
        M: Emitter<Event, Out>,
    {
        let state = self.take_state();
        let stepped = self.reducer.reduce(state, input);
        self.state = Some(stepped.0);
        // Emitted by reference: events are large, and moving them costs more than the rest of the step.
        for event in &stepped.1 {
            each(self.emitter.emit(event));
        }
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
#[expect(
    clippy::panic,
    reason = "there is no state to continue from, and an invented one would be wrong"
)]
fn poisoned() -> ! {
    panic!(
        "this Transducer is poisoned: its reducer panicked in an earlier step and took the state \
         with it; build a new one from the last snapshot with Transducer::restore"
    )
}
