//! [`Laws`]: the laws of any reducer, on random inputs.

use std::{cmp::Ordering, fmt::Debug, rc::Rc};

use proptest::strategy::Strategy;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Law, Names, Outcome, Place, Report, Violation, bounded_state, determinism, no_panic, prefix,
    same, split_invariance,
    steps::in_step,
    suite::{Check, Suite},
    walk,
};
use crate::transduce::{Batch, Emitter, Reducer, Resume};

/// A reducer of lines, `&str`, as a reducer of `String`, which can be generated.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfLines<R>(pub R);

impl<R, S, E> Reducer<String, S, E> for OfLines<R>
where
    R: for<'a> Reducer<&'a str, S, E>,
{
    fn init(&self) -> S {
        self.0.init()
    }

    fn reduce(&self, state: S, line: String) -> (S, Batch<E>) {
        self.0.reduce(state, &line)
    }

    fn finish(&self, state: S) -> (S, Batch<E>) {
        self.0.finish(state)
    }

    fn is_done(&self, state: &S) -> bool {
        self.0.is_done(state)
    }
}

/// A whole run: its last state and all events.
struct Whole<S, E> {
    state: S,
    events: Vec<E>,
}

fn whole<In, S, E>(
    reducer: &(impl Reducer<In, S, E> + ?Sized),
    inputs: impl IntoIterator<Item = In>,
) -> Whole<S, E> {
    let mut events = Vec::new();
    let state = inputs.into_iter().fold(reducer.init(), |state, input| {
        let (state, more) = reducer.reduce(state, input);
        events.extend(more);
        state
    });
    let (state, last) = reducer.finish(state);
    events.extend(last);
    Whole { state, events }
}

/// Calls `check` before the first step, and after each, with the state and the events so far.
fn each_step<In: Clone, S, E>(
    reducer: &dyn Reducer<In, S, E>,
    inputs: &[In],
    mut check: impl FnMut(Place, &S, &[E]) -> Result<(), Violation>,
) -> Result<(), Violation> {
    let (mut state, mut events) = (reducer.init(), Vec::new());
    check(Place::Start, &state, &events)?;
    for (index, input) in inputs.iter().enumerate() {
        let (next, more) = reducer.reduce(state, input.clone());
        state = next;
        events.extend(more);
        check(Place::Input(index), &state, &events)?;
    }
    let (state, last) = reducer.finish(state);
    events.extend(last);
    check(Place::Completion, &state, &events)
}

type Any<'a, In, S, E> = Box<dyn Reducer<In, S, E> + 'a>;
type Make<'a, In, S, E> = Rc<dyn Fn() -> Any<'a, In, S, E> + 'a>;
type Same<'a, S, E> =
    Rc<dyn Fn(Law, Names, Place, &str, &Whole<S, E>, &Whole<S, E>) -> Result<(), Violation> + 'a>;

/// The laws of a reducer, which are checked on random inputs.
///
/// Without a declaration, these are checked: no panic, determinism, independence of the reducer from its earlier steps
/// (split invariance), prefix, bounded state, environment. Every other law is declared in a line.
///
/// ```
/// use foldline::{laws::{Laws, inputs}, transduce::{Batch, reduce_fn}};
/// use proptest::prelude::*;
///
/// let sum = || reduce_fn(|| 0, |sum: u64, n: u32| (sum + u64::from(n), Batch::one(n)));
/// Laws::of(sum, inputs(any::<u32>()))
///     .conserves("one event for each number", |numbers, events| (numbers.len(), events.len()))
///     .monotone("the sum", |sum, _| *sum)
///     .commutes(|_, _| true)
///     .merges(|one, two| one + two)
///     .resumes()
///     .check();
/// ```
#[must_use = "nothing is checked before `check` or `verdict`"]
pub struct Laws<'a, In, S, E> {
    suite: Suite<'a, In>,
    make: Make<'a, In, S, E>,
    same: Same<'a, S, E>,
}

