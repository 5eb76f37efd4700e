//! One driver with two kinds of ledgers.

use std::{fs, path::Path};

use foldline::{
    ledger::{
        Checkpoint, Commit, CommitError, FileLedger, FileLedgerError, Ledger, SourceFacts,
        SourceName,
    },
    processor::{DEFAULT_MAX_LINE, Processor, Snapshot},
    transduce::{Batch, Emitter, Gather, Reducer, Resume},
};
use foldline_agents::{Records, Reducing, droid::Droid, wire::Record};
use foldline_database::{
    RowEmitter,
    sqlite::{DEFAULT_WAIT, Database},
};
use foldline_domain::{
    DomainEvent, Json, Located, Position, locating,
    metrics::Metrics,
    patch::{PatchRecord, PatchStream, PatchStreamState},
};
use serde::{Serialize, de::DeserializeOwned};

/// Collects patches as lines, like the output of `replay --format patches`.
#[derive(Default)]
struct PatchLines {
    stream: PatchStream,
    bytes: Vec<u8>,
}

impl PatchLines {
    fn write(&mut self, records: Batch<PatchRecord>) -> Batch<()> {
        for record in records {
            foldline_json::append(&mut self.bytes, &record).unwrap();
            self.bytes.push(b'\n');
        }
        Batch::EMPTY
    }
}

impl Emitter<Located<DomainEvent>, ()> for PatchLines {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<()> {
        let records = self.stream.emit(event);
        self.write(records)
    }

    fn finish(&mut self) -> Batch<()> {
        let records = self.stream.finish();
        self.write(records)
    }
}

impl Gather for PatchLines {
    type Segment = Vec<u8>;

    fn cut(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    fn size(&self) -> usize {
        self.bytes.len()
    }
}

impl Resume for PatchLines {
    type State = PatchStreamState;

    fn state(&self) -> PatchStreamState {
        self.stream.state()
    }

    fn resume(&mut self, state: PatchStreamState) {
        self.stream.resume(state);
    }
}

/// An output and a value next to it that has no output.
struct Beside<M, S>(M, S);

impl<Event, M, S, A, B> Emitter<Event, (Batch<A>, Batch<B>)> for Beside<M, S>
where
    M: Emitter<Event, A>,
    S: Emitter<Event, B>,
{
    fn emit(&mut self, event: &Event) -> Batch<(Batch<A>, Batch<B>)> {
        let both = (self.0.emit(event), self.1.emit(event));
        if both.0.is_empty() && both.1.is_empty() { Batch::EMPTY } else { Batch::one(both) }
    }
}

impl<M: Gather, S: Gather<Segment = ()>> Gather for Beside<M, S> {
    type Segment = M::Segment;

    fn cut(&mut self) -> M::Segment {
        self.1.cut();
        self.0.cut()
    }

    fn size(&self) -> usize {
        self.0.size() + self.1.size()
    }
}

impl<M: Resume, S: Resume> Resume for Beside<M, S> {
    type State = (M::State, S::State);

    fn state(&self) -> Self::State {
        (self.0.state(), self.1.state())
    }

    fn resume(&mut self, (main, side): Self::State) {
        self.0.resume(main);
        self.1.resume(side);
    }
}

/// Continues from the ledger's position with at most `segments` commits. Returns whether the input is complete.
fn drive<L, R, S, M, Out>(
    ledger: &mut L,
    name: &SourceName,
    reducer: R,
    emitter: M,
    log: &[u8],
    segments: usize,
) -> Result<bool, CommitError<L::Error>>
where
    R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    S: Serialize + DeserializeOwned,
    M: Emitter<Located<DomainEvent>, Out> + Gather + Resume<State: Serialize + DeserializeOwned>,
    L: Ledger<Output = M::Segment>,
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
    let mut done = 0;
    let begin = usize::try_from(processor.position().offset).unwrap();
    let facts = || SourceFacts { path: name.to_string(), ..SourceFacts::default() };
    for chunk in log[begin..].chunks(700) {
        processor.push(chunk, |_| {});
        let position = processor.position();
        if expected == Some(position) {
            continue;
        }
        let state = Json::of(&processor.snapshot()).unwrap();
        let output = processor.cut();
        let checkpoint = Checkpoint { facts: facts(), position, state, complete: false };
        ledger.commit(&[Commit { source: name.clone(), expected, checkpoint, output }], &[])?;
        expected = Some(position);
        done += 1;
        if done == segments {
            return Ok(false);
        }
    }
    let mut finished = processor.finish(|_| {});
    let state = Json::of(&finished.snapshot()).unwrap();
    let output = finished.emitter.cut();
    let position = finished.framer.position;
    let checkpoint = Checkpoint { facts: facts(), position, state, complete: true };
    ledger.commit(&[Commit { source: name.clone(), expected, checkpoint, output }], &[])?;
    Ok(true)
}

fn log() -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read(root.join("examples/session.jsonl")).unwrap()
}

#[test]
fn a_file_that_is_stopped_anywhere_comes_out_the_same() {
    let executor = Reducing::new(Droid);
    let folder = tempfile::tempdir().unwrap();
    let name = SourceName::from("log");
    let mut whole = Vec::new();
    for step in [usize::MAX, 1, 2, 3] {
        let (out, journal) =
            (folder.path().join(format!("{step}")), folder.path().join(format!("{step}.j")));
        let mut rounds = 0;
        loop {
            let mut ledger = FileLedger::open(&out, &journal).unwrap();
            let fan = Beside(PatchLines::default(), Metrics::default());
            let all = drive(&mut ledger, &name, locating(executor), fan, &log(), step).unwrap();
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
    let executor = Reducing::new(Droid);
    let folder = tempfile::tempdir().unwrap();
    let name = SourceName::from("log");
    let mut entries = Vec::new();
    for step in [usize::MAX, 1] {
        let path = folder.path().join(format!("{step}"));
        loop {
            let mut database = Database::open(&path, DEFAULT_WAIT).unwrap();
            let fan = Beside(RowEmitter::default(), Metrics::default());
            if drive(&mut database, &name, locating(executor), fan, &log(), step).unwrap() {
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
