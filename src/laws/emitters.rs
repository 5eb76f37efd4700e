//! The laws of any emitter: law 8, memory and segments.

use std::fmt::{self, Debug, Display};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Law, Names, Outcome, Place, Report, Violation, caught, same};
#[cfg(feature = "log")]
use crate::processor::Collect;
use crate::transduce::{Batch, Emitter, Fault, Resume, Transducer, emit_fn, guard, reduce_fn};

/// Law 8, **independence of sinks**: an emitter's output is the same alone as in a fan-out with another emitter,
/// before or after it, at every event and at completion.
///
/// Typical violations: emitters that share a file, a counter, a global.
///
/// `one` and `other` create emitters.
///
/// ```
/// use foldline::transduce::{Batch, emit_fn};
/// use foldline::laws;
///
/// let double = || emit_fn(|n: &u32| Batch::one(n * 2));
/// let spell = || emit_fn(|n: &u32| Batch::one(n.to_string()));
/// laws::independence(double, spell, &[1, 2, 3])?;
/// # Ok::<(), foldline::laws::Violation>(())
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
/// - 3: the output does not depend on how many events a step of the reducer gives at once;
/// - 6: no events cause a panic;
/// - 8: its output is the same alone and in any fan-out: in a tuple with itself or with another emitter, which errs or
///   panics, in a `Vec`, in an `Option`.
///
/// `make` creates an emitter. Emitters with a memory also satisfy [`resume`], emitters whose output a ledger commits
/// satisfy `segments`, and emitters of patches satisfy [`applied`](super::applied). [`EmitterLaws`](super::EmitterLaws)
/// checks all of them on random events.
///
/// ```
/// use foldline::{laws, transduce::{Batch, emit_fn}};
///
/// let numbered = || {
///     let mut number = 0;
///     emit_fn(move |line: &&str| {
///         number += 1;
///         Batch::one(format!("{number} {line}"))
///     })
/// };
/// laws::emitter(numbered, &["a", "b"])?;
/// # Ok::<(), laws::Violation>(())
/// ```
///
/// # Errors
/// The first violated law.
pub fn emitter<Event, M, Out>(make: impl Fn() -> M, events: &[Event]) -> Result<Report, Violation>
where
    Event: Clone,
    M: Emitter<Event, Out>,
    Out: PartialEq + Debug,
{
    let mut report = Report::default();
    for (law, check) in every() {
        report.check(law, || {
            check(&make, events)?;
            Ok(if events.is_empty() { Outcome::Vacuous("no event") } else { Outcome::Checked })
        })?;
    }
    Ok(report)
}

/// A law of the emitters that a function makes, for these events.
pub(super) type LawOf<Event, M> = fn(&dyn Fn() -> M, &[Event]) -> Result<(), Violation>;

/// The laws of every emitter.
pub(super) fn every<Event, M, Out>() -> [(Law, LawOf<Event, M>); 4]
where
    Event: Clone,
    M: Emitter<Event, Out>,
    Out: PartialEq + Debug,
{
    [
        (Law::Totality, |make, events| {
            drop(outputs(make(), events));
            Ok(())
        }),
        (Law::Determinism, |make, events| {
            let [one, two] = [outputs(make(), events), outputs(make(), events)];
            compare(Law::Determinism, ["first run", "second run"], "the output", &one, &two)
        }),
        (Law::Independence, fan_outs),
        (Law::ChunkInvariance, steps_of_a_reducer),
    ]
}

/// Law 8, for neighbours that err, panic, or are the same, and for a `Vec` and an `Option`.
fn fan_outs<Event, M, Out>(make: &dyn Fn() -> M, events: &[Event]) -> Result<(), Violation>
where
    M: Emitter<Event, Out>,
    Out: PartialEq + Debug,
{
    let errs = || emit_fn(|_: &Event| Batch::one(Err::<(), _>("no space left")));
    independence(make, errs, events)?;
    independence(make, || panics_at(events.len() / 2), events)?;
    independence(make, make, events)?;
    let alone = outputs(make(), events);
    let optional = outputs(Some(make()), events);
    compare(Law::Independence, ["alone", "in an `Option`"], "the output", &alone, &optional)?;
    let twice = alone.into_iter().zip(outputs(make(), events));
    let twice: Vec<Batch<Out>> =
        twice.map(|(one, two)| one.into_iter().chain(two).collect()).collect();
    let list = outputs(vec![make(), make()], events);
    compare(Law::Independence, ["twice alone", "two in a `Vec`"], "the output", &twice, &list)
}

/// Law 3: the steps of a reducer give one event, or several.
fn steps_of_a_reducer<Event, M, Out>(
    make: &dyn Fn() -> M,
    events: &[Event],
) -> Result<(), Violation>
where
    Event: Clone,
    M: Emitter<Event, Out>,
    Out: PartialEq + Debug,
{
    let in_steps_of = |length: usize| -> Vec<Out> {
        let step = |(), events: Vec<Event>| ((), Batch::from(events));
        let steps = events.chunks(length).map(<[Event]>::to_vec);
        Transducer::new(reduce_fn(|| (), step), make()).over(steps).collect()
    };
    let one_by_one = in_steps_of(1);
    for length in [2, 3, events.len().max(1)] {
        let message = format!("the output differs if each step gives {length} events");
        let (names, law) = (["one event a step", "several"], Law::ChunkInvariance);
        same(law, names, Place::Completion, &message, &one_by_one, &in_steps_of(length))?;
    }
    Ok(())
}