impl<'a, In, S, E> Laws<'a, In, S, E>
where
    In: Clone + Debug + 'static,
    S: Clone + PartialEq + Debug + 'a,
    E: PartialEq + Debug + 'a,
{
    /// The laws of the reducers that `make` returns, for these inputs: see [`inputs`](super::inputs) and
    /// [`part_of`](super::part_of). A reducer of lines is wrapped in [`OfLines`].
    pub fn of<R: Reducer<In, S, E> + 'a>(
        make: impl Fn() -> R + 'a,
        inputs: impl Strategy<Value = Vec<In>> + 'static,
    ) -> Self {
        let make: Make<'a, In, S, E> = Rc::new(move || Box::new(make()));
        let again = Rc::clone(&make);
        let text = move |inputs: &[In]| {
            let Whole { state, events } = whole(&*again(), inputs.iter().cloned());
            format!("{events:#?}\n{state:#?}")
        };
        let same: Same<'a, S, E> = Rc::new(|law, names, place, message, one, two| {
            same(
                law,
                names,
                place,
                &format!("{message}: the states differ"),
                &one.state,
                &two.state,
            )?;
            // Inputs in another order give the events in another order.
            let sorted = |events: &[E]| {
                let mut texts: Vec<_> = events.iter().map(|event| format!("{event:?}")).collect();
                texts.sort_unstable();
                texts
            };
            let [one, two] = [one, two].map(|whole| sorted(&whole.events));
            same(law, names, place, &format!("{message}: the events differ"), &one, &two)
        });
        let (suite, fresh) = (Suite::new(inputs, text), Rc::clone(&make));
        Self { suite, make, same }
            .with(Law::Totality, false, |reducer, inputs| no_panic(reducer, inputs))
            .with(Law::Determinism, false, |reducer, inputs| determinism(reducer, inputs))
            .with(Law::SplitInvariance, false, move |reducer, inputs| {
                let names = ["one reducer", "another one for each input"];
                in_step(Law::SplitInvariance, names, reducer, &*fresh, inputs, |_, state| Ok(state))
            })
            .with(Law::Prefix, false, |reducer, inputs| prefix(reducer, inputs))
            .bounded_if(false, |input, _| input.clone())
    }

    fn with<T: Holds>(
        mut self,
        law: Law,
        is_declared: bool,
        check: impl Fn(&dyn Reducer<In, S, E>, &[In]) -> Result<T, Violation> + 'a,
    ) -> Self {
        let make = Rc::clone(&self.make);
        let run = Box::new(move |inputs: &[In], _: &_| {
            Ok(check(&*make(), inputs)?.outcome(inputs.is_empty()))
        });
        self.suite.checks.push(Check { laws: law.alone(), is_declared, run });
        self
    }

    /// The number of random runs; a quarter of proptest's by default. `PROPTEST_RNG_SEED` gives others.
    pub fn cases(mut self, cases: u32) -> Self {
        self.suite.cases = cases;
        self
    }

    /// Omits these laws, such as that of a bounded state, for a reducer that collects something.
    pub fn without(mut self, laws: &[Law]) -> Self {
        self.suite.without.extend(laws);
        self
    }

    /// Law 15: repeated again and again with other ids, the inputs do not let the state grow. `renewed` returns an input
    /// with the ids of the n-th repetition. Without this declaration, the inputs are repeated as they are.
    pub fn bounded(self, renewed: impl Fn(&In, u64) -> In + 'a) -> Self {
        self.bounded_if(true, renewed)
    }

    fn bounded_if(self, is_declared: bool, renewed: impl Fn(&In, u64) -> In + 'a) -> Self {
        self.with(Law::BoundedState, is_declared, move |reducer, inputs| {
            let size = |state: &S| format!("{state:?}").len();
            bounded_state(reducer, inputs, &renewed, size).map_err(|mut violation| {
                violation.message += "; if it has to grow: `.without(&[Law::BoundedState])`";
                violation
            })
        })
    }

    /// What the relations that are declared afterwards compare: by default, the last state, and the events in any order.
    pub fn observing<T: PartialEq + Debug>(mut self, view: impl Fn(&S, &[E]) -> T + 'a) -> Self {
        self.same = Rc::new(move |law, names, place, message, one, two| {
            let [one, two] = [one, two].map(|whole| view(&whole.state, &whole.events));
            same(law, names, place, message, &one, &two)
        });
        self
    }

    /// Law 2: stored as JSON after each input, and restored, the run is the same.
    pub fn resumes(self) -> Self
    where
        S: Serialize + DeserializeOwned,
    {
        self.with(Law::SplitInvariance, true, |reducer, inputs| {
            split_invariance(reducer, |json| serde_json::from_str(json), inputs)
        })
    }

    /// Law 19: the two quantities are equal after every run, such as "lines = lines of sessions + rejected lines".
    pub fn conserves<T: PartialEq + Debug>(
        self,
        name: &'a str,
        quantities: impl Fn(&[In], &[E]) -> (T, T) + 'a,
    ) -> Self {
        self.with(Law::Conservation, true, move |reducer, inputs| {
            let events = whole(reducer, inputs.iter().cloned()).events;
            let (one, two) = quantities(inputs, &events);
            let (law, names) = (Law::Conservation, ["one side", "the other"]);
            same(law, names, Place::Completion, &format!("`{name}` differs"), &one, &two)
                .map_err(|violation| violation.shown("events", &events))
        })
    }

    /// Law 19: the two quantities, of the state and of the events so far, are equal after every step.
    pub fn invariant<T: PartialEq + Debug>(
        self,
        name: &'a str,
        quantities: impl Fn(&S, &[E]) -> (T, T) + 'a,
    ) -> Self {
        let law = Law::Conservation;
        self.with(law, true, move |reducer, inputs| {
            each_step(reducer, inputs, |place, state, events| {
                let (one, two) = quantities(state, events);
                let names = ["one side", "the other"];
                same(law, names, place, &format!("`{name}` differs"), &one, &two)
            })
        })
    }

    /// Law 20: a measure of the state and of the events so far never falls.
    pub fn monotone<T: PartialOrd + Debug>(
        self,
        name: &'a str,
        measure: impl Fn(&S, &[E]) -> T + 'a,
    ) -> Self {
        self.with(Law::Monotonicity, true, move |reducer, inputs| {
            let mut before = None;
            each_step(reducer, inputs, |place, state, events| {
                let after = measure(state, events);
                if let Some(before) = before.take().filter(|before| falls(before, &after)) {
                    let message = format!("`{name}` falls");
                    let violation = Violation::new(Law::Monotonicity, place, message);
                    return Err(violation.side("before", &before).side("after", &after));
                }
                before = Some(after);
                Ok(())
            })
        })
    }

    /// Law 21: such an input, repeated, changes nothing.
    pub fn idempotent(self, is_repeatable: impl Fn(&In) -> bool + 'a) -> Self {
        self.relation(Law::Idempotence, "no input is repeatable", move |inputs, index| {
            let input = inputs.get(index).filter(|input| is_repeatable(input))?.clone();
            let mut repeated = inputs.to_vec();
            repeated.insert(index, input);
            Some(("the input is repeated", repeated))
        })
    }

    /// Law 22: inputs that follow each other and are independent may be exchanged.
    pub fn commutes(self, are_independent: impl Fn(&In, &In) -> bool + 'a) -> Self {
        self.relation(Law::Commutation, "no inputs are independent", move |inputs, index| {
            let (one, two) = (inputs.get(index)?, inputs.get(index + 1)?);
            are_independent(one, two).then(|| {
                let mut exchanged = inputs.to_vec();
                exchanged.swap(index, index + 1);
                ("the input is exchanged with the next one", exchanged)
            })
        })
    }

    /// The inputs changed at an index give the same.
    fn relation(
        self,
        law: Law,
        missing: &'static str,
        changed: impl Fn(&[In], usize) -> Option<(&'static str, Vec<In>)> + 'a,
    ) -> Self {
        let same = Rc::clone(&self.same);
        self.with(law, true, move |reducer, inputs| {
            let before = whole(reducer, inputs.iter().cloned());
            let mut outcome = Outcome::Vacuous(missing);
            for index in 0..inputs.len() {
                let Some((message, inputs)) = changed(inputs, index) else { continue };
                let after = whole(reducer, inputs);
                same(law, ["as it is", "changed"], Place::Input(index), message, &before, &after)?;
                outcome = Outcome::Checked;
            }
            Ok(outcome)
        })
    }

    /// Law 23: the states of two parts of the inputs merge into that of the whole.
    pub fn merges(self, merge: impl Fn(S, S) -> S + 'a) -> Self {
        self.with(Law::Merge, true, move |reducer, inputs| {
            let fold = |inputs: &[In]| {
                let step = |state, input: &In| reducer.reduce(state, input.clone()).0;
                inputs.iter().fold(reducer.init(), step)
            };
            let expected = fold(inputs);
            for cut in 0..=inputs.len() {
                let merged = merge(fold(&inputs[..cut]), fold(&inputs[cut..]));
                let message = format!("cut before input {cut}, the merged state differs");
                let names = ["of the whole", "merged"];
                same(Law::Merge, names, Place::Completion, &message, &expected, &merged)?;
            }
            Ok(())
        })
    }

    /// Law 24: a simple, slow reducer gives the same events.
    pub fn model<R, S2>(self, slow: impl Fn() -> R + 'a) -> Self
    where
        R: Reducer<In, S2, E>,
    {
        self.with(Law::Model, true, move |reducer, inputs| {
            let expected = whole(&slow(), inputs.iter().cloned()).events;
            let events = whole(reducer, inputs.iter().cloned()).events;
            let names = ["the model", "the reducer"];
            same(Law::Model, names, Place::Completion, "the events differ", &expected, &events)
        })
    }

    /// Law 25: the events, written as inputs, give these events again.
    pub fn round_trip(self, write: impl Fn(&[E]) -> Vec<In> + 'a) -> Self {
        self.with(Law::RoundTrip, true, move |reducer, inputs| {
            let expected = whole(reducer, inputs.iter().cloned()).events;
            let written = write(&expected);
            let events = whole(reducer, written.iter().cloned()).events;
            let names = ["the events", "the events of what was written"];
            same(Law::RoundTrip, names, Place::Completion, "the events differ", &expected, &events)
                .map_err(|violation| violation.shown("written", &written))
        })
    }

    /// Law 27: a [`walk`](super::walk) of the reducer with an emitter.
    pub fn walks<M, Out>(mut self, emitter: impl Fn() -> M + 'a) -> Self
    where
        M: Emitter<E, Out> + Resume<State: Clone + PartialEq + Debug>,
        Out: PartialEq + Debug,
    {
        let make = Rc::clone(&self.make);
        let run = Box::new(move |inputs: &[In], steps: &[_]| {
            walk::walk(|| (make(), emitter()), inputs, steps)?;
            Ok(().outcome(inputs.is_empty()))
        });
        self.suite.checks.push(Check { laws: Law::Walk.alone(), is_declared: true, run });
        self
    }

    /// Checks the laws.
    ///
    /// # Errors
    /// The first violated law, with the smallest inputs.
    pub fn verdict(&self) -> Result<Report, Violation> {
        self.suite.verdict()
    }

    /// Checks the laws, in a test.
    ///
    /// # Panics
    /// If a law is violated.
    #[track_caller]
    #[expect(clippy::panic, reason = "that is how a test fails")]
    pub fn check(&self) -> Report {
        self.verdict().unwrap_or_else(|violation| panic!("{violation}"))
    }
}

/// Whether the second is less than the first, or cannot be compared with it.
fn falls<T: PartialOrd>(before: &T, after: &T) -> bool {
    before.partial_cmp(after).is_none_or(Ordering::is_gt)
}

/// The result of a check that found no violation.
trait Holds {
    fn outcome(self, is_empty: bool) -> Outcome;
}

impl Holds for () {
    fn outcome(self, is_empty: bool) -> Outcome {
        if is_empty { Outcome::Vacuous("no input") } else { Outcome::Checked }
    }
}

impl Holds for Outcome {
    fn outcome(self, _: bool) -> Outcome {
        self
    }
}
