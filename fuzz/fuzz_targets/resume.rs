//! Resuming from arbitrary bytes as a checkpoint is refused, or works without a panic.
#![no_main]

use foldline_agents::{Records, Registry};
use foldline_domain::{Json, locating, LocatingState, patch::{PatchRecord, PatchStream, PatchStreamState}};
use foldline::processor::{Processor, Snapshot};
use libfuzzer_sys::fuzz_target;

type Stored = Snapshot<LocatingState<Json>, PatchStreamState>;

fuzz_target!(|bytes: &[u8]| {
    let Ok(stored) = serde_json::from_slice::<Stored>(bytes) else { return };
    for executor in Registry::builtin().iter() {
        let restore = |state: Json| executor.restore(state.get());
        let snapshot = stored.clone().try_map_state(|state| state.try_map(restore));
        let Ok(snapshot) = snapshot else { continue };
        let stream = PatchStream::default();
        let mut processor = Processor::resume(Records, locating(executor), snapshot, stream, 300);
        let line = b"{\"type\":\"tool_result\",\"id\":\"a\",\"value\":\"x\"}\n";
        processor.push(line, |_: PatchRecord| {});
        processor.finish(|_| {});
    }
});
