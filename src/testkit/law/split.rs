//! Law 2.

use std::fmt;

use serde::{Serialize, de::DeserializeOwned};

use super::{Law, Place, Violation, same::in_step};
use crate::{
    executors::{AnyState, DynExecutor},
    transduce::Reducer,
};

/// Deserialises a stored state: implemented by every reducer whose state serde can read, and by [`DynExecutor`],
/// which alone knows the type of its state.
pub trait Restore<S> {
    /// Reads a state from JSON.
    ///
    /// # Errors
    /// The text is not a state of this reducer.
    fn restore(&self, json: &str) -> serde_json::Result<S>;
}

impl<R, S: DeserializeOwned> Restore<S> for R {
    fn restore(&self, json: &str) -> serde_json::Result<S> {
        serde_json::from_str(json)
    }
}

impl Restore<AnyState> for DynExecutor {
    fn restore(&self, json: &str) -> serde_json::Result<AnyState> {
        Self::restore(self, json)
    }
}

/// Law 2, **split invariance**: if a run is stopped after any step, and its state is stored with serde, restored and
/// continued, the events and states equal those of an uninterrupted run.
///
/// Here the run is stopped after every step. See [`split_invariance_at`] for single stops.
///
/// # Errors
/// The first step at which the two runs differ, or a state that cannot be stored and restored.
pub fn split_invariance<R, In, S, E>(reducer: &R, inputs: &[In]) -> Result<(), Violation>
where
    R: Reducer<In, S, E> + Restore<S>,
    In: Clone,
    S: PartialEq + fmt::Debug + Serialize,
    E: PartialEq + fmt::Debug,
{
    check(reducer, inputs, |_| true)
}

/// Law 2, **split invariance**, with stops only after the numbers of inputs in `stops`.
///
/// # Errors
/// As [`split_invariance`].
pub fn split_invariance_at<R, In, S, E>(
    reducer: &R,
    inputs: &[In],
    stops: &[usize],
) -> Result<(), Violation>
where
    R: Reducer<In, S, E> + Restore<S>,
    In: Clone,
    S: PartialEq + fmt::Debug + Serialize,
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
    R: Reducer<In, S, E> + Restore<S>,
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
        store_and_restore(reducer, &state).map_err(|(message, stored)| {
            let violation = Violation::new(Law::SplitInvariance, place, message);
            violation.side("state", &state).side("stored", &stored)
        })
    })
}

fn store_and_restore<R, S>(reducer: &R, state: &S) -> Result<S, (String, String)>
where
    R: Restore<S>,
    S: PartialEq + fmt::Debug + Serialize,
{
    let stored = serde_json::to_string(state)
        .map_err(|error| (format!("the state cannot be stored: {error}"), String::new()))?;
    match reducer.restore(&stored) {
        Ok(restored) if restored == *state => Ok(restored),
        Ok(restored) => Err((format!("the restored state differs: {restored:?}"), stored)),
        Err(error) => Err((format!("the state cannot be restored: {error}"), stored)),
    }
}
