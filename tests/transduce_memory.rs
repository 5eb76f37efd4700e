//! The memory of emitters, through every wrapper and fan-out.

use std::{collections::BTreeMap, fmt::Debug};

use foldline::transduce::{
    Batch, Both, Emitter, Fault, Keyed, KeyedEmitter, Reducer, Resume, Tee, Transducer, contramap,
    emit_fn, filter, guard, map, memoryless, reduce_fn,
};
use proptest::{collection::vec, prelude::*, sample::Index};

/// Emits its sum, also at the end.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sum(u32);

impl Emitter<u32, u32> for Sum {
    fn emit(&mut self, n: &u32) -> Batch<u32> {
        self.0 = self.0.wrapping_add(*n);
        Batch::one(self.0)
    }
    fn finish(&mut self) -> Batch<u32> {
        Batch::one(self.0)
    }
}

impl Resume for Sum {
    type State = u32;

    fn state(&self) -> u32 {
        self.0
    }
    fn resume(&mut self, sum: u32) {
        self.0 = sum;
    }
}

/// The law of `Resume`: a new emitter with the state of another continues with the same output.
fn goes_on<M, Out>(make: impl Fn() -> M, events: &[u32], cut: Index)
where
    M: Emitter<u32, Out> + Resume,
    Out: PartialEq + Debug,
{
    let (before, after) = events.split_at(cut.index(events.len() + 1));
    let rest = |emitter: &mut M| -> Vec<Out> {
        let mut all: Vec<Out> = after.iter().flat_map(|event| emitter.emit(event)).collect();
        all.extend(emitter.finish());
        all
    };
    let mut whole = make();
    before.iter().for_each(|event| drop(whole.emit(event)));
    let mut resumed = make();
    resumed.resume(whole.state());
    assert_eq!(rest(&mut resumed), rest(&mut whole));
}

type ByParity = fn(&u32) -> bool;
const IS_ODD: ByParity = |n| n % 2 == 1;

fn keyed() -> KeyedEmitter<u32, Sum, impl Fn(&u32) -> u32, impl FnMut(&u32) -> Sum> {
    KeyedEmitter::new(|n: &u32| n % 3, |_: &u32| Sum::default())
}

proptest! {
    #[test]
    fn every_wrapper_forwards_the_memory(events in vec(0_u32..99, 0..30), cut in any::<Index>()) {
        let silent = || memoryless(|_: &u32| Batch::EMPTY);
        goes_on(|| filter(Sum::default(), IS_ODD), &events, cut);
        goes_on(|| contramap(Sum::default(), |n: &u32| n), &events, cut);
        goes_on(|| map(Sum::default(), |n: u32| n.to_string()), &events, cut);
        goes_on(|| guard(Sum::default()), &events, cut);
        goes_on(|| Tee { main: Sum::default(), side: silent() }, &events, cut);
        goes_on(|| vec![Sum::default(), Sum(7)], &events, cut);
        goes_on(|| Some(Sum::default()), &events, cut);
        goes_on(|| Box::new(Sum::default()), &events, cut);
        goes_on(|| (Sum::default(), filter(Sum::default(), IS_ODD), ()), &events, cut);
        goes_on(keyed, &events, cut);
    }

    #[test]
    fn interleaved_sessions_give_what_each_gives_alone(
        inputs in vec((0_u8..4, 0_u32..99), 0..50), cut in any::<Index>()
    ) {
        let last = || reduce_fn(|| 0, |last: u32, (_, n): (u8, u32)| (n, Batch::from([last, n])));
        let sinks = || KeyedEmitter::new(
            |(key, _): &(u8, u32)| *key,
            |_: &u8| contramap(Sum::default(), |(_, n): &(u8, u32)| n),
        );
        let sessions = Keyed::new(last(), |(key, _): &(u8, u32)| *key);
        let mut shell = Transducer::new(&sessions, sinks());
        let mut mixed = Vec::new();
        let at = cut.index(inputs.len() + 1);
        for (place, input) in inputs.iter().enumerate() {
            if place == at {
                // Stopped and resumed.
                let (state, memory) = (shell.state().clone(), shell.emitter().state());
                let mut emitter = sinks();
                emitter.resume(memory);
                shell = Transducer::restore(&sessions, state, emitter);
            }
            mixed.extend(shell.step(*input));
        }
        mixed.extend(shell.finish::<(u8, u32), _, _>().2);
        let mut alone = BTreeMap::<u8, Vec<(u8, u32)>>::new();
        for input in inputs {
            alone.entry(input.0).or_default().push(input);
        }
        for (key, inputs) in alone {
            let mixed: Vec<u32> = mixed.iter().filter(|it| it.0 == key).map(|it| it.1).collect();
            let alone: Vec<u32> = Transducer::new(last(), Sum::default()).over(inputs).collect();
            prop_assert_eq!(mixed, alone);
        }
    }
}

