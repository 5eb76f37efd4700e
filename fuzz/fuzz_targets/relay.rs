//! Reading a log on two threads gives the same output as on one, however the log is split.
#![no_main]

use std::convert::Infallible;

use foldline_agents::{DynExecutor, SplitExecutor, Records, Registry, Sessions, wire::Record};
use foldline_domain::{DomainEvent, Located, Position};
use foldline::{processor::{Counts, LineFramer, Processor}, transduce::{Batch, emit_fn, Transducer}};
use libfuzzer_sys::fuzz_target;

const MAX_LINE: usize = 300;

type Event = Located<DomainEvent>;

fuzz_target!(|bytes: &[u8]| {
    // The first byte determines the length of the pieces.
    let Some((length, bytes)) = bytes.split_first() else { return };
    let registry = Registry::builtin();
    let mut recogniser = registry.recogniser();
    for line in String::from_utf8_lossy(bytes).lines() {
        Record::read(line, |_, record| recogniser.observe(&record));
    }
    let recognised = recogniser.verdict().format().and_then(|format| registry.named(format.name));
    let other = registry.iter().nth(bytes.len() % registry.iter().count().max(1));
    for executor in recognised.into_iter().chain(other) {
        let length = 1 + usize::from(*length);
        assert_eq!(relayed(executor, bytes, length), pushed(executor, bytes));
    }
});

fn pushed(executor: &DynExecutor, bytes: &[u8]) -> (Vec<Event>, Counts, Position) {
    let copies = emit_fn(|event: &Event| Batch::one(event.clone()));
    let transducer = Transducer::new(Sessions::new(executor.clone()), copies);
    let mut processor = Processor::with_framer(Records, transducer, LineFramer::new(MAX_LINE));
    let mut events = Vec::new();
    processor.push(bytes, |event| events.push(event));
    let (counts, position) = (processor.counts(), processor.position());
    processor.finish(|event| events.push(event));
    (events, counts, position)
}

fn relayed(
    executor: &DynExecutor,
    mut bytes: &[u8],
    length: usize,
) -> (Vec<Event>, Counts, Position) {
    let copies = emit_fn(|event: &Event| Batch::one(event.clone()));
    let ahead = Sessions::new(SplitExecutor::new(executor.clone()));
    let transducer = Transducer::new(Sessions::new(executor.clone()), copies);
    let processor = Processor::with_framer(Records, transducer, LineFramer::new(MAX_LINE));
    let mut events = Vec::new();
    let read = |chunk: &mut Vec<u8>| {
        let (piece, rest) = bytes.split_at(length.min(bytes.len()));
        chunk.extend_from_slice(piece);
        bytes = rest;
        Ok::<_, Infallible>(())
    };
    let each = |event| events.push(event);
    let Ok(processor) = processor.relay(&ahead, read, each, |_| Ok(()));
    let (counts, position) = (processor.counts(), processor.position());
    processor.finish(|event| events.push(event));
    (events, counts, position)
}
