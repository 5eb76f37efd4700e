//! One driver with two kinds of ledgers.

use std::{fs, mem, path::Path};

use foldline::{
    ledger::{
        Checkpoint, Commit, CommitError, FileLedger, FileLedgerError, Ledger, SourceFacts,
        SourceName,
    },
    processor::{Collect, DEFAULT_MAX_LINE, Processor, Snapshot},
    transduce::{Emitter, Reducer, Resume, Tee, map},
};
use foldline_agents::{ExecutorReducer, Records, droid::Droid, wire::Record};
use foldline_database::{
    RowChanges, RowEmitter,
    sqlite::{DEFAULT_WAIT, Database},
};
use foldline_domain::{
    DomainEvent, Json, Located, Position, locating,
    metrics::Metrics,
    patch::{PatchRecord, PatchStream, PatchStreamState},
};
use serde::{Serialize, de::DeserializeOwned};

/// Patches as lines, like the output of `replay --format patches`.
fn patch_lines() -> impl Emitter<Located<DomainEvent>, Vec<u8>> + Resume<State = PatchStreamState> {
    map(PatchStream::default(), |record: PatchRecord| {
        let mut line = Vec::new();
        foldline_json::append(&mut line, &record).unwrap();
        line.push(b'\n');
        line
    })
}

/// Continues from the ledger's position with at most `segments` commits. Returns whether the input is complete.
fn drive<L, R, S, M, C>(
    ledger: &mut L,
    name: &SourceName,
    reducer: R,
    emitter: M,
    log: &[u8],
    segments: usize,
    output: impl Fn(C) -> L::Output,
) -> Result<bool, CommitError<L::Error>>
where
    R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    S: Serialize + DeserializeOwned,
    M: Emitter<Located<DomainEvent>, C::Item> + Resume<State: Serialize + DeserializeOwned>,
    C: Collect,
    L: Ledger,
{
    let stored = ledger.load(name)?;
    let mut expected = None;
    let mut processor = match stored {
        Some(Checkpoint { complete: true, .. }) => return Ok(true),
        Some(Checkpoint { position, state, .. }) => {
            expected = Some(position);
            let snapshot: Snapshot<S, M::State> = serde_json::from_str(state.get()).unwrap();
            Processor::resume(Records, reducer, snapshot, emitter, DEFAULT_MAX_LINE)
        }
        None => {
            let (state, memory) = (reducer.init(), emitter.state());
            let snapshot = Snapshot {
                framer: Default::default(),
                within: None,
                counts: Default::default(),
                state,
                emitter: memory,
            };
            Processor::resume(Records, reducer, snapshot, emitter, DEFAULT_MAX_LINE)
        }
    };
    let (mut done, mut collected) = (0, C::default());
    let begin = usize::try_from(processor.position().offset).unwrap();
    let facts = || SourceFacts { path: name.to_string(), ..SourceFacts::default() };
    for chunk in log[begin..].chunks(700) {
        processor.push(chunk, |out| collected.add(out));
        let position = processor.position();
        if expected == Some(position) {
            continue;
        }
        let state = Json::of(&processor.snapshot()).unwrap();
        let output = output(mem::take(&mut collected));
        let checkpoint = Checkpoint { facts: facts(), position, state, complete: false };
        ledger.commit(&[Commit { source: name.clone(), expected, checkpoint, output }], &[])?;
        expected = Some(position);
        done += 1;
        if done == segments {
            return Ok(false);
        }
    }
    let finished = processor.finish(|out| collected.add(out));
    let state = Json::of(&finished.snapshot()).unwrap();
    let output = output(collected);
    let position = finished.framer.position;
    let checkpoint = Checkpoint { facts: facts(), position, state, complete: true };
    ledger.commit(&[Commit { source: name.clone(), expected, checkpoint, output }], &[])?;
    Ok(true)
}

fn log() -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read(root.join("../examples/session.jsonl")).unwrap()
}

