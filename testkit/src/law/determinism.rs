//! Law 1.

use std::fmt;

use foldline::transduce::Reducer;

use super::{Law, Place, Violation, same::in_step};
use crate::violation::caught;

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
