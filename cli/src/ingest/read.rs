//! A file, from where it was left, as commits. Knows no database.

use std::{convert::Infallible, io};

use serde::{Deserialize, Serialize, de::IgnoredAny};

use super::plan::{Plan, Start};
use crate::{error::Error, input::Input};
use foldline::{
    conversation::{
        ByItem, DomainEvent, Json, Located, Locating, LocatingState, Position, SessionId, TaskId,
        by_item, locating,
    },
    emitters::{
        metrics::Metrics,
        sqlite::{RowEmitter, Rows},
    },
    executors::{AnyState, DynExecutor, Registry},
    ledger::{Checkpoint, Commit, SourceFacts},
    processor::{Counts, DEFAULT_MAX_LINE, Finished, FramerState, LastLine, Processor, Snapshot},
    source::LogFile,
    transduce::{Batch, Emitter, Gather, Reducer, Resume},
};

/// How many bytes of a log make a commit.
const STRETCH: u64 = 1 << 20;

/// What reading a file comes to, piece by piece.
pub(super) enum Piece {
    /// What is stored of the source is not to be gone on with.
    Forget,
    /// More of it.
    Stretch(Box<Stretch>),
    /// The end of the file.
    End(End),
    /// It could not be read, or not to its end.
    Failed(Error),
}

impl Piece {
    /// How much of a log it is.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Stretch(stretch) => stretch.bytes,
            Self::Forget | Self::End(_) | Self::Failed(_) => 0,
        }
    }
}

/// What is committed at once.
pub(super) struct Stretch {
    /// Made ready here, by the thread that reads: the one that writes has enough to do.
    pub(super) commit: Commit<Rows>,
    /// For the audit trail, if there is one.
    pub(super) records: Option<Records>,
    /// How much of the file it is.
    pub(super) bytes: u64,
}

/// What an audit trail says of a stretch.
pub(super) struct Records {
    pub(super) log: String,
    pub(super) task: Option<TaskId>,
    /// The session that the stretch begins within.
    pub(super) session: Option<SessionId>,
    pub(super) events: Vec<Located<DomainEvent>>,
}

/// What there is to say at the end of a file.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// Something was committed.
    pub(super) has_news: bool,
    /// It ends in the middle of a line, which was left for the next time.
    pub(super) mid_line: bool,
}

/// Reads a file. Stops early when `each` says `false`.
pub(super) fn read(plan: &Plan, each: &mut dyn FnMut(Piece) -> bool) {
    let last = match try_read(plan, each) {
        Ok(Some(end)) => Piece::End(end),
        Ok(None) => return,
        Err(error) => Piece::Failed(error),
    };
    each(last);
}

/// What ingest makes of a log's events.
type Fan = (ByItem<Metrics>, RowEmitter, Option<Kept>);
type LogProcessor = Processor<Locating<DynExecutor>, LocatingState<AnyState>, Fan>;
type LogSnapshot<S = AnyState> = Snapshot<LocatingState<S>, <Fan as Resume>::State>;

/// Keeps events as they are, for the trail.
#[derive(Default)]
struct Kept {
    events: Vec<Located<DomainEvent>>,
    size: usize,
}

impl Emitter<Located<DomainEvent>, Infallible> for Kept {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        self.size = self.size.saturating_add(event.item.size());
        self.events.push(event.clone());
        Batch::EMPTY
    }
}

impl Gather for Kept {
    type Stretch = Vec<Located<DomainEvent>>;

    fn cut(&mut self) -> Self::Stretch {
        std::mem::take(self).events
    }

    fn size(&self) -> usize {
        self.size
    }
}

impl Resume for Kept {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}

/// The emitters here gather, and give nothing at once.
fn nothing(_: (Batch<Infallible>, Batch<Infallible>, Batch<Infallible>)) {}

fn try_read(plan: &Plan, each: &mut dyn FnMut(Piece) -> bool) -> Result<Option<End>, Error> {
    let mut expected = None;
    let mut input = Input::new(LogFile::open_regular(&plan.path)?, DEFAULT_MAX_LINE)?;
    let mut restored = None;
    if let Start::Resume(checkpoint) = &plan.start {
        let registry = Registry::builtin();
        let executor = registry.named(&checkpoint.facts.format);
        if let Some((executor, snapshot)) = executor
            .and_then(|executor| Some((executor, State::read(&checkpoint.state, executor)?)))
        {
            if !input.log_mut().starts_with(checkpoint.facts.identity.read)? {
                let error = io::Error::other("replaced by another file meanwhile");
                return Err(fail(plan, error));
            }
            input.log_mut().seek(checkpoint.position.offset)?;
            let executor = executor.clone();
            expected = Some(checkpoint.position);
            restored = Some((executor, snapshot));
        }
    }
    if expected.is_none() && !matches!(plan.start, Start::New) && !each(Piece::Forget) {
        return Ok(None);
    }
    let (executor, snapshot) = match restored {
        Some(restored) => restored,
        None => {
            let executor = input.executor(&plan.executor)?;
            let (state, emitter) = (locating(&executor).init(), Default::default());
            let (framer, counts) = (FramerState::default(), Counts::default());
            (executor, Snapshot { framer, counts, state, emitter })
        }
    };
    let position = snapshot.framer.position;
    let first = expected;
    let session = snapshot.emitter.0.session_id().cloned();
    let fan =
        (by_item(Metrics::default()), RowEmitter::default(), plan.audited.then(Kept::default));
    let format = executor.format().name;
    let mut processor = Processor::resume(locating(executor), snapshot, fan, DEFAULT_MAX_LINE);
    if plan.audited {
        processor = processor.with_line_hashes();
    }
    let begun = position.offset;
    let mut log = Log { plan, format, expected, begun, session };
    loop {
        let bytes = input.log_mut().read()?;
        if bytes.is_empty() {
            break;
        }
        processor.push(bytes, nothing);
        if log.pending(processor.position()) >= STRETCH
            && !each(log.stretch(&mut input, &mut processor)?)
        {
            return Ok(None);
        }
    }
    if plan.complete {
        let mut finished = processor.finish(nothing);
        let has_news = log.has_news(finished.framer.position);
        if has_news && !each(log.last_stretch(&mut input, &mut finished)?) {
            return Ok(None);
        }
        return Ok(Some(End { mid_line: false, has_news: has_news || log.expected != first }));
    }
    let mid_line = processor.flush_last_line(nothing) == LastLine::Left;
    let has_news = log.has_news(processor.position());
    if has_news && !each(log.stretch(&mut input, &mut processor)?) {
        return Ok(None);
    }
    Ok(Some(End { mid_line, has_news: has_news || log.expected != first }))
}

