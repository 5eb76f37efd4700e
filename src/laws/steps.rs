//! The laws of any reducer: two runs, compared step by step, and the size of the state.

use std::fmt;

use serde::Serialize;

use super::{Law, Names, Place, Violation, caught, same};
use crate::transduce::{Batch, Reducer};

/// Runs `reducer`, and in parallel those that `other` returns for each step, and requires the same events and states.
///
/// Between two steps, `between` applies a change to the second run's state that should make no difference.
pub(super) fn in_step<R, Other, In, S, E>(
    law: Law,
    names: Names,
    reducer: &R,
    other: impl Fn() -> Other,
    inputs: &[In],
    mut between: impl FnMut(Place, S) -> Result<S, Violation>,
) -> Result<(), Violation>
where
    R: Reducer<In, S, E> + ?Sized,
    Other: Reducer<In, S, E>,
    In: Clone,
    S: PartialEq + fmt::Debug,
    E: PartialEq + fmt::Debug,
{
    let check = |place, (one, one_events): &(S, Batch<E>), (two, two_events): &(S, Batch<E>)| {
        same(law, names, place, "the events differ", one_events, two_events)?;
        same(law, names, place, "the states differ", one, two)?;
        let done = [one, two].map(|state| reducer.is_done(state));
        same(law, names, place, "only one of the two is done", &done[0], &done[1])
    };
    let mut place = Place::Start;
    let mut one = (reducer.init(), Batch::EMPTY);
    let mut two = (other().init(), Batch::EMPTY);
    check(place, &one, &two)?;
    for (index, input) in inputs.iter().enumerate() {
        let state = between(place, two.0)?;
        place = Place::Input(index);
        one = reducer.reduce(one.0, input.clone());
        two = other().reduce(state, input.clone());
        check(place, &one, &two)?;
    }
    let state = between(place, two.0)?;
    check(Place::Completion, &reducer.finish(one.0), &other().finish(state))
}

/// Law 1, **determinism**: the same inputs give the same events and the same state, step by step.
///
/// Typical violations: a clock, randomness, the iteration order of a `HashMap`, any external input.
///
/// ```
/// use foldline::transduce::{Batch, reduce_fn};
/// use foldline::laws;
///
/// let sum = reduce_fn(|| 0, |sum: u32, n: u32| (sum + n, Batch::one(sum + n)));
/// laws::determinism(&sum, &[1, 2, 3])?;
/// # Ok::<(), foldline::laws::Violation>(())
/// ```
///
/// # Errors
/// The first step at which the two runs differ.
pub fn determinism<R, In, S, E>(reducer: &R, inputs: &[In]) -> Result<(), Violation>
where
    R: Reducer<In, S, E> + ?Sized,
    In: Clone,
    S: PartialEq + fmt::Debug,
    E: PartialEq + fmt::Debug,
{
    caught(Law::Determinism, Place::Unknown, || {
        let names = ["first run", "second run"];
        in_step(Law::Determinism, names, reducer, || reducer, inputs, |_, state| Ok(state))
    })
}

/// Law 2, **split invariance**: if a run is stopped after any step, and its state is stored with serde, restored and
/// continued, the events and states equal those of an uninterrupted run.
///
/// `restore` reads a stored state. Here the run is stopped after every step. See [`split_invariance_at`] for single stops.
///
/// ```
/// use foldline::transduce::{Batch, reduce_fn};
/// use foldline::laws;
///
/// let sum = reduce_fn(|| 0, |sum: u32, n: u32| (sum + n, Batch::one(sum + n)));
/// laws::split_invariance(&sum, |json| serde_json::from_str(json), &[1, 2, 3])?;
/// # Ok::<(), foldline::laws::Violation>(())
/// ```
///
/// # Errors
/// The first step at which the two runs differ, or a state that cannot be stored and restored.
pub fn split_invariance<R, In, S, E>(
    reducer: &R,
    restore: impl Fn(&str) -> serde_json::Result<S>,
    inputs: &[In],
) -> Result<(), Violation>
where
    R: Reducer<In, S, E> + ?Sized,
    In: Clone,
    S: PartialEq + fmt::Debug + Serialize,
    E: PartialEq + fmt::Debug,
{
    split_invariance_at(reducer, restore, inputs, |_| true)
}

/// Law 2, **split invariance**, with stops only after the numbers of inputs that `stop_after` selects.
///
/// # Errors
/// As [`split_invariance`].
pub fn split_invariance_at<R, In, S, E>(
    reducer: &R,
    restore: impl Fn(&str) -> serde_json::Result<S>,
    inputs: &[In],
    stop_after: impl Fn(usize) -> bool,
) -> Result<(), Violation>
where
    R: Reducer<In, S, E> + ?Sized,
    In: Clone,
    S: PartialEq + fmt::Debug + Serialize,
    E: PartialEq + fmt::Debug,
{
    caught(Law::SplitInvariance, Place::Unknown, || {
        let names = ["without a stop", "restored"];
        in_step(
            Law::SplitInvariance,
            names,
            reducer,
            || reducer,
            inputs,
            |place, state| {
                let inputs_read = if let Place::Input(index) = place { index + 1 } else { 0 };
                if !stop_after(inputs_read) {
                    return Ok(state);
                }
                let fail = |message: String, stored: String| {
                    let violation = Violation::new(Law::SplitInvariance, place, message);
                    Err(violation.side("state", &state).side("stored", &stored))
                };
                let stored = match serde_json::to_string(&state) {
                    Ok(stored) => stored,
                    Err(error) => {
                        return fail(format!("the state cannot be stored: {error}"), String::new());
                    }
                };
                match restore(&stored) {
                    Ok(restored) if restored == state => Ok(restored),
                    Ok(restored) => {
                        fail(format!("the restored state differs: {restored:?}"), stored)
                    }
                    Err(error) => fail(format!("the state cannot be restored: {error}"), stored),
                }
            },
        )
    })
}

