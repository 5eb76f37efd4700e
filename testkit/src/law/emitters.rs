//! The laws of any emitter: law 8, memory and segments.

use std::fmt::{self, Debug};

use foldline::{
    processor::Collect,
    transduce::{Batch, Emitter, Resume, emit_fn},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Law, Outcome, Place, Report, Violation};
use crate::violation::{Names, caught, same};

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
fn outputs<Event, M, Out>(mut emitter: M, events: &[Event]) -> Vec<Batch<Out>>
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
fn compare<Out: PartialEq + fmt::Debug>(
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

/// The number of stops in a long list of events.
const STOPS: usize = 16;

/// The laws for every emitter, regardless of its output:
///
/// - 1: two emitters give the same output for the same events;
/// - 6: no events cause a panic;
/// - 8: its output is the same alone and in any fan-out: in a tuple with itself or with another emitter, in a `Vec`,
///   in an `Option`.
///
/// `make` creates an emitter. Emitters with a memory also satisfy [`resume`], emitters whose output a ledger commits
/// satisfy [`segments`], and patch emitters satisfy [`commuting_diagram`](super::commuting_diagram) and
/// [`dense_indices`](super::dense_indices).
///
/// ```
/// use foldline::transduce::{Batch, Emitter};
/// use foldline_domain::DomainEvent;
/// use foldline_testkit::{Violation, generate, law};
/// use proptest::test_runner::TestRunner;
///
/// /// Numbers the tool calls.
/// #[derive(Default)]
/// struct Calls(u32);
///
/// impl Emitter<DomainEvent, u32> for Calls {
///     fn emit(&mut self, event: &DomainEvent) -> Batch<u32> {
///         if !matches!(event, DomainEvent::NewToolCall { .. }) {
///             return Batch::EMPTY;
///         }
///         self.0 += 1;
///         Batch::one(self.0)
///     }
/// }
///
/// TestRunner::default().run(&generate::events(), |events| {
///     law::emitter(Calls::default, &events)?;
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first violated law.
pub fn emitter<Event, M, Out>(make: impl Fn() -> M, events: &[Event]) -> Result<Report, Violation>
where
    M: Emitter<Event, Out>,
    Out: PartialEq + Debug,
{
    let mut report = Report::default();
    let outcome = if events.is_empty() { Outcome::Vacuous("no event") } else { Outcome::Checked };
    let mut alone = Vec::new();
    report.check(Law::Totality, || {
        alone = outputs(make(), events);
        Ok(outcome)
    })?;
    report.check(Law::Determinism, || {
        let again = outputs(make(), events);
        compare(Law::Determinism, ["first run", "second run"], "the output", &alone, &again)?;
        Ok(outcome)
    })?;
    report.check(Law::Independence, || {
        independence(&make, || emit_fn(|_: &Event| Batch::one(())), events)?;
        independence(&make, &make, events)?;
        let optional = outputs(Some(make()), events);
        compare(Law::Independence, ["alone", "in an `Option`"], "the output", &alone, &optional)?;
        let list = outputs(vec![make(), make()], events);
        let other = outputs(make(), events);
        let twice: Vec<Batch<Out>> = std::mem::take(&mut alone)
            .into_iter()
            .zip(other)
            .map(|(one, two)| one.into_iter().chain(two).collect())
            .collect();
        compare(Law::Independence, ["twice alone", "two in a `Vec`"], "the output", &twice, &list)?;
        Ok(outcome)
    })?;
    Ok(report)
}

/// The law of [`Resume`]: an emitter resumed from the memory of another one, stored with serde, emits the same
/// output, and has the same memory at the end. The run is stopped after every event (at some 16 positions, evenly
/// spread, if there are many events).
///
/// ```
/// use foldline::transduce::{Batch, Emitter, Resume};
/// use foldline_testkit::law;
///
/// /// The sum so far.
/// #[derive(Default)]
/// struct Sum(u64);
///
/// impl Emitter<u64, u64> for Sum {
///     fn emit(&mut self, n: &u64) -> Batch<u64> {
///         self.0 += n;
///         Batch::one(self.0)
///     }
/// }
///
/// impl Resume for Sum {
///     type State = u64;
///
///     fn state(&self) -> u64 {
///         self.0
///     }
///
///     fn resume(&mut self, state: u64) {
///         self.0 = state;
///     }
/// }
///
/// law::resume(Sum::default, &[1, 2, 3])?;
/// # Ok::<(), foldline_testkit::Violation>(())
/// ```
///
/// # Errors
/// The first output that differs, or a memory that cannot be stored.
pub fn resume<Event, M, Out>(make: impl Fn() -> M, events: &[Event]) -> Result<(), Violation>
where
    M: Emitter<Event, Out> + Resume<State: Serialize + DeserializeOwned>,
    Out: PartialEq + Debug,
{
    let law = Law::SplitInvariance;
    caught(law, Place::Unknown, || {
        let mut whole = make();
        let expected = outputs(&mut whole, events);
        let remembered = stored(&whole, Place::Completion)?;
        for stop in (0..=events.len()).step_by(events.len().div_ceil(STOPS).max(1)) {
            let mut first = make();
            let mut given: Vec<_> = events[..stop].iter().map(|event| first.emit(event)).collect();
            let mut second = make();
            restore(&mut second, &stored(&first, Place::Event(stop))?, Place::Event(stop))?;
            given.extend(outputs(&mut second, &events[stop..]));
            let what = format!("stopped before event {stop}, the output");
            compare(law, ["without a stop", "resumed"], &what, &expected, &given)?;
            let message = format!("stopped before event {stop}, its memory differs");
            let names = ["without a stop", "resumed"];
            let again = stored(&second, Place::Completion)?;
            same(law, names, Place::Completion, &message, &remembered, &again)?;
        }
        Ok(())
    })
}

/// The law of what a ledger commits: the concatenation of the segments does not depend on the cuts, although the
/// emitter is replaced at each cut by one that is resumed from its memory, and the [`Collect`] by an empty one. `join`
/// concatenates segments.
///
/// ```
/// use foldline::transduce::{Batch, memoryless};
/// use foldline_testkit::law;
///
/// let lines = || memoryless(|n: &u64| Batch::one(format!("{n}\n").into_bytes()));
/// law::segments(lines, &[1, 2, 3], |segments: Vec<Vec<u8>>| segments.concat())?;
/// # Ok::<(), foldline_testkit::Violation>(())
/// ```
///
/// # Errors
/// The cuts after which the concatenated segments differ, a memory that cannot be stored, or an empty segment with a
/// size.
pub fn segments<Event, M, C, T>(
    make: impl Fn() -> M,
    events: &[Event],
    join: impl Fn(Vec<C>) -> T,
) -> Result<(), Violation>
where
    M: Emitter<Event, C::Item> + Resume<State: Serialize + DeserializeOwned>,
    C: Collect,
    T: PartialEq + Debug,
{
    let law = Law::ChunkInvariance;
    caught(law, Place::Unknown, || {
        let names = ["expected", "an empty segment"];
        same(law, names, Place::Unknown, "its size", &0, &C::default().size())?;
        let total = |length: usize| {
            let (mut emitter, mut segments) = (make(), Vec::new());
            for events in events.chunks(length) {
                let mut segment = C::default();
                for event in events {
                    emitter.emit(event).drain_with(|output| segment.add(output));
                }
                segments.push(segment);
                let memory = stored(&emitter, Place::Unknown)?;
                emitter = make();
                restore(&mut emitter, &memory, Place::Unknown)?;
            }
            let mut last = C::default();
            emitter.finish().drain_with(|output| last.add(output));
            segments.push(last);
            Ok::<_, Violation>(join(segments))
        };
        let whole = total(events.len().max(1))?;
        for length in [1, 2, 3, 7] {
            let message = format!("cut after every {length} events, the result differs");
            let names = ["in one segment", "in several"];
            same(law, names, Place::Completion, &message, &whole, &total(length)?)?;
        }
        Ok(())
    })
}

/// The memory of an emitter, stored.
fn stored<M: Resume<State: Serialize>>(emitter: &M, place: Place) -> Result<Value, Violation> {
    serde_json::to_value(emitter.state()).map_err(|error| {
        let message = format!("the memory cannot be stored: {error}");
        Violation::new(Law::SplitInvariance, place, message)
    })
}

fn restore<M: Resume<State: DeserializeOwned>>(
    emitter: &mut M,
    stored: &Value,
    place: Place,
) -> Result<(), Violation> {
    // Through text, as in a file or a database.
    let state = serde_json::from_str(&stored.to_string()).map_err(|error| {
        let message = format!("the memory cannot be restored: {error}");
        Violation::new(Law::SplitInvariance, place, message).text("stored", stored.to_string())
    })?;
    emitter.resume(state);
    Ok(())
}
