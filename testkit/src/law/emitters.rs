//! The laws for a custom emitter.

use std::fmt::Debug;

use foldline::transduce::{Batch, Emitter, Gather, Resume, emit_fn};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Law, Outcome, Place, Report, Violation, independence,
    same::same,
    sinks::{compare, outputs},
};
use crate::violation::caught;

/// The number of stops in a long list of events.
const STOPS: usize = 16;

/// The requirement on [`Gather::size`] after a cut.
const SIZE: &str = "after a cut nothing is gathered, and `size` is 0";

/// The laws for every emitter, regardless of its output:
///
/// - 1: two emitters give the same output for the same events;
/// - 6: no events cause a panic;
/// - 8: its output is the same alone and in any fan-out: in a tuple with itself or with another emitter, in a `Vec`,
///   in an `Option`.
///
/// `make` creates an emitter. Emitters with a memory also satisfy [`resume`], emitters that gather satisfy
/// [`gather`], and patch emitters satisfy [`commuting_diagram`](super::commuting_diagram) and
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
/// An emitter that also [gathers](Gather) is checked by [`gather_and_resume`]: gathered output is not part of the
/// memory.
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
        let expected = emit_all(&mut whole, events);
        let remembered = stored(&whole, Place::Completion)?;
        for stop in (0..=events.len()).step_by(events.len().div_ceil(STOPS).max(1)) {
            let mut first = make();
            let mut given: Vec<_> = events[..stop].iter().map(|event| first.emit(event)).collect();
            let mut second = make();
            restore(&mut second, &stored(&first, Place::Event(stop))?, Place::Event(stop))?;
            given.extend(emit_all(&mut second, &events[stop..]));
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

/// The law of [`Gather`]: the concatenation of the segments does not depend on the cuts, and after a cut nothing is
/// gathered. `join` concatenates segments.
///
/// ```
/// use foldline::transduce::{Batch, Emitter, Gather};
/// use foldline_testkit::law;
///
/// #[derive(Default)]
/// struct Lines(String);
///
/// impl Emitter<u64, ()> for Lines {
///     fn emit(&mut self, n: &u64) -> Batch<()> {
///         self.0 += &format!("{n}\n");
///         Batch::EMPTY
///     }
/// }
///
/// impl Gather for Lines {
///     type Segment = String;
///
///     fn cut(&mut self) -> String {
///         std::mem::take(&mut self.0)
///     }
///
///     fn size(&self) -> usize {
///         self.0.len()
///     }
/// }
///
/// law::gather(Lines::default, &[1, 2, 3], |segments| segments.concat())?;
/// # Ok::<(), foldline_testkit::Violation>(())
/// ```
///
/// # Errors
/// The cuts after which the concatenated segments differ.
pub fn gather<Event, M, Out, T>(
    make: impl Fn() -> M,
    events: &[Event],
    join: impl Fn(Vec<M::Segment>) -> T,
) -> Result<(), Violation>
where
    M: Emitter<Event, Out> + Gather,
    T: PartialEq + Debug,
{
    in_stretches(&make, events, join, Ok)
}

/// The law of an emitter that a ledger commits: the concatenation of the segments does not depend on the cuts, even
/// if the emitter is replaced at each cut by one that is resumed from its memory.
///
/// # Errors
/// The cuts after which the concatenated segments differ, or a memory that cannot be stored.
pub fn gather_and_resume<Event, M, Out, T>(
    make: impl Fn() -> M,
    events: &[Event],
    join: impl Fn(Vec<M::Segment>) -> T,
) -> Result<(), Violation>
where
    M: Emitter<Event, Out> + Gather + Resume<State: Serialize + DeserializeOwned>,
    T: PartialEq + Debug,
{
    in_stretches(&make, events, join, |emitter| {
        let mut next = make();
        restore(&mut next, &stored(&emitter, Place::Unknown)?, Place::Unknown)?;
        Ok(next)
    })
}

fn in_stretches<Event, M, Out, T>(
    make: &impl Fn() -> M,
    events: &[Event],
    join: impl Fn(Vec<M::Segment>) -> T,
    replace: impl Fn(M) -> Result<M, Violation>,
) -> Result<(), Violation>
where
    M: Emitter<Event, Out> + Gather,
    T: PartialEq + Debug,
{
    let law = Law::ChunkInvariance;
    caught(law, Place::Unknown, || {
        let total = |length: usize| {
            let mut emitter = make();
            let mut segments = Vec::new();
            for segment in events.chunks(length) {
                segment.iter().for_each(|event| drop(emitter.emit(event)));
                segments.push(emitter.cut());
                same(law, ["expected", "after a cut"], Place::Unknown, SIZE, &0, &emitter.size())?;
                emitter = replace(emitter)?;
            }
            drop(emitter.finish());
            segments.push(emitter.cut());
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

/// The outputs of an emitter for each event, and at completion.
fn emit_all<Event, M, Out>(emitter: &mut M, events: &[Event]) -> Vec<Batch<Out>>
where
    M: Emitter<Event, Out>,
{
    let mut outputs: Vec<_> = events.iter().map(|event| emitter.emit(event)).collect();
    outputs.push(emitter.finish());
    outputs
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
