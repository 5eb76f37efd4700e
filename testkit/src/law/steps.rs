//! Laws 1 and 2: two runs of one reducer, compared step by step.

use std::fmt;

use foldline::transduce::{Batch, Reducer};
use serde::Serialize;

use super::{Law, Place, Violation};
use crate::violation::{Names, caught, same};

/// Runs `reducer` twice in parallel, and requires the same events and states.
///
/// Between two steps, `between` applies a change to the second run's state that should make no difference.
pub(super) fn in_step<R, In, S, E>(
    law: Law,
    names: Names,
    reducer: &R,
    inputs: &[In],
    mut between: impl FnMut(Place, S) -> Result<S, Violation>,
) -> Result<(), Violation>
where
    R: Reducer<In, S, E>,
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
    let mut two = (reducer.init(), Batch::EMPTY);
    check(place, &one, &two)?;
    for (index, input) in inputs.iter().enumerate() {
        let state = between(place, two.0)?;
        place = Place::Input(index);
        one = reducer.reduce(one.0, input.clone());
        two = reducer.reduce(state, input.clone());
        check(place, &one, &two)?;
    }
    let state = between(place, two.0)?;
    check(Place::Completion, &reducer.finish(one.0), &reducer.finish(state))
}

/// Law 1, **determinism**: the same inputs give the same events and the same state, step by step.
///
/// Typical violations: a clock, randomness, the iteration order of a `HashMap`, any external input.
///
/// ```
/// use foldline::transduce::{Batch, reduce_fn};
/// use foldline_testkit::law;
///
/// let sum = reduce_fn(|| 0, |sum: u32, n: u32| (sum + n, Batch::one(sum + n)));
/// law::determinism(&sum, &[1, 2, 3])?;
/// # Ok::<(), foldline_testkit::Violation>(())
/// ```
///
/// # Errors
/// The first step at which the two runs differ.
pub fn determinism<R, In, S, E>(reducer: &R, inputs: &[In]) -> Result<(), Violation>
where
    R: Reducer<In, S, E>,
    In: Clone,
    S: PartialEq + fmt::Debug,
    E: PartialEq + fmt::Debug,
{
    caught(Law::Determinism, Place::Unknown, || {
        in_step(Law::Determinism, ["first run", "second run"], reducer, inputs, |_, state| {
            Ok(state)
        })
    })
}

/// Law 2, **split invariance**: if a run is stopped after any step, and its state is stored with serde, restored and
/// continued, the events and states equal those of an uninterrupted run.
///
/// `restore` reads a stored state. Here the run is stopped after every step. See [`split_invariance_at`] for single stops.
///
/// ```
/// use foldline::transduce::{Batch, reduce_fn};
/// use foldline_testkit::law;
///
/// let sum = reduce_fn(|| 0, |sum: u32, n: u32| (sum + n, Batch::one(sum + n)));
/// law::split_invariance(&sum, |json| serde_json::from_str(json), &[1, 2, 3])?;
/// # Ok::<(), foldline_testkit::Violation>(())
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
    R: Reducer<In, S, E>,
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
    R: Reducer<In, S, E>,
    In: Clone,
    S: PartialEq + fmt::Debug + Serialize,
    E: PartialEq + fmt::Debug,
{
    caught(Law::SplitInvariance, Place::Unknown, || {
        let names = ["without a stop", "restored"];
        in_step(Law::SplitInvariance, names, reducer, inputs, |place, state| {
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
                Ok(restored) => fail(format!("the restored state differs: {restored:?}"), stored),
                Err(error) => fail(format!("the state cannot be restored: {error}"), stored),
            }
        })
    })
}
