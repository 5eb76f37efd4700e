//! A log that is read in two goes: what is needed to go on is one value, stored between them.
//!
//! `Transducer::restore` takes up a reducer's state, and each emitter what it remembered; `Processor`
//! and `Checkpoint` do the same for bytes, with positions, a version and a digest.

use foldline::{
    conversation::{LocatingState, locating},
    emitters::patch::{PatchStream, PatchStreamState},
    executors::{Executor, Reducing, State, droid::Droid},
    ledger::{Extent, Identity},
    processor::{Checkpoint, DEFAULT_MAX_LINE, Processor, Snapshot},
    transduce::Transducer,
};

const LOG: &str = include_str!("session.jsonl");

type Stored = Checkpoint<LocatingState<Box<State<Droid>>>, PatchStreamState>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let executor = Reducing::new(Droid);
    let (first, _) = LOG.split_at(LOG.len() / 2);

    // The first go ends in the middle of a line.
    let mut patches = Vec::new();
    let mut processor = Processor::new(Transducer::new(locating(executor), PatchStream::default()));
    processor.push(first.as_bytes(), |patch| patches.push(patch));
    let Snapshot { framer, counts, state, emitter } = processor.state();
    let checkpoint: Stored = Checkpoint {
        processor: Snapshot { framer, counts, state: state.clone(), emitter: () },
        emitter,
        format: Droid::FORMAT.name.to_owned(),
        // By what a file is recognised again: whoever has one states it here.
        source: Identity::default(),
        output: Extent::default(),
    };
    let stored = checkpoint.to_bytes()?;

    // The second one, perhaps in another process, begins with that line.
    let checkpoint = Stored::from_bytes(&stored)?;
    let position = checkpoint.processor.framer.position;
    let Snapshot { framer, counts, state, emitter: () } = checkpoint.processor;
    let snapshot = Snapshot { framer, counts, state, emitter: checkpoint.emitter };
    let reducer = locating(executor);
    let mut processor =
        Processor::resume(reducer, snapshot, PatchStream::default(), DEFAULT_MAX_LINE);
    let from = usize::try_from(position.offset)?;
    processor.push(&LOG.as_bytes()[from..], |patch| patches.push(patch));
    let counts = processor.finish(|patch| patches.push(patch)).counts;

    assert!(patches.iter().map(|patch| patch.seq).eq(1..=patches.len() as u64));
    assert_eq!(counts.lines, LOG.lines().count() as u64);
    println!(
        "stopped before line {} with a checkpoint of {} bytes; {} patches in all",
        position.line,
        stored.len(),
        patches.len()
    );
    Ok(())
}
