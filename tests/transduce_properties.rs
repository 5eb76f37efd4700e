//! The laws of the framework, on random reducers and random input.

use std::collections::BTreeMap;

use foldline::transduce::{
    Batch, Both, Emitter, Keyed, Reducer, Tee, Transducer, contramap, emit_fn, filter,
};
use proptest::{collection::vec, prelude::*};

/// A small machine with all features of a reducer: several events per step, state, a held-back rest and an early end.
#[derive(Clone, Debug)]
struct Machine {
    modulus: u32,
    end: u32,
}

impl Reducer<u32, Vec<u32>, u32> for Machine {
    fn init(&self) -> Vec<u32> {
        Vec::new()
    }
    fn reduce(&self, mut held: Vec<u32>, n: u32) -> (Vec<u32>, Batch<u32>) {
        match n % self.modulus {
            0 => (held, Batch::EMPTY),
            1 => (held, Batch::one(n / 2)),
            2 => {
                held.push(n);
                (held, Batch::EMPTY)
            }
            _ => {
                let all = held.drain(..).chain([n]).collect();
                (held, all)
            }
        }
    }
    fn finish(&self, held: Vec<u32>) -> (Vec<u32>, Batch<u32>) {
        (Vec::new(), held.into())
    }
    fn is_done(&self, held: &Vec<u32>) -> bool {
        held.len() as u32 >= self.end
    }
}

/// The same machine behind a tagged input, for `Keyed`.
struct Tagged(Machine);

impl Reducer<(u8, u32), Vec<u32>, u32> for Tagged {
    fn init(&self) -> Vec<u32> {
        self.0.init()
    }
    fn reduce(&self, held: Vec<u32>, (_, n): (u8, u32)) -> (Vec<u32>, Batch<u32>) {
        self.0.reduce(held, n)
    }
    fn finish(&self, held: Vec<u32>) -> (Vec<u32>, Batch<u32>) {
        self.0.finish(held)
    }
    fn is_done(&self, held: &Vec<u32>) -> bool {
        self.0.is_done(held)
    }
}

/// Emits sums, sometimes several, and the rest at the end.
#[derive(Clone, Debug)]
struct Sums {
    every: u32,
    sum: u32,
}

impl Emitter<u32, u32> for Sums {
    fn emit(&mut self, n: &u32) -> Batch<u32> {
        self.sum = self.sum.wrapping_add(*n);
        match n % self.every {
            0 => Batch::EMPTY,
            1 => Batch::one(self.sum),
            _ => Batch::from([self.sum, *n]),
        }
    }
    fn finish(&mut self) -> Batch<u32> {
        Batch::one(self.sum)
    }
}

fn machines() -> impl Strategy<Value = Machine> {
    (1_u32..6, prop_oneof![Just(u32::MAX), 1_u32..5])
        .prop_map(|(modulus, end)| Machine { modulus, end })
}

fn endless() -> impl Strategy<Value = Machine> {
    (1_u32..6).prop_map(|modulus| Machine { modulus, end: u32::MAX })
}

fn sums() -> impl Strategy<Value = Sums> {
    (1_u32..5).prop_map(|every| Sums { every, sum: 0 })
}

fn inputs() -> impl Strategy<Value = Vec<u32>> {
    vec(0_u32..1000, 0..40)
}

/// All events of a run and its last state. Stops when done, like every driver.
fn run<In, S, E>(
    reducer: &impl Reducer<In, S, E>,
    inputs: impl IntoIterator<Item = In>,
) -> (S, Vec<E>) {
    let mut state = reducer.init();
    let mut all = Vec::new();
    let mut inputs = inputs.into_iter();
    // Checked before an input is taken, so that a finished run leaves the rest.
    while !reducer.is_done(&state) {
        let Some(input) = inputs.next() else { break };
        let (next, events) = reducer.reduce(state, input);
        state = next;
        all.extend(events);
    }
    let (state, events) = reducer.finish(state);
    all.extend(events);
    (state, all)
}

/// All outputs of an emitter, including the end.
fn emit_all<E, O>(mut emitter: impl Emitter<E, O>, events: &[E]) -> Vec<O> {
    let mut all: Vec<O> = events.iter().flat_map(|event| emitter.emit(event)).collect();
    all.extend(emitter.finish());
    all
}

