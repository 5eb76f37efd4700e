//! A log that is read in two runs: the data needed to resume is one value, stored in between.
//!
//! `Transducer::restore` restores a reducer's state and the memory of each emitter; the snapshot of a `Processor`
//! does the same for bytes, with positions and a version. `Segments` turns such snapshots into the commits of a
//! ledger.

use foldline::{
    processor::{DEFAULT_MAX_LINE, Processor, Snapshot},
    transduce::Transducer,
};
use foldline_agents::{ExecutorReducer, Records, State, droid::Droid};
use foldline_domain::{
    LocatingState, locating,
    patch::{PatchStream, PatchStreamState},
};

const LOG: &str = include_str!("../../examples/session.jsonl");

type Stored = Snapshot<LocatingState<Box<State<Droid>>>, PatchStreamState>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let executor = ExecutorReducer::new(Droid);
    let (first, _) = LOG.split_at(LOG.len() / 2);

    // The first run ends in the middle of a line.
    let mut patches = Vec::new();
    let mut processor =
        Processor::new(Records, Transducer::new(locating(executor), PatchStream::default()));
    processor.push(first.as_bytes(), |patch| patches.push(patch));
    let stored = processor.snapshot().to_json()?;

    // The second run, possibly in another process, begins with that line.
    let snapshot = Stored::from_json(&stored)?;
    let position = snapshot.framer.position;
    let reducer = locating(executor);
    let mut processor =
        Processor::resume(Records, reducer, snapshot, PatchStream::default(), DEFAULT_MAX_LINE);
    let from = usize::try_from(position.offset)?;
    processor.push(&LOG.as_bytes()[from..], |patch| patches.push(patch));
    let counts = processor.finish(|patch| patches.push(patch)).counts;

    assert!(patches.iter().map(|patch| patch.seq).eq(1..=patches.len() as u64));
    assert_eq!(counts.lines, LOG.lines().count() as u64);
    println!(
        "stopped before line {} with a snapshot of {} bytes; {} patches in all",
        position.line,
        stored.get().len(),
        patches.len()
    );
    Ok(())
}
