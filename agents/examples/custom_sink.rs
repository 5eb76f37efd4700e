//! An additional consumer next to the patches: a CSV of slow or failed tool calls, for a spreadsheet.
//!
//! A consumer implements one method, is independent of agents, and does not touch reducers. It runs in the same pass
//! as the others, and the output of each is the same as when it runs alone.

use std::{fs, path::Path};

use foldline::{
    processor::Processor,
    transduce::{Batch, Emitter, Transducer},
};
use foldline_agents::{Records, Registry};
use foldline_domain::{DomainEvent, by_item, locating, patch::PatchEmitter};

/// Emits a line of CSV for each call that failed or took longer than the limit.
struct SlowCalls {
    limit_ms: u64,
}

impl Emitter<DomainEvent, String> for SlowCalls {
    fn emit(&mut self, event: &DomainEvent) -> Batch<String> {
        let DomainEvent::UpdateToolCall { corr_id, entry } = event else { return Batch::EMPTY };
        let Some(tool) = entry.tool().filter(|tool| tool.status.is_final()) else {
            return Batch::EMPTY;
        };
        let took = tool.duration_ms.unwrap_or(0);
        if took <= self.limit_ms && !tool.status.is_failure() {
            return Batch::EMPTY;
        }
        let status = tool.status.name();
        Batch::one(format!("{corr_id},{},{status},{took}", tool.tool_name))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/session.jsonl"))?;
    let executor =
        Registry::builtin().named("droid").cloned().ok_or("this build has no Droid executor")?;

    // A tuple is a fan-out: both receive every event, in one pass, and keep their own types.
    let both = (PatchEmitter::default(), SlowCalls { limit_ms: 1_000 });
    let both = by_item(both);
    let mut processor = Processor::new(Records, Transducer::new(locating(executor), both));

    let (mut patches, mut slow) = (0, Vec::new());
    let mut take = |(patch, line): (Batch<_>, Batch<String>)| {
        patches += patch.len();
        slow.extend(line);
    };
    processor.push(&log, &mut take);
    processor.finish(&mut take);

    println!("call,tool,status,milliseconds\n{}", slow.join("\n"));
    eprintln!("{patches} patches in the same pass");
    assert_eq!(slow.len(), 2, "one command failed and one was slow");
    Ok(())
}
