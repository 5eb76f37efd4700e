//! A file, from where it was left, as commits. Knows no database.

use std::{
    fs::File,
    io::{self, Read},
    sync::Arc,
};

use serde::{Deserialize, Serialize, de::IgnoredAny};

use super::{
    identity::identity,
    plan::{Plan, Start},
};
use crate::{
    cli::{error::Error, input::Input},
    conversation::{
        Digest, DomainEvent, Json, SessionId, Source, Sourced, SourcedState, TaskId, WithSource,
        with_source,
    },
    emitters::{
        metrics::{LinesRead, Metrics},
        sqlite::PreparedCommit,
    },
    executors::{Executor, ExecutorState, Format, wire::Record},
    ledger::{Commit, SourceFacts},
    processor::{DEFAULT_MAX_LINE, Frame, FramerState, LineFramer, read_records},
    transduce::Reducer,
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
    pub(super) commit: PreparedCommit,
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
    pub(super) events: Vec<Sourced<DomainEvent>>,
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

fn try_read(plan: &Plan, each: &mut dyn FnMut(Piece) -> bool) -> Result<Option<End>, Error> {
    let mut expected = None;
    let mut input = Input::open_at(&plan.path, 0)?;
    let mut restored = None;
    if let Start::Resume { checkpoint, next } = &plan.start {
        let format = Format::from_name(&checkpoint.facts.format);
        if let (Some(executor), Some(state)) =
            (format.and_then(Executor::of), State::read(&checkpoint.state))
        {
            input = Input::open_at(&plan.path, next.offset)?;
            expected = Some(checkpoint.position);
            restored = Some((executor, state, *next));
        }
    }
    if expected.is_none() && !matches!(plan.start, Start::New) && !each(Piece::Forget) {
        return Ok(None);
    }
    let (executor, state, position) = match restored {
        Some(restored) => restored,
        None => {
            let executor = input.executor(&plan.executor)?;
            let state =
                Progress { state: with_source(executor).init(), metrics: Metrics::default() };
            (executor, state, Source { line: 1, offset: 0 })
        }
    };
    let first = expected;
    let mut file = File::open(&plan.path).map_err(|error| fail(plan, error))?;
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(4).read_to_end(&mut head).map_err(|error| fail(plan, error))?;
    let session = state.metrics.session_id().cloned();
    let fold = LogFold::new(executor, state, plan.audited);
    let framer = LineFramer::restore(FramerState::at(position, &head), DEFAULT_MAX_LINE);
    let format = executor.format().name();
    let begun = position.offset;
    let mut reader = Reader { plan, format, file, framer, fold, expected, begun, session };
    let mut stopped = false;
    input
        .read_all(|bytes| {
            let Reader { framer, fold, .. } = &mut reader;
            framer.push(bytes, |frame| fold.line(frame));
            if !stopped && reader.pending() >= STRETCH {
                let piece = reader.commit(false)?;
                stopped = !each(piece);
            }
            if stopped { Err(Error::Output(io::ErrorKind::BrokenPipe.into())) } else { Ok(()) }
        })
        .or_else(|error| if stopped { Ok(()) } else { Err(error) })?;
    if stopped {
        return Ok(None);
    }
    let mid_line = reader.last_line();
    if plan.complete {
        reader.fold.finish();
    }
    let has_news = reader.has_news();
    if has_news {
        let piece = reader.commit(plan.complete)?;
        if !each(piece) {
            return Ok(None);
        }
    }
    Ok(Some(End { mid_line, has_news: has_news || reader.expected != first }))
}

fn fail(plan: &Plan, error: io::Error) -> Error {
    Error::Input { path: plan.path.clone(), error }
}

/// A file that is being read.
struct Reader<'p> {
    plan: &'p Plan,
    format: &'static str,
    /// For the identity: read at its own position.
    file: File,
    framer: LineFramer,
    fold: LogFold,
    /// The position of the last commit.
    expected: Option<Source>,
    /// Where the stretch begins that is not committed yet.
    begun: u64,
    /// The session that it begins within.
    session: Option<SessionId>,
}

