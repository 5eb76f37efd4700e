//! The cost of the framework: the same work by hand, through a `Transducer`, and through `dyn`.
//!
//! All run in one process on the same input, and the ratio at the end is measured in interleaved rounds, so that a
//! busy machine slows all of them alike. The reducer is inlined everywhere, like a reducer that is called from one
//! place; the consumers are not, because real ones are too large.
//!
//! The state is boxed, as the documentation of `Reducer` recommends. `tuple_state_unboxed` shows why: the same, with
//! a state of 40 bytes that moves in and out at each step.

use std::{
    collections::VecDeque,
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::Criterion;
use foldline::transduce::{Batch, Emitter, Reducer, Transducer};

const INPUTS: usize = 4096;
const ROUNDS: usize = 2001;

/// A wire record, borrowed from a line.
#[derive(Clone, Copy)]
enum Line {
    Text { len: u32 },
    Call { id: u32, tool: u8 },
    Result { id: u32, ok: bool },
    Noise,
}

/// The state: the open calls, oldest first.
#[derive(Default)]
struct State {
    open: VecDeque<(u32, u8)>,
    entries: u64,
}

/// As large as real events are.
struct Event {
    kind: Kind,
    source: (u64, u64),
    payload: [u64; 24],
}

enum Kind {
    Entry,
    Opened { tool: u8 },
    Closed { tool: u8, ok: bool },
    Unclaimed { id: u32 },
}

fn event(kind: Kind, entries: u64, word: u32) -> Event {
    let mut payload = [0; 24];
    payload[(word % 24) as usize] = u64::from(word);
    Event { kind, source: (entries, u64::from(word)), payload }
}

/// The domain: one state transition, shared by all.
#[inline(always)]
fn transition(state: &mut State, line: Line) -> Option<(Kind, u32)> {
    Some(match line {
        Line::Text { len } => {
            state.entries += 1;
            (Kind::Entry, len)
        }
        Line::Call { id, tool } => {
            if state.open.len() == 64 {
                state.open.pop_front();
            }
            state.open.push_back((id, tool));
            state.entries += 1;
            (Kind::Opened { tool }, id)
        }
        Line::Result { id, ok } => match state.open.iter().position(|call| call.0 == id) {
            Some(at) => {
                let tool = state.open.remove(at).map_or(0, |call| call.1);
                (Kind::Closed { tool, ok }, id)
            }
            None => (Kind::Unclaimed { id }, id),
        },
        Line::Noise => return None,
    })
}

/// The first consumer: counters, without output.
#[derive(Default)]
struct Metrics {
    by_tool: [u64; 8],
    failed: u64,
    bytes: u64,
}

impl Metrics {
    #[inline(never)]
    fn see(&mut self, event: &Event) {
        match event.kind {
            Kind::Opened { tool } => self.by_tool[usize::from(tool % 8)] += 1,
            Kind::Closed { ok, .. } => self.failed += u64::from(!ok),
            Kind::Entry => self.bytes += event.source.1,
            Kind::Unclaimed { .. } => self.failed += 1,
        }
    }
}

/// The second consumer: a small output for most events.
#[derive(Default)]
struct Patches {
    next: u64,
}

impl Patches {
    #[inline(never)]
    fn see(&mut self, event: &Event) -> Option<u64> {
        let word = event.payload[(event.source.1 % 24) as usize];
        match event.kind {
            Kind::Entry | Kind::Opened { .. } => {
                self.next += 1;
                Some(self.next ^ word)
            }
            Kind::Closed { tool, .. } => Some(u64::from(tool) ^ word),
            Kind::Unclaimed { id } => (id % 2 == 0).then_some(word),
        }
    }
}

struct Toy;

impl Reducer<Line, Box<State>, Event> for Toy {
    fn init(&self) -> Box<State> {
        Box::default()
    }

    #[inline(always)]
    fn reduce(&self, mut state: Box<State>, line: Line) -> (Box<State>, Batch<Event>) {
        let Some((kind, word)) = transition(&mut state, line) else { return (state, Batch::EMPTY) };
        let events = Batch::one(event(kind, state.entries, word));
        (state, events)
    }
}

struct ToyUnboxed;

impl Reducer<Line, State, Event> for ToyUnboxed {
    fn init(&self) -> State {
        State::default()
    }

    #[inline(always)]
    fn reduce(&self, mut state: State, line: Line) -> (State, Batch<Event>) {
        let Some((kind, word)) = transition(&mut state, line) else { return (state, Batch::EMPTY) };
        let events = Batch::one(event(kind, state.entries, word));
        (state, events)
    }
}

impl Emitter<Event, u64> for Metrics {
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<u64> {
        self.see(event);
        Batch::EMPTY
    }

    fn finish(&mut self) -> Batch<u64> {
        Batch::one(self.failed.wrapping_add(self.bytes))
    }
}

impl Emitter<Event, u64> for Patches {
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<u64> {
        self.see(event).into()
    }
}

#[inline(never)]
fn by_hand(lines: &[Line]) -> u64 {
    let (mut state, mut metrics, mut patches) =
        (State::default(), Metrics::default(), Patches::default());
    let mut sum = 0_u64;
    for &line in lines {
        if let Some((kind, word)) = transition(&mut state, line) {
            let event = event(kind, state.entries, word);
            metrics.see(&event);
            if let Some(out) = patches.see(&event) {
                sum = sum.wrapping_add(out);
            }
        }
    }
    sum.wrapping_add(metrics.failed).wrapping_add(metrics.bytes)
}

#[inline(never)]
fn through_tuple(lines: &[Line]) -> u64 {
    drive_tuple(Transducer::new(Toy, (Metrics::default(), Patches::default())), lines)
}

#[inline(never)]
fn through_tuple_unboxed(lines: &[Line]) -> u64 {
    drive_tuple(Transducer::new(ToyUnboxed, (Metrics::default(), Patches::default())), lines)
}

#[inline(always)]
fn drive_tuple<R, S>(mut shell: Transducer<R, S, (Metrics, Patches)>, lines: &[Line]) -> u64
where
    R: Reducer<Line, S, Event>,
{
    let mut sum = 0_u64;
    let mut add = |(metrics, patches): (Batch<u64>, Batch<u64>)| {
        metrics.drain_with(|out| sum = sum.wrapping_add(out));
        patches.drain_with(|out| sum = sum.wrapping_add(out));
    };
    for &line in lines {
        shell.step_with(line, &mut add);
    }
    shell.finish().2.drain_with(add);
    sum
}

#[inline(never)]
fn through_dyn(lines: &[Line]) -> u64 {
    let sinks: Vec<Box<dyn Emitter<Event, u64>>> =
        vec![Box::new(Metrics::default()), Box::new(Patches::default())];
    let mut shell = Transducer::new(Toy, black_box(sinks));
    let mut sum = 0_u64;
    for &line in lines {
        shell.step_with(line, |out| sum = sum.wrapping_add(out));
    }
    shell.finish().2.drain_with(|out| sum = sum.wrapping_add(out));
    sum
}

/// Random lines from a fixed seed (xorshift): branches that cannot be learnt, results that mostly
/// answer a recent call.
fn lines() -> Vec<Line> {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 32) as u32
    };
    let mut calls = 0;
    (0..INPUTS)
        .map(|_| match random() % 8 {
            0..=2 => Line::Text { len: random() % 4096 },
            3 | 4 => {
                calls += 1;
                Line::Call { id: calls, tool: (random() % 8) as u8 }
            }
            5 | 6 => Line::Result { id: calls.saturating_sub(random() % 4), ok: random() % 5 != 0 },
            _ => Line::Noise,
        })
        .collect()
}

