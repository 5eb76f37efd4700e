//! Going on from any bytes as a checkpoint is refused, or works without a panic.
#![no_main]

use foldline::{
    conversation::{DomainEvent, Located, Json, LocatingState, locating},
    emitters::patch::{PatchRecord, PatchStream, PatchStreamState},
    executors::Registry,
    processor::{Checkpoint, Processor},
    transduce::{Batch, emit_fn},
};
use libfuzzer_sys::fuzz_target;

type Stored = Checkpoint<LocatingState<Json>, PatchStreamState>;

fuzz_target!(|bytes: &[u8]| {
    // With the digest, and past it.
    let stored = Stored::from_bytes(bytes).ok().or_else(|| serde_json::from_slice(bytes).ok());
    let Some(stored) = stored else { return };
    for executor in Registry::builtin().iter().cloned() {
        let stored = stored.clone();
        let restore = |state: Json| executor.restore(state.get());
        let Ok(snapshot) = stored.processor.try_map_state(|state| state.try_map(restore)) else {
            continue;
        };
        let mut stream = PatchStream::restore(stored.emitter);
        let emitter = emit_fn(|event: &Located<DomainEvent>| {
            Batch::<PatchRecord>::from(stream.record(event))
        });
        let mut processor =
            Processor::restore(locating(&executor), snapshot, emitter, 300);
        processor.push(b"{\"type\":\"tool_result\",\"id\":\"a\",\"value\":\"x\"}\n", |_| {});
        processor.finish(|_| {});
    }
});
