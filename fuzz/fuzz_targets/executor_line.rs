//! Executors read lines: no panic, JSON out, and a state that can be stored.
#![no_main]

use foldline::{
    processor::{LineFramer, Processor, Snapshot},
    transduce::{Batch, Transducer, memoryless},
};
use foldline_agents::Records;
use foldline_agents::{DynExecutor, Registry, wire::Record};
use foldline_domain::{DomainEvent, Json, Located, LocatingState, locating};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let registry = Registry::builtin();
    let mut recogniser = registry.recogniser();
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines() {
        Record::read(line, |_, record| recogniser.observe(&record));
    }
    // Trying all executors would repeat the same work. The length chooses one that does not expect the lines.
    let recognised = recogniser.verdict().format().and_then(|format| registry.named(format.name));
    let other = registry.iter().nth(bytes.len() % registry.iter().count().max(1));
    recognised.into_iter().chain(other).for_each(|executor| check(executor, bytes));
});

fn check(executor: &DynExecutor, bytes: &[u8]) {
    let write = memoryless(|event: &Located<DomainEvent>| {
        let mut written = Vec::new();
        foldline_json::append(&mut written, event).expect("events have a JSON form");
        let read: Result<serde_json::Value, _> = serde_json::from_slice(&written);
        read.expect("what is written is JSON that others read");
        Batch::<()>::EMPTY
    });
    let transducer = Transducer::new(locating(executor), write);
    let mut processor = Processor::with_framer(Records, transducer, LineFramer::new(1 << 16));
    processor.push(bytes, |()| {});
    let stored = serde_json::to_string(&processor.snapshot()).expect("a state can be stored");
    let taken_up: Snapshot<LocatingState<Json>> =
        serde_json::from_str(&stored).expect("and taken up again");
    let taken_up = taken_up
        .try_map_state(|state| state.try_map(|state| executor.restore(state.get())))
        .expect("by its executor");
    assert_eq!(serde_json::to_string(&taken_up).expect("and stored"), stored);
    processor.finish(|()| {});
}