type Path = fn(&[Line]) -> u64;
const PATHS: [(&str, Path); 4] = [
    ("by_hand", by_hand),
    ("tuple_of_two", through_tuple),
    ("tuple_state_unboxed", through_tuple_unboxed),
    ("dyn_fan_out", through_dyn),
];

/// The median time of each path, measured in turns.
fn medians(lines: &[Line]) -> [Duration; PATHS.len()] {
    let mut times = [const { Vec::new() }; PATHS.len()];
    for round in 0..ROUNDS {
        for turn in 0..PATHS.len() {
            let path = (round + turn) % PATHS.len();
            let start = Instant::now();
            black_box(PATHS[path].1(black_box(lines)));
            times[path].push(start.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

fn main() {
    let lines = lines();
    let expected = by_hand(&lines);
    for (name, path) in PATHS {
        assert_eq!(path(&lines), expected, "{name} does other work");
    }
    // `cargo test --benches` only checks that it runs.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("transduce");
    group.throughput(criterion::Throughput::Elements(INPUTS as u64));
    for (name, path) in PATHS {
        group.bench_function(name, |bench| bench.iter(|| path(black_box(&lines))));
    }
    group.finish();
    criterion.final_summary();

    let [hand, tuple, unboxed, dynamic] = medians(&lines).map(|time| time.as_secs_f64());
    println!(
        "Transducer / hand-written loop: {:.3} ({:.2} ns against {:.2} ns a step); \
         state unboxed / hand: {:.3}; dyn / hand: {:.3}",
        tuple / hand,
        tuple / INPUTS as f64 * 1e9,
        hand / INPUTS as f64 * 1e9,
        unboxed / hand,
        dynamic / hand,
    );
}
