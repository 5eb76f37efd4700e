//! Going on from any bytes as a checkpoint is refused, or works without a panic.
#![no_main]

use foldline::{
    conversation::{DomainEvent, Located, LocatingState, locating},
    emitters::patch::{PatchRecord, PatchStream, PatchStreamState},
    executors::{Executor, ExecutorState},
    processor::{Checkpoint, Processor},
    transduce::{Batch, emit_fn},
};
use libfuzzer_sys::fuzz_target;

type Stored = Checkpoint<LocatingState<ExecutorState>, PatchStreamState>;

fuzz_target!(|bytes: &[u8]| {
    // With the digest, and past it.
    let stored = Stored::from_bytes(bytes).ok().or_else(|| serde_json::from_slice(bytes).ok());
    let Some(stored) = stored else { return };
    for format in Executor::FORMATS {
        let stored = stored.clone();
        let executor = Executor::of(*format).expect("every format listed has an executor");
        let mut stream = PatchStream::restore(stored.emitter);
        let emitter = emit_fn(|event: &Located<DomainEvent>| {
            Batch::<PatchRecord>::from(stream.record(event))
        });
        let mut processor =
            Processor::restore(locating(executor), stored.processor, emitter, 300);
        processor.push(b"{\"type\":\"tool_result\",\"id\":\"a\",\"value\":\"x\"}\n", |_| {});
        processor.finish(|_| {});
    }
});
