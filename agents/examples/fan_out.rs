//! One reducer for Droid, and three consumers of its events in one pass: patches, metrics and an audit trail.
//!
//! A tuple is the fan-out. The output of each consumer is the same as when it runs alone, and it is independent of
//! agents.

use std::convert::Infallible;

use foldline::{
    processor::Processor,
    transduce::{Batch, Transducer},
};
use foldline_agents::{ExecutorReducer, Records, Sessions, droid::Droid};
use foldline_domain::{
    audit::{AuditTrail, verify},
    metrics::Metrics,
    patch::{PatchRecord, PatchStream},
};

const LOG: &str = include_str!("../../examples/session.jsonl");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let reducer = Sessions::new(ExecutorReducer::new(Droid));
    let consumers =
        (PatchStream::default(), Metrics::default(), AuditTrail::of_log("session.jsonl"));
    let mut processor =
        Processor::new(Records, Transducer::new(reducer, consumers)).with_line_hashes();

    let (mut patches, mut trail) = (Vec::new(), String::new());
    type Outputs = (Batch<PatchRecord>, Batch<Infallible>, Batch<String>);
    let mut take = |(records, _, lines): Outputs| {
        patches.extend(records);
        lines.drain_with(|line| trail += &(line + "\n"));
    };
    processor.push(LOG.as_bytes(), &mut take);
    let finished = processor.finish(&mut take);
    let (_, mut metrics, _) = finished.emitter;
    metrics.add_read(finished.counts.into());

    println!("the last patch: {}\n", serde_json::to_string(&patches.last())?);
    println!("{}", metrics.render());
    let verified = verify(trail.as_bytes(), |_| {})?.map_err(|broken| format!("{broken:?}"))?;
    println!("an audit trail of {} records, its head {}", verified.count, verified.hash);
    Ok(())
}
