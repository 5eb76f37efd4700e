//! The complete pipeline of the benches: bytes to serialised patches.

use std::{convert::Infallible, hint::black_box};

use foldline::{
    processor::{LineFramer, Processor},
    transduce::{Batch, Emitter, Reducer, Transducer, emit_fn},
};
use foldline_agents::{
    ExecutorReducer, Records, Registry,
    droid::Droid,
    wire::{Object, Record},
};
use foldline_domain::{
    DomainEvent, Located, Position, by_item, locating,
    metrics::Metrics,
    patch::{ConversationPatch, PatchEmitter, PatchStream},
};

/// The complete path of `foldline replay --format patches`. Returns the number of bytes written.
pub fn patches(format: &str, log: &[u8]) -> usize {
    let executor = Registry::builtin().named(format).cloned().expect("this build has the executor");
    let mut stream = PatchStream::default();
    let mut out = Vec::with_capacity(1 << 20);
    let mut written = 0;
    let write = emit_fn(|event: &Located<DomainEvent>| -> Batch<()> {
        if let Some(record) = stream.record(event) {
            foldline_json::append(&mut out, &record).expect("patches serialise");
            out.push(b'\n');
        }
        if out.len() > 64 << 10 {
            written += black_box(&out).len();
            out.clear();
        }
        Batch::EMPTY
    });
    let framer = LineFramer::new(1 << 30);
    let mut processor =
        Processor::with_framer(Records, Transducer::new(locating(executor), write), framer);
    for chunk in log.chunks(256 << 10) {
        processor.push(chunk, |()| {});
    }
    processor.finish(|()| {});
    written + out.len()
}

/// The path up to the events.
pub fn events(format: &str, log: &[u8]) {
    let executor = Registry::builtin().named(format).cloned().expect("this build has the executor");
    let look = emit_fn(|event: &Located<DomainEvent>| -> Batch<()> {
        black_box(event);
        Batch::EMPTY
    });
    let mut processor = Processor::new(Records, Transducer::new(locating(executor), look));
    for chunk in log.chunks(256 << 10) {
        processor.push(chunk, |()| {});
    }
    processor.finish(|()| {});
}

/// Droid's lines to patches and metrics, through a `Transducer` with a tuple of two emitters.
pub fn through_transducer(log: &str) {
    let emitters = (by_item(PatchEmitter::default()), Metrics::default());
    let mut transducer = Transducer::new(locating(ExecutorReducer::new(Droid)), emitters);
    for line in log.lines() {
        let each = |(patches, _): (Batch<ConversationPatch>, Batch<Infallible>)| {
            patches.drain_with(|patch| drop(black_box(patch)));
        };
        transducer.step_with(droid_line(line), each);
    }
}

/// The same in a handwritten loop.
pub fn by_hand(log: &str) {
    let (mut patches, mut metrics) = (PatchEmitter::default(), Metrics::default());
    let reducer = locating(ExecutorReducer::new(Droid));
    let mut state = reducer.init();
    for line in log.lines() {
        let (next, events) = reducer.reduce(state, droid_line(line));
        state = next;
        for event in &events {
            if let Some(patch) = patches.patch(&event.item) {
                drop(black_box(patch));
            }
            let _: Batch<Infallible> = metrics.emit(event);
        }
    }
}

fn droid_line(line: &str) -> Located<Record<'_>> {
    let record = Record::Object(Object::parse(line).expect("it is an object"));
    Located::new(Position::default(), record)
}