fn fail(plan: &Plan, error: io::Error) -> Error {
    Error::Input { path: plan.path.clone(), error }
}

/// A file that is being read, as the ledger sees it.
struct Log<'p> {
    plan: &'p Plan,
    format: &'static str,
    /// The position of the last commit.
    expected: Option<Position>,
    /// Where the stretch begins that is not committed yet.
    begun: u64,
    /// The session that it begins within.
    session: Option<SessionId>,
}

impl Log<'_> {
    fn pending(&self, position: Position) -> u64 {
        position.offset.saturating_sub(self.begun)
    }

    fn has_news(&self, position: Position) -> bool {
        let has_moved = match &self.plan.start {
            Start::Resume(checkpoint) => {
                checkpoint.facts.path != self.plan.stored_path()
                    || checkpoint.complete != self.plan.complete
            }
            Start::New | Start::Again => false,
        };
        has_moved || self.expected != Some(position)
    }

    fn stretch(&mut self, input: &mut Input, processor: &mut LogProcessor) -> Result<Piece, Error> {
        let state = State::write(&processor.state());
        let session = processor.transducer().emitter().0.get_ref().session_id().cloned();
        let cut = processor.cut();
        self.commit(input, processor.position(), state, cut, session, false)
    }

    fn last_stretch(
        &mut self,
        input: &mut Input,
        finished: &mut Finished<LocatingState<AnyState>, Fan>,
    ) -> Result<Piece, Error> {
        let state = State::write(&finished.snapshot());
        let cut = finished.emitter.cut();
        self.commit(input, finished.framer.position, state, cut, None, true)
    }

    fn commit(
        &mut self,
        input: &mut Input,
        position: Position,
        state: io::Result<Json>,
        cut: <Fan as Gather>::Stretch,
        next_session: Option<SessionId>,
        complete: bool,
    ) -> Result<Piece, Error> {
        // A file that was truncated meanwhile is not recognised again: what was read of it stays.
        let identity = input.log_mut().identity(position.offset)?.unwrap_or_default();
        let facts = SourceFacts {
            path: self.plan.stored_path(),
            format: self.format.to_owned(),
            task: self.plan.task.clone(),
            identity,
        };
        let ((), rows, kept) = cut;
        let session = std::mem::replace(&mut self.session, next_session);
        let records = kept.map(|events| Records {
            log: facts.path.clone(),
            task: facts.task.clone(),
            session,
            events,
        });
        let state = state.map_err(|error| fail(self.plan, error))?;
        let commit = Commit {
            source: self.plan.name.clone(),
            expected: self.expected,
            checkpoint: Checkpoint { facts, position, state, complete },
            output: rows,
        };
        let bytes = self.pending(position);
        self.expected = Some(position);
        self.begun = position.offset;
        Ok(Piece::Stretch(Box::new(Stretch { commit, records, bytes })))
    }
}

/// What is stored: the processor's snapshot, with a version.
#[derive(Serialize, Deserialize)]
struct State<S> {
    version: u32,
    snapshot: S,
}

/// Changes when a stored state would no longer mean the same.
const STATE_VERSION: u32 = 2;

impl State<LogSnapshot<Json>> {
    /// `None` if it is not one that this version can go on from.
    fn read(json: &Json, executor: &DynExecutor) -> Option<LogSnapshot> {
        let Self { version, snapshot } = serde_json::from_str(json.get()).ok()?;
        let restore = |state: Json| executor.restore(state.get());
        let snapshot = snapshot.try_map_state(|state| state.try_map(restore)).ok()?;
        (version == STATE_VERSION).then_some(snapshot)
    }
}

impl<S: Serialize> State<&S> {
    fn write(snapshot: &S) -> io::Result<Json> {
        Ok(Json::of(&State { version: STATE_VERSION, snapshot })?)
    }
}

/// What was counted of all the logs whose states these are.
pub(super) fn count_all(states: &[Json]) -> Metrics {
    let mut all = Metrics::default();
    for state in states {
        // A state of another version has nothing to add: its log is read again when it grows.
        type Stored = State<Snapshot<IgnoredAny, (Metrics, IgnoredAny, IgnoredAny)>>;
        let stored = serde_json::from_str::<Stored>(state.get());
        if let Ok(State { version: STATE_VERSION, snapshot }) = stored {
            let Snapshot { counts, emitter: (mut metrics, ..), .. } = snapshot;
            metrics.add_read(counts.into());
            metrics.end_log();
            all.add(&metrics);
        }
    }
    all
}