proptest! {
    #[test]
    fn same_inputs_same_events_and_state(machine in machines(), inputs in inputs()) {
        prop_assert_eq!(run(&machine, inputs.clone()), run(&machine, inputs));
    }

    #[test]
    fn then_is_one_run_after_the_other(a in endless(), b in machines(), inputs in inputs()) {
        let (_, between) = run(&a, inputs.clone());
        let (last, events) = run(&b, between);
        let (state, fused) = run(&a.then(b), inputs);
        prop_assert_eq!(fused, events);
        prop_assert_eq!(state.1, last);
    }

    #[test]
    fn then_is_associative(
        (a, b, c) in (machines(), machines(), machines()), inputs in inputs()
    ) {
        let left = a.clone().then(b.clone()).then(c.clone());
        let right = a.then(b.then(c));
        let (((l1, l2), l3), left) = run(&left, inputs.clone());
        let ((r1, (r2, r3)), right) = run(&right, inputs);
        prop_assert_eq!(left, right);
        prop_assert_eq!((l1, l2, l3), (r1, r2, r3));
    }

    #[test]
    fn both_are_each_alone(a in machines(), b in machines(), inputs in inputs()) {
        /// Marks the events, so that they can be distinguished later.
        struct Marked(Machine, char);
        impl Reducer<u32, Vec<u32>, (char, u32)> for Marked {
            fn init(&self) -> Vec<u32> {
                self.0.init()
            }
            fn reduce(&self, held: Vec<u32>, n: u32) -> (Vec<u32>, Batch<(char, u32)>) {
                let (held, events) = self.0.reduce(held, n);
                (held, events.map(|event| (self.1, event)))
            }
            fn finish(&self, held: Vec<u32>) -> (Vec<u32>, Batch<(char, u32)>) {
                let (held, events) = self.0.finish(held);
                (held, events.map(|event| (self.1, event)))
            }
            fn is_done(&self, held: &Vec<u32>) -> bool {
                self.0.is_done(held)
            }
        }
        let first = run(&a, inputs.clone());
        let second = run(&b, inputs.clone());
        let both = Both { first: Marked(a, 'a'), second: Marked(b, 'b') };
        let (state, events) = run(&both, inputs);
        let of = |mark| events.iter().filter(|it| it.0 == mark).map(|it| it.1).collect::<Vec<_>>();
        prop_assert_eq!((of('a'), of('b')), (first.1, second.1));
        prop_assert_eq!(state, (first.0, second.0));
    }

    #[test]
    fn keyed_is_each_session_alone(
        machine in endless(), inputs in vec((0_u8..4, 0_u32..1000), 0..60)
    ) {
        let (states, events) = run(&Keyed::new(Tagged(machine.clone()), |it: &(u8, u32)| it.0), inputs.clone());
        let mut sessions: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
        for (key, n) in inputs {
            sessions.entry(key).or_default().push(n);
        }
        prop_assert!(states.keys().eq(sessions.keys()));
        for (key, inputs) in sessions {
            let (state, alone) = run(&machine, inputs);
            let keyed: Vec<u32> = events.iter().filter(|it| it.0 == key).map(|it| it.1).collect();
            prop_assert_eq!(keyed, alone);
            prop_assert_eq!(&states[&key], &state);
        }
    }

    #[test]
    fn keyed_begins_anew_after_a_session_is_done(
        machine in machines(), inputs in vec((0_u8..3, 0_u32..1000), 0..60)
    ) {
        let (_, events) = run(&Keyed::new(Tagged(machine.clone()), |it: &(u8, u32)| it.0), inputs.clone());
        for key in 0..3 {
            let mut inputs = inputs.iter().filter(|it| it.0 == key).map(|it| it.1).peekable();
            let mut alone = Vec::new();
            while inputs.peek().is_some() {
                alone.extend(run(&machine, &mut inputs).1);
            }
            let keyed: Vec<u32> = events.iter().filter(|it| it.0 == key).map(|it| it.1).collect();
            prop_assert_eq!(keyed, alone);
        }
    }

    #[test]
    fn a_sink_is_the_same_alone_and_in_company(
        sinks in vec(sums(), 1..5), (a, b) in (sums(), sums()), events in inputs()
    ) {
        let alone: Vec<Vec<u32>> = sinks.iter().map(|it| emit_all(it.clone(), &events)).collect();

        // In a vector, marked with their index so that they can be distinguished.
        let mut marked: Vec<Box<dyn Emitter<u32, (usize, u32)>>> = Vec::new();
        for (place, sink) in sinks.into_iter().enumerate() {
            marked.push(Box::new(Marked(place, sink)));
        }
        let together = emit_all(marked, &events);
        for (place, alone) in alone.iter().enumerate() {
            let it: Vec<u32> = together.iter().filter(|it| it.0 == place).map(|it| it.1).collect();
            prop_assert_eq!(&it, alone);
        }

        // In tuples, enabled, borrowed, and with a listener.
        let (alone_a, alone_b) = (emit_all(a.clone(), &events), emit_all(b.clone(), &events));
        let silent = emit_fn(|_: &u32| Batch::EMPTY);
        let trio = (a.clone(), Some(b.clone()), Tee { main: a, side: silent });
        let mut it = (Vec::new(), Vec::new(), Vec::new());
        for (first, second, third) in emit_all(trio, &events) {
            it.0.extend(first);
            it.1.extend(second);
            it.2.extend(third);
        }
        prop_assert_eq!(it, (alone_a.clone(), alone_b, alone_a));
    }

    #[test]
    fn a_tuple_never_reports_nothing(a in sums(), b in sums(), events in inputs()) {
        for (first, second) in emit_all((a, b), &events) {
            prop_assert!(!first.is_empty() || !second.is_empty());
        }
    }

    #[test]
    fn filter_and_contramap_are_done_to_the_events(sink in sums(), events in inputs()) {
        let kept: Vec<u32> = events.iter().copied().filter(|n| n % 3 == 0).collect();
        prop_assert_eq!(
            emit_all(filter(sink.clone(), |n: &u32| n.is_multiple_of(3)), &events),
            emit_all(sink.clone(), &kept)
        );
        let tagged: Vec<(String, u32)> = events.iter().map(|&n| (n.to_string(), n)).collect();
        prop_assert_eq!(
            emit_all(contramap(sink.clone(), |it: &(String, u32)| &it.1), &tagged),
            emit_all(sink, &events)
        );
    }

    #[test]
    fn every_way_to_drive_gives_the_same(
        machine in machines(), sink in sums(), inputs in inputs()
    ) {
        let expected = emit_all(sink.clone(), &run(&machine, inputs.clone()).1);

        let pulled: Vec<u32> =
            Transducer::new(&machine, sink.clone()).over(inputs.iter().copied()).collect();
        prop_assert_eq!(&pulled, &expected);

        let mut stepped = Transducer::new(&machine, sink.clone());
        let mut handed = Transducer::new(&machine, sink);
        let (mut by_step, mut by_hand) = (Vec::new(), Vec::new());
        for &input in &inputs {
            if stepped.is_done() {
                break;
            }
            by_step.extend(stepped.step(input));
            handed.step_with(input, |out| by_hand.push(out));
        }
        prop_assert_eq!(stepped.state(), handed.state());
        by_step.extend(stepped.finish().2);
        by_hand.extend(handed.finish().2);
        prop_assert_eq!(&by_step, &expected);
        prop_assert_eq!(&by_hand, &expected);
    }

    #[test]
    fn stopping_and_going_on_changes_nothing(
        machine in endless(), sink in sums(), inputs in inputs(), cut in any::<prop::sample::Index>()
    ) {
        let whole: Vec<u32> =
            Transducer::new(&machine, sink.clone()).over(inputs.iter().copied()).collect();
        let (before, after) = inputs.split_at(cut.index(inputs.len() + 1));
        let mut shell = Transducer::new(&machine, sink);
        let mut parts: Vec<u32> = before.iter().flat_map(|&n| shell.step(n)).collect();
        let resumed =
            Transducer::restore(&machine, shell.state().clone(), shell.emitter().clone());
        parts.extend(resumed.over(after.iter().copied()));
        prop_assert_eq!(parts, whole);
    }

    #[test]
    fn a_batch_is_a_list(a in vec(any::<u8>(), 0..5), b in vec(any::<u8>(), 0..5)) {
        let collected: Batch<u8> = a.iter().copied().collect();
        let mut pushed = Batch::EMPTY;
        for &item in &a {
            pushed.push(item);
        }
        prop_assert_eq!(&collected, &pushed);
        prop_assert_eq!(&collected, &Batch::from(a.clone()));
        prop_assert_eq!(collected.as_slice(), &a[..]);
        prop_assert_eq!((collected.len(), collected.is_empty()), (a.len(), a.is_empty()));
        prop_assert_eq!(format!("{collected:?}"), format!("{a:?}"));
        prop_assert_eq!(collected == Batch::from(b.clone()), a == b);

        let joined = [&a[..], &b].concat();
        let mut appended = collected.clone();
        appended.append(Batch::from_iter(b.clone()));
        prop_assert_eq!(appended.as_slice(), &joined[..]);
        let mut outside = collected.clone();
        outside.append(Batch::from(b.clone()));
        prop_assert_eq!(&outside, &appended);
        let mut extended = collected.clone();
        extended.extend(b);
        prop_assert_eq!(&extended, &appended);

        let mapped: Vec<u16> = joined.iter().map(|&n| u16::from(n) + 1).collect();
        prop_assert_eq!(appended.clone().map(|n| u16::from(n) + 1), Batch::from(mapped));
        let mut drained = Vec::new();
        appended.clone().drain_with(|item| drained.push(item));
        prop_assert_eq!(&drained, &joined);
        prop_assert_eq!(appended.clone().into_iter().len(), joined.len());
        prop_assert!(appended.iter().eq(&joined));
        prop_assert!(appended.into_iter().rev().eq(joined.into_iter().rev()));
    }
}

/// An emitter whose outputs have its index.
struct Marked(usize, Sums);

impl Emitter<u32, (usize, u32)> for Marked {
    fn emit(&mut self, n: &u32) -> Batch<(usize, u32)> {
        self.1.emit(n).map(|out| (self.0, out))
    }
    fn finish(&mut self) -> Batch<(usize, u32)> {
        self.1.finish().map(|out| (self.0, out))
    }
}