/// Law 6, **totality**: no input causes a panic.
///
/// # Errors
/// The input.
pub fn no_panic<R, In, S, E>(reducer: &R, inputs: &[In]) -> Result<(), Violation>
where
    R: Reducer<In, S, E> + ?Sized,
    In: Clone,
{
    let law = Law::Totality;
    let mut state = caught(law, Place::Start, || Ok(reducer.init()))?;
    for (index, input) in inputs.iter().enumerate() {
        let step = || Ok(reducer.reduce(state, input.clone()).0);
        state = caught(law, Place::Input(index), step)?;
    }
    caught(law, Place::Completion, || Ok(reducer.finish(state))).map(drop)
}

/// Law 17, **prefix**: what was said of the inputs so far remains true. Finishing a copy of the state changes nothing for
/// the rest of the run, and a reducer that [is done](Reducer::is_done) gives no more events.
///
/// Typical violations: a state whose copies share something, such as an `Rc`; a reducer that is done too early.
///
/// # Errors
/// The first step at which something changes.
pub fn prefix<R, In, S, E>(reducer: &R, inputs: &[In]) -> Result<(), Violation>
where
    R: Reducer<In, S, E> + ?Sized,
    In: Clone,
    S: Clone + PartialEq + fmt::Debug,
    E: PartialEq + fmt::Debug,
{
    let law = Law::Prefix;
    caught(law, Place::Unknown, || {
        let names = ["without a copy", "after a copy was finished"];
        in_step(
            law,
            names,
            reducer,
            || reducer,
            inputs,
            |_, state| {
                let _ = reducer.finish(state.clone());
                Ok(state)
            },
        )?;
        let mut state = reducer.init();
        for (index, input) in inputs.iter().enumerate() {
            let (next, events) = reducer.reduce(state.clone(), input.clone());
            if reducer.is_done(&state) {
                let (names, place) = (["done", "after one more input"], Place::Input(index));
                same(law, names, place, "an input has an effect", &Batch::EMPTY, &events)?;
                let [before, after] = [state, next.clone()].map(|state| reducer.finish(state).1);
                same(law, names, place, "the last events differ", &before, &after)?;
            }
            state = next;
        }
        Ok(())
    })
}

/// Law 15, **bounded state**: the same inputs, repeated again and again, do not let the state grow; see [`growth`]. `renewed`
/// returns the input of a repetition, such as one with another id.
///
/// # Errors
/// The sizes of the state.
pub fn bounded_state<R, In, S, E>(
    reducer: &R,
    inputs: &[In],
    renewed: impl Fn(&In, u64) -> In,
    size: impl Fn(&S) -> usize,
) -> Result<(), Violation>
where
    R: Reducer<In, S, E> + ?Sized,
    S: fmt::Debug,
{
    caught(Law::BoundedState, Place::Unknown, || {
        let step = |state, input| reducer.reduce(state, input).0;
        let repeat = |state, n| inputs.iter().map(|input| renewed(input, n)).fold(state, step);
        growth(reducer.init(), repeat, size).map(drop)
    })
}

/// The number of repetitions after which a state that remembers nothing has its size.
const EARLY: u64 = 40;

/// The number of repetitions after which a state may still have grown, since a bounded number of ids is remembered.
const SETTLED: u64 = 1100;

/// Measures the growth of a state: `repeat` continues it with the n-th repetition of something, `size` is its size in
/// bytes.
///
/// The slope between so many repetitions and twice as many is at most half a byte a repetition, and a tenth of the size,
/// since numbers get longer. A reducer may remember a bounded number of inputs, about a thousand: a state that grows is
/// measured again later.
///
/// # Errors
/// The sizes.
pub fn growth<S: fmt::Debug>(
    mut state: S,
    mut repeat: impl FnMut(S, u64) -> S,
    size: impl Fn(&S) -> usize,
) -> Result<S, Violation> {
    let mut repetitions = 0;
    for half in [EARLY, SETTLED] {
        let mut sizes = [0; 2];
        for (size_then, until) in sizes.iter_mut().zip([half, 2 * half]) {
            while repetitions < until {
                repetitions += 1;
                state = repeat(state, repetitions);
            }
            *size_then = size(&state);
        }
        let [before, after] = sizes;
        if after <= before + before / 10 + half as usize / 2 {
            return Ok(state);
        }
        if half == SETTLED {
            let message = format!(
                "the state has {before} bytes after {half} repetitions of the inputs, and {after} after {}",
                2 * half
            );
            let violation = Violation::new(Law::BoundedState, Place::Completion, message);
            let state: String = format!("{state:?}").chars().take(400).collect();
            return Err(violation.shown("the state begins", &format_args!("{state}")));
        }
    }
    Ok(state)
}
