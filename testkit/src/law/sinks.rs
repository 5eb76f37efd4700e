//! Law 8.

use std::fmt;

use foldline::transduce::{Batch, Emitter};

use super::{
    Law, Place, Violation,
    same::{Names, same},
};
use crate::violation::caught;

/// Law 8, **independence of sinks**: an emitter's output is the same alone as in a fan-out with another emitter,
/// before or after it, at every event and at completion.
///
/// Typical violations: emitters that share a file, a counter, a global.
///
/// `one` and `other` create emitters.
///
/// ```
/// use foldline::transduce::{Batch, emit_fn};
/// use foldline_testkit::law;
///
/// let double = || emit_fn(|n: &u32| Batch::one(n * 2));
/// let spell = || emit_fn(|n: &u32| Batch::one(n.to_string()));
/// law::independence(double, spell, &[1, 2, 3])?;
/// # Ok::<(), foldline_testkit::Violation>(())
/// ```
///
/// # Errors
/// The first event at which an output differs.
pub fn independence<Event, A, OutA, B, OutB>(
    one: impl Fn() -> A,
    other: impl Fn() -> B,
    events: &[Event],
) -> Result<(), Violation>
where
    A: Emitter<Event, OutA>,
    B: Emitter<Event, OutB>,
    OutA: PartialEq + fmt::Debug,
    OutB: PartialEq + fmt::Debug,
{
    caught(Law::Independence, Place::Unknown, || {
        let (one_alone, other_alone) = (outputs(one(), events), outputs(other(), events));
        let (first, second) = apart(outputs((one(), other()), events));
        let law = Law::Independence;
        compare(law, ["alone", "beside the other"], "the output of one", &one_alone, &first)?;
        compare(
            law,
            ["alone", "behind the first"],
            "the output of the other",
            &other_alone,
            &second,
        )?;
        let (second, first) = apart(outputs((other(), one()), events));
        compare(law, ["alone", "behind the other"], "the output of one", &one_alone, &first)?;
        compare(
            law,
            ["alone", "beside the first"],
            "the output of the other",
            &other_alone,
            &second,
        )
    })
}

/// The outputs of an emitter for each event, and at completion.
pub(super) fn outputs<Event, M, Out>(mut emitter: M, events: &[Event]) -> Vec<Batch<Out>>
where
    M: Emitter<Event, Out>,
{
    let mut outputs: Vec<_> = events.iter().map(|event| emitter.emit(event)).collect();
    outputs.push(emitter.finish());
    outputs
}

/// Splits the outputs of a fan-out of two emitters.
fn apart<A, B>(pairs: Vec<Batch<(Batch<A>, Batch<B>)>>) -> (Vec<Batch<A>>, Vec<Batch<B>>) {
    let each = pairs.into_iter().map(|pairs| {
        let (mut one, mut other) = (Batch::EMPTY, Batch::EMPTY);
        for (more_of_one, more_of_other) in pairs {
            one.append(more_of_one);
            other.append(more_of_other);
        }
        (one, other)
    });
    each.unzip()
}

/// Requires that two emitters gave the same output at every event and at completion.
pub(super) fn compare<Out: PartialEq + fmt::Debug>(
    law: Law,
    names: Names,
    what: &str,
    one: &[Batch<Out>],
    other: &[Batch<Out>],
) -> Result<(), Violation> {
    let last = one.len().saturating_sub(1);
    for (index, (one, other)) in one.iter().zip(other).enumerate() {
        let place = if index == last { Place::Completion } else { Place::Event(index) };
        same(law, names, place, &format!("{what} differs"), one, other)?;
    }
    Ok(())
}