impl Reader<'_> {
    fn pending(&self) -> u64 {
        self.framer.position().offset.saturating_sub(self.begun)
    }

    /// Takes the last line, which has no line end, if it can be no part of a longer one; says whether
    /// something was left.
    fn last_line(&mut self) -> bool {
        let (mut records, mut is_whole) = (0, true);
        self.framer.clone().finish(|frame| {
            read_records(frame, |record| {
                records += 1;
                is_whole &= matches!(record.item, Record::Object(_));
            });
        });
        if (records > 0 && is_whole) || self.plan.complete {
            let Self { framer, fold, .. } = self;
            framer.finish(|frame| fold.line(frame));
            return false;
        }
        records > 0
    }

    fn has_news(&self) -> bool {
        let has_moved = match &self.plan.start {
            Start::Resume { checkpoint, .. } => {
                checkpoint.facts.path != self.plan.stored_path()
                    || checkpoint.complete != self.plan.complete
            }
            Start::New | Start::Again => false,
        };
        has_moved || self.expected != Some(self.framer.position())
    }

    fn commit(&mut self, complete: bool) -> Result<Piece, Error> {
        let position = self.framer.position();
        let identity = identity(&mut self.file, position.offset);
        let facts = SourceFacts {
            path: self.plan.stored_path(),
            format: self.format.to_owned(),
            task: self.plan.task.clone(),
            identity: identity.map_err(|error| fail(self.plan, error))?,
        };
        let events = std::mem::take(&mut self.fold.events);
        let next_session = self.fold.metrics.session_id().cloned();
        let session = std::mem::replace(&mut self.session, next_session);
        let records = self.plan.audited.then(|| Records {
            log: facts.path.clone(),
            task: facts.task.clone(),
            session,
            events: events.clone(),
        });
        let commit = Commit {
            source: self.plan.name.clone(),
            facts,
            expected: self.expected,
            events,
            position,
            state: State::write(&self.fold).map_err(|error| fail(self.plan, error))?,
            complete,
        };
        let bytes = self.pending();
        self.expected = Some(position);
        self.begun = position.offset;
        Ok(Piece::Stretch(Box::new(Stretch { commit: commit.into(), records, bytes })))
    }
}

/// A reducer with its state, which collects events and counts them.
struct LogFold {
    reducer: WithSource<Executor>,
    /// Only ever `None` within a step.
    state: Option<SourcedState<ExecutorState>>,
    metrics: Metrics,
    events: Vec<Sourced<DomainEvent>>,
    /// Whether events carry the digest of their line.
    digests: bool,
}

impl LogFold {
    fn new(executor: Executor, progress: Progress, digests: bool) -> Self {
        let Progress { state, metrics } = progress;
        let reducer = with_source(executor);
        Self { reducer, state: Some(state), metrics, events: Vec::new(), digests }
    }

    fn line(&mut self, frame: Frame<'_>) {
        let Self { reducer, state, metrics, events, digests } = self;
        let kept_whole = frame.skipped == 0 && !frame.bytes.is_empty();
        let digest = (*digests && kept_whole).then(|| Arc::new(Digest::of(frame.bytes)));
        let mut read = LinesRead { lines: 1, ..LinesRead::default() };
        read_records(frame, |record| {
            read.records += 1;
            let before = state.take().unwrap_or_else(|| reducer.init());
            let (next, batch) = reducer.reduce(before, record.with_line_sha256(digest.clone()));
            *state = Some(next);
            batch.drain_with(|event| {
                metrics.count(&event.item);
                events.push(event);
            });
        });
        read.blank = u64::from(read.records == 0);
        metrics.add_read(read);
    }

    fn finish(&mut self) {
        if let Some(state) = self.state.take() {
            let (state, batch) = self.reducer.finish(state);
            self.state = Some(state);
            for event in batch {
                self.metrics.count(&event.item);
                self.events.push(event);
            }
        }
    }
}

/// How far a log was reduced, and what was counted of it.
struct Progress {
    state: SourcedState<ExecutorState>,
    metrics: Metrics,
}

/// The state as it is stored: the reducer's, and the emitters'.
#[derive(Serialize, Deserialize)]
struct State<S, M> {
    version: u32,
    state: S,
    metrics: M,
}

/// Changes when a stored state would no longer mean the same.
const STATE_VERSION: u32 = 1;

impl State<SourcedState<ExecutorState>, Metrics> {
    /// `None` if it is not one that this version can go on from.
    fn read(json: &Json) -> Option<Progress> {
        let Self { version, state, metrics } = serde_json::from_str(json.get()).ok()?;
        (version == STATE_VERSION).then_some(Progress { state, metrics })
    }
}

impl State<(), ()> {
    fn write(fold: &LogFold) -> io::Result<Json> {
        let LogFold { state, metrics, .. } = fold;
        let stored = State { version: STATE_VERSION, state, metrics };
        Ok(Json::of(&stored)?)
    }
}

/// What was counted of all the logs whose states these are.
pub(super) fn count_all(states: &[Json]) -> Metrics {
    let mut all = Metrics::default();
    for state in states {
        // A state of another version has nothing to add: its log is read again when it grows.
        let stored = serde_json::from_str::<State<IgnoredAny, Metrics>>(state.get());
        if let Ok(State { version: STATE_VERSION, mut metrics, .. }) = stored {
            metrics.end_log();
            all.add(&metrics);
        }
    }
    all
}
