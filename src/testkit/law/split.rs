//! Law 2.

use std::fmt;

use serde::{Serialize, de::DeserializeOwned};

use super::{Law, Place, Violation, same::in_step};
use crate::transduce::Reducer;

/// Law 2, **split invariance**: stop after any step, store the state with serde, restore it, go on,
/// and the events and states are those of a run without a stop.
///
/// Here the run is stopped after every step. See [`split_invariance_at`] for single stops.
///
/// # Errors
/// The first step at which the two runs differ, or a state that cannot be stored and restored.
pub fn split_invariance<R, In, S, E>(reducer: &R, inputs: &[In]) -> Result<(), Violation>
where
    R: Reducer<In, S, E>,
    In: Clone,
    S: PartialEq + fmt::Debug + Serialize + DeserializeOwned,
    E: PartialEq + fmt::Debug,
{
    check(reducer, inputs, |_| true)
}

/// Law 2, **split invariance**, the run being stopped only after as many inputs as `stops` say.
///
/// # Errors
/// As [`split_invariance`].
pub fn split_invariance_at<R, In, S, E>(
    reducer: &R,
    inputs: &[In],
    stops: &[usize],
) -> Result<(), Violation>
where
    R: Reducer<In, S, E>,
    In: Clone,
    S: PartialEq + fmt::Debug + Serialize + DeserializeOwned,
    E: PartialEq + fmt::Debug,
{
    check(reducer, inputs, |inputs_read| stops.contains(&inputs_read))
}

fn check<R, In, S, E>(
    reducer: &R,
    inputs: &[In],
    stop_after: impl Fn(usize) -> bool,
) -> Result<(), Violation>
where
    R: Reducer<In, S, E>,
    In: Clone,
    S: PartialEq + fmt::Debug + Serialize + DeserializeOwned,
    E: PartialEq + fmt::Debug,
{
    let names = ["without a stop", "restored"];
    in_step(Law::SplitInvariance, names, reducer, inputs, |place, state| {
        let inputs_read = if let Place::Input(index) = place { index + 1 } else { 0 };
        if !stop_after(inputs_read) {
            return Ok(state);
        }
        store_and_restore(&state).map_err(|(message, stored)| {
            let violation = Violation::new(Law::SplitInvariance, place, message);
            violation.side("state", &state).side("stored", &stored)
        })
    })
}

fn store_and_restore<S>(state: &S) -> Result<S, (String, String)>
where
    S: PartialEq + fmt::Debug + Serialize + DeserializeOwned,
{
    let stored = serde_json::to_string(state)
        .map_err(|error| (format!("the state cannot be stored: {error}"), String::new()))?;
    match serde_json::from_str::<S>(&stored) {
        Ok(restored) if restored == *state => Ok(restored),
        Ok(restored) => Err((format!("the state is restored as another: {restored:?}"), stored)),
        Err(error) => Err((format!("the state cannot be restored: {error}"), stored)),
    }
}