#[test]
fn a_closed_session_emits_its_last_outputs_and_begins_anew() {
    let mut sinks = keyed();
    for n in [1, 4, 5] {
        drop(sinks.emit(&n));
    }
    assert_eq!(sinks.close(&1), Some(Batch::one(5)));
    assert!(sinks.close(&1).is_none());
    assert_eq!(sinks.get_ref().len(), 1);
    assert_eq!(sinks.emit(&7).as_slice(), [(1, 7)]);
    assert_eq!(sinks.finish().as_slice(), [(1, 7), (2, 5)]);
    assert_eq!(sinks.into_inner()[&2], Sum(5));
}

#[test]
fn sessions_resumed_take_the_place_of_those_before() {
    let mut sinks = keyed();
    drop(sinks.emit(&1));
    sinks.resume(BTreeMap::from([(0, 30)]));
    assert_eq!(sinks.state(), BTreeMap::from([(0, 30)]));
    assert_eq!(sinks.emit(&3).as_slice(), [(0, 33)]);
    assert_eq!(sinks.emit(&1).as_slice(), [(1, 1)]);
}

/// Panics at a given event.
struct Breaks {
    on: u32,
    inner: Sum,
}

impl Emitter<u32, u32> for Breaks {
    fn emit(&mut self, n: &u32) -> Batch<u32> {
        assert!(*n != self.on, "broken");
        self.inner.emit(n)
    }
}

impl Resume for Breaks {
    type State = u32;

    fn state(&self) -> u32 {
        self.inner.state()
    }
    fn resume(&mut self, state: u32) {
        self.inner.resume(state);
    }
}

#[test]
fn one_that_panicked_has_no_memory_until_it_is_resumed() {
    let mut guarded = guard(Breaks { on: 3, inner: Sum::default() });
    assert_eq!(guarded.emit(&1).as_slice(), [Ok(1)]);
    let stored = guarded.state();
    assert_eq!(stored, Some(1));
    assert_eq!(guarded.emit(&3).as_slice(), [Err(Fault::Panicked("broken".to_owned()))]);
    assert_eq!(guarded.state(), None);

    guarded.resume(None);
    assert!(guarded.is_lost());
    guarded.resume(stored);
    assert_eq!(guarded.emit(&4).as_slice(), [Ok(5)]);
}

#[test]
fn every_wrapper_gives_back_what_it_wraps() {
    let sum = || Sum(1);
    let mut filtered = filter(sum(), IS_ODD);
    filtered.get_mut().0 = 2;
    assert_eq!((filtered.get_ref().0, filtered.into_inner().0), (2, 2));
    assert_eq!(contramap(sum(), |n: &u32| n).into_inner(), sum());
    assert_eq!(map(sum(), |n: u32| n).into_inner(), sum());
    assert_eq!(guard(sum()).into_inner(), sum());
    assert_eq!(Tee { main: sum(), side: () }.into_inner(), (sum(), ()));
    assert_eq!(emit_fn(|n: &u32| Batch::one(*n)).into_inner()(&7).as_slice(), [7]);

    let double = reduce_fn(|| 0, |n: u32, m: u32| (n + m, Batch::one(2 * m)));
    let keyed = Keyed::new(double, |n: &u32| *n);
    assert_eq!(keyed.get_ref().reduce(1, 2).0, 3);
    let both = Both { first: keyed.into_inner(), second: double };
    let (first, second) = both.get_ref();
    assert_eq!((first.init(), second.init()), (0, 0));
    let (_, step) = both.into_inner().0.into_inner();
    assert_eq!(step(1, 2).0, 3);
    let (first, _) = double.then(double).into_inner();
    assert_eq!(Transducer::new(first, ()).reducer().reduce(0, 4).1.as_slice(), [8]);
}
