//! Law 27: a random walk of a [`Transducer`], which is fed, stored, killed and resumed.

use std::fmt::Debug;

use proptest::{collection::vec, prelude::*};

use super::{Law, Place, Violation, caught, same};
use crate::transduce::{Emitter, Reducer, Resume, Transducer};

/// A step of a [`walk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The next inputs, as many as these.
    Push(usize),
    /// The transducer is taken apart and put together, and driven by another method from then on.
    Cut,
    /// A snapshot is taken, and never used.
    Snapshot,
    /// The outputs since the last flush are committed, together with a snapshot.
    Flush,
    /// The transducer is lost with what was not committed, and another one resumes from the last flush.
    Kill,
}

/// The steps of a walk. They are shrunk by leaving some out.
pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1_usize..6).prop_map(Step::Push),
        1 => Just(Step::Cut),
        1 => Just(Step::Snapshot),
        2 => Just(Step::Flush),
        2 => Just(Step::Kill),
    ];
    vec(step, 1..24)
}

/// Law 27, **random walk**: a transducer that is driven in any pieces, stored, killed and resumed commits the outputs of an
/// uninterrupted run, and has its state and memory in the end. `make` makes the reducer and the emitter of a process.
///
/// # Errors
/// The outputs, states or memories that differ.
pub fn walk<R, M, In, S, E, Out>(
    make: impl Fn() -> (R, M),
    inputs: &[In],
    steps: &[Step],
) -> Result<(), Violation>
where
    R: Reducer<In, S, E>,
    M: Emitter<E, Out> + Resume<State: Clone + PartialEq + Debug>,
    In: Clone,
    S: Clone + PartialEq + Debug,
    Out: PartialEq + Debug,
{
    let law = Law::Walk;
    caught(law, Place::Unknown, || {
        let begin = || {
            let (reducer, emitter) = make();
            Transducer::new(reducer, emitter)
        };
        let mut whole = begin();
        let mut expected: Vec<Out> =
            inputs.iter().flat_map(|input| whole.step(input.clone())).collect();
        let (expected_state, emitter, last) = whole.finish();
        let expected_memory = emitter.state();
        expected.extend(last);

        let (mut running, mut given, mut next, mut is_by_hand) = (begin(), Vec::new(), 0, false);
        let of =
            |running: &Transducer<R, S, M>| (running.state().clone(), running.emitter().state());
        let (mut committed, mut outputs, mut position) = (of(&running), 0, 0);
        for step in steps.iter().copied().chain([Step::Push(usize::MAX)]) {
            match step {
                Step::Push(count) => {
                    for input in inputs[next..].iter().take(count).cloned() {
                        next += 1;
                        if is_by_hand {
                            let events =
                                running.reduce(|reducer, state| reducer.reduce(state, input));
                            given.extend(
                                events.iter().flat_map(|event| running.emitter_mut().emit(event)),
                            );
                        } else {
                            running.step_with(input, |output| given.push(output));
                        }
                    }
                }
                Step::Cut => {
                    is_by_hand = !is_by_hand;
                    let (reducer, state, emitter) = running.into_parts();
                    let state = state.unwrap_or_else(|| reducer.init());
                    running = Transducer::restore(reducer, state, emitter);
                }
                Step::Snapshot => drop(of(&running)),
                Step::Flush => (committed, outputs, position) = (of(&running), given.len(), next),
                Step::Kill => {
                    let ((reducer, mut emitter), (state, memory)) = (make(), committed.clone());
                    emitter.resume(memory);
                    running = Transducer::restore(reducer, state, emitter);
                    given.truncate(outputs);
                    next = position;
                }
            }
        }
        let (state, emitter, last) = running.finish();
        given.extend(last);
        let (names, place) = (["uninterrupted", "walk"], Place::Completion);
        same(law, names, place, "the outputs differ", &expected, &given)?;
        same(law, names, place, "the states differ", &expected_state, &state)?;
        same(law, names, place, "the memories differ", &expected_memory, &emitter.state())
    })
}