/// A guarded neighbour that panics at this event.
fn panics_at<Event>(index: usize) -> impl Emitter<Event, Result<(), Fault>> {
    let mut events = 0;
    guard(emit_fn(move |_: &Event| {
        events += 1;
        assert!(events != index + 1, "a neighbour panics");
        Batch::one(())
    }))
}

/// The law of [`Resume`]: an emitter resumed from the memory of another one, stored with serde, emits the same
/// output, and has the same memory at the end. The run is stopped after every event (at some 16 positions, evenly
/// spread, if there are many events).
///
/// ```
/// use foldline::transduce::{Batch, Emitter, Resume};
/// use foldline::laws;
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
/// laws::resume(Sum::default, &[1, 2, 3])?;
/// # Ok::<(), foldline::laws::Violation>(())
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
        for stop in stops(events.len()) {
            let mut first = make();
            let mut given: Vec<_> = events[..stop].iter().map(|event| first.emit(event)).collect();
            // Whatever it remembers is replaced.
            let mut second = make();
            events.iter().take(2).for_each(|event| drop(second.emit(event)));
            let (memory, place) = (stored(&first, Place::Event(stop))?, Place::Event(stop));
            restore(&mut second, &memory, place)?;
            let names = ["stored", "restored"];
            same(law, names, place, "the memory differs", &memory, &stored(&second, place)?)?;
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
/// use foldline::laws;
///
/// let lines = || memoryless(|n: &u64| Batch::one(format!("{n}\n").into_bytes()));
/// laws::segments(lines, &[1, 2, 3], |segments: Vec<Vec<u8>>| segments.concat())?;
/// # Ok::<(), foldline::laws::Violation>(())
/// ```
///
/// # Errors
/// The cuts after which the concatenated segments differ, a memory that cannot be stored, or an empty segment with a
/// size.
#[cfg(feature = "log")]
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

/// The laws of clients that apply the outputs of an emitter to a document. With `apply`, the client of another author,
/// every document is the one that `fold` makes of the events:
///
/// - 7: after every event, and at completion, for a client that begins with `start`;
/// - 26: at completion, for clients that join before any event (16 of them in a long list), with the document that
///   `fold` makes of the events before.
///
/// ```
/// use foldline::{laws, transduce::{Batch, emit_fn}};
///
/// let append = || emit_fn(|line: &&str| Batch::one(format!("{line};")));
/// let apply = |text: &mut String, more: String| Ok::<_, String>(text.push_str(&more));
/// let fold = |lines: &[&str]| lines.iter().map(|line| format!("{line};")).collect();
/// laws::applied(append, &["a", "b"], &String::new(), apply, fold)?;
/// # Ok::<(), laws::Violation>(())
/// ```
///
/// # Errors
/// The first event after which a document differs, or whose output cannot be applied.
pub fn applied<Event, M, Out, D, Error>(
    make: impl Fn() -> M,
    events: &[Event],
    start: &D,
    apply: impl Fn(&mut D, Out) -> Result<(), Error>,
    fold: impl Fn(&[Event]) -> D,
) -> Result<(), Violation>
where
    M: Emitter<Event, Out>,
    D: Clone + PartialEq + Debug,
    Error: Display,
{
    let whole = fold(events);
    for join in stops(events.len()) {
        let law = if join == 0 { Law::CommutingDiagram } else { Law::Join };
        caught(law, Place::Event(join), || {
            let mut document = if join == 0 { start.clone() } else { fold(&events[..join]) };
            let mut emitter = make();
            let mut follow = |place, output: Batch<Out>, expected: Option<&D>| {
                for output in output {
                    apply(&mut document, output).map_err(|error| {
                        Violation::new(law, place, format!("the output cannot be applied: {error}"))
                    })?;
                }
                let message = match join {
                    0 => "the document differs".to_owned(),
                    _ => format!("joined before event {join}, the document differs"),
                };
                let names = ["folded", "of the client"];
                expected
                    .map_or(Ok(()), |folded| same(law, names, place, &message, folded, &document))
            };
            for (index, event) in events.iter().enumerate() {
                let output = emitter.emit(event);
                if index >= join {
                    let expected = (join == 0).then(|| fold(&events[..=index]));
                    follow(Place::Event(index), output, expected.as_ref())?;
                }
            }
            follow(Place::Completion, emitter.finish(), Some(&whole))
        })?;
    }
    Ok(())
}

/// The positions at which a list of events is stopped: all, or some 16, evenly spread.
fn stops(events: usize) -> impl Iterator<Item = usize> {
    (0..=events).step_by(events.div_ceil(STOPS).max(1))
}
