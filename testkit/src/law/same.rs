//! Compares two runs of one reducer, step by step.

use std::fmt;

use foldline::transduce::{Batch, Reducer};

use super::{Law, Place, Violation};

/// The names of the two runs in a [`Violation`].
pub(super) type Names = [&'static str; 2];

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

/// Requires that two values are equal.
pub(super) fn same<T: PartialEq + fmt::Debug + ?Sized>(
    law: Law,
    [one_name, two_name]: Names,
    place: Place,
    message: &str,
    one: &T,
    two: &T,
) -> Result<(), Violation> {
    if one == two {
        return Ok(());
    }
    Err(Violation::new(law, place, message).side(one_name, &one).side(two_name, &two))
}
