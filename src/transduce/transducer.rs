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
/// continue from an invented state. Build a new one with [`restore`](Self::restore) from the
/// last snapshot of the [`state`](Self::state).
///
/// If an emitter panics, the state is already the one after the input, but emitters behind it have
/// not seen the event, nor any emitter the events after it.
///
/// [`guard`](super::guard) round a reducer or an emitter makes its panic an output instead.
#[derive(Debug)]
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

    /// The emitter, for changes between two steps, such as switching an `Option` on.
    #[inline]
    pub const fn emitter_mut(&mut self) -> &mut M {
        &mut self.emitter
    }

    /// The same reducer and state with another emitter, and the one that it had.
    #[inline]
    pub fn replace_emitter<N>(self, emitter: N) -> (Transducer<R, State, N>, M) {
        let Self { reducer, state, emitter: before } = self;
        (Transducer { reducer, state, emitter }, before)
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
        self.advance(input, |out| all.append(out));
        all
    }

    /// One step, which calls `each` with every output, without collecting them.
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
        self.advance(input, |out| out.drain_with(&mut each));
    }

    /// The first half of a step: `f` is given the reducer and the state, and the events that it returns are the
    /// caller's to emit, where the emitter is elsewhere.
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

    /// A step without an input: `f` is given the reducer and the state, and the events that it returns
    /// are emitted. For methods of a reducer other than [`reduce`](Reducer::reduce), such as
    /// [`Keyed::close`](super::Keyed::close).
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
    /// As [`step`](Self::step), and if `f` panics.
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

    /// The end of input: finishes the reducer, emits what it held back, and then finishes the emitter.
    ///
    /// Consumes the transducer, so that completion happens once.
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

    /// The outputs for a sequence of inputs, which are pulled lazily.
    ///
    /// After the last input, or as soon as the reducer is done, come the outputs of
    /// [`finish`](Self::finish). To keep the emitter, pass `&mut emitter`, which is an emitter too.
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
                // Checked first: an input that cannot have an effect is not pulled.
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
#[expect(clippy::panic, reason = "there is no state to go on from, and an invented one would lie")]
fn poisoned() -> ! {
    panic!(
        "this Transducer is poisoned: its reducer panicked in an earlier step and took the state \
         with it; build a new one from the last snapshot with Transducer::restore"
    )
}
