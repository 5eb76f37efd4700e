//! Law 2.

use std::fmt;

use foldline::transduce::Reducer;
use serde::Serialize;

use super::{Law, Place, Violation, same::in_step};
use crate::violation::caught;

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
    caught(Law::SplitInvariance, Place::Unknown, || check(reducer, restore, inputs, |_| true))
}

/// Law 2, **split invariance**, with stops only after the numbers of inputs in `stops`.
///
/// # Errors
/// As [`split_invariance`].
pub fn split_invariance_at<R, In, S, E>(
    reducer: &R,
    restore: impl Fn(&str) -> serde_json::Result<S>,
    inputs: &[In],
    stops: &[usize],
) -> Result<(), Violation>
where
    R: Reducer<In, S, E>,
    In: Clone,
    S: PartialEq + fmt::Debug + Serialize,
    E: PartialEq + fmt::Debug,
{
    caught(Law::SplitInvariance, Place::Unknown, || {
        check(reducer, restore, inputs, |inputs_read| stops.contains(&inputs_read))
    })
}

fn check<R, In, S, E>(
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
    let names = ["without a stop", "restored"];
    in_step(Law::SplitInvariance, names, reducer, inputs, |place, state| {
        let inputs_read = if let Place::Input(index) = place { index + 1 } else { 0 };
        if !stop_after(inputs_read) {
            return Ok(state);
        }
        store_and_restore(&restore, &state).map_err(|(message, stored)| {
            let violation = Violation::new(Law::SplitInvariance, place, message);
            violation.side("state", &state).side("stored", &stored)
        })
    })
}

fn store_and_restore<S>(
    restore: &impl Fn(&str) -> serde_json::Result<S>,
    state: &S,
) -> Result<S, (String, String)>
where
    S: PartialEq + fmt::Debug + Serialize,
{
    let stored = serde_json::to_string(state)
        .map_err(|error| (format!("the state cannot be stored: {error}"), String::new()))?;
    match restore(&stored) {
        Ok(restored) if restored == *state => Ok(restored),
        Ok(restored) => Err((format!("the restored state differs: {restored:?}"), stored)),
        Err(error) => Err((format!("the state cannot be restored: {error}"), stored)),
    }
}