#[test]
fn a_file_that_is_stopped_anywhere_comes_out_the_same() {
    let executor = ExecutorReducer::new(Droid);
    let folder = tempfile::tempdir().unwrap();
    let name = SourceName::from("log");
    let mut whole = Vec::new();
    for step in [usize::MAX, 1, 2, 3] {
        let (out, journal) =
            (folder.path().join(format!("{step}")), folder.path().join(format!("{step}.j")));
        let mut rounds = 0;
        loop {
            let mut ledger = FileLedger::open(&out, &journal).unwrap();
            let fan = Tee { main: patch_lines(), side: Metrics::default() };
            let (reducer, log, same) = (locating(executor), log(), |lines: Vec<u8>| lines);
            let all = drive(&mut ledger, &name, reducer, fan, &log, step, same).unwrap();
            rounds += 1;
            drop(ledger);
            if all {
                break;
            }
            // Killed while writing the next segment.
            let mut bytes = fs::read(&out).unwrap();
            bytes.extend_from_slice(b"{\"seq\":99");
            fs::write(&out, bytes).unwrap();
        }
        let bytes = fs::read(&out).unwrap();
        if whole.is_empty() {
            whole = bytes;
            assert_eq!(rounds, 1);
        } else {
            assert!(rounds > 2);
            assert!(bytes == whole, "in steps of {step}");
        }
    }
    assert!(whole.len() > 1000);
}

#[test]
fn the_same_driver_fills_a_database() {
    let executor = ExecutorReducer::new(Droid);
    let folder = tempfile::tempdir().unwrap();
    let name = SourceName::from("log");
    let mut entries = Vec::new();
    for step in [usize::MAX, 1] {
        let path = folder.path().join(format!("{step}"));
        loop {
            let mut database = Database::open(&path, DEFAULT_WAIT).unwrap();
            let fan = Tee { main: RowEmitter, side: Metrics::default() };
            let (reducer, log) = (locating(executor), log());
            if drive(&mut database, &name, reducer, fan, &log, step, RowChanges::into_rows).unwrap()
            {
                break;
            }
        }
        entries.push(Database::open(&path, DEFAULT_WAIT).unwrap().totals().unwrap());
    }
    assert_eq!(entries[0], entries[1]);
}

#[test]
fn a_journal_is_of_one_writer_whatever_its_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let refused = |output: &str| {
        let error = FileLedger::open(&path(output), &path("journal")).unwrap_err();
        assert!(matches!(error, FileLedgerError::JournalLocked), "{error}");
        let error = FileLedger::begin_anew(&path(output), &path("journal")).unwrap_err();
        assert!(matches!(error, FileLedgerError::JournalLocked), "{error}");
    };
    let mut ledger = FileLedger::open(&path("one"), &path("journal")).unwrap();
    refused("two");
    for line in 1..4 {
        let name = SourceName::from("log");
        let expected = ledger.load(&name).unwrap().map(|stored| stored.position);
        let position = Position { line, offset: line };
        let (facts, state) = (SourceFacts::default(), Json::default());
        let checkpoint = Checkpoint { facts, position, state, complete: false };
        let commit = Commit { source: name, expected, checkpoint, output: b"line\n".to_vec() };
        ledger.commit(&[commit], &[]).unwrap();
        // The replaced journal is also locked.
        refused("two");
    }
    drop(ledger);
    // The journal belongs to another output.
    let error = FileLedger::open(&path("two"), &path("journal")).unwrap_err();
    assert!(matches!(error, FileLedgerError::Output), "{error}");
    assert_eq!(fs::read(path("one")).unwrap(), b"line\n".repeat(3));

    // Another program that ignores the lock has replaced it.
    let mut ledger = FileLedger::open(&path("one"), &path("journal")).unwrap();
    fs::copy(path("journal"), path("other")).unwrap();
    fs::rename(path("other"), path("journal")).unwrap();
    let error = ledger.commit(&[], &[]).unwrap_err().to_string();
    assert!(error.contains("another program has replaced it"), "{error}");
}

/// Nothing says that an output without a journal belongs to the ledger: it may be a file of the user.
#[test]
fn an_output_without_its_journal_is_not_truncated() {
    let folder = tempfile::tempdir().unwrap();
    let (output, journal) = (folder.path().join("output"), folder.path().join("journal"));
    fs::write(&output, "of the user").unwrap();
    let refused = FileLedger::open(&output, &journal).unwrap_err();
    assert!(matches!(refused, FileLedgerError::NoJournal), "{refused}");
    assert_eq!(fs::read_to_string(&output).unwrap(), "of the user");
    assert!(!journal.exists());
    FileLedger::begin_anew(&output, &journal).unwrap();
}
