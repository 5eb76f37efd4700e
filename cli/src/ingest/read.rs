//! A file, from where it was left, as commits. Knows no database.

use std::convert::Infallible;

use foldline::{
    conversation::{ByItem, DomainEvent, Json, Located, SessionId, TaskId, by_item},
    emitters::{
        interleaved::InterleavedState,
        metrics::Metrics,
        sqlite::{RowEmitter, Rows},
    },
    ledger::{Commit, Identity, SourceFacts},
    processor::{DEFAULT_MAX_LINE, LastLine, Snapshot, Stretches},
    source::{LogFile, Step},
    transduce::{Batch, Emitter, Gather, Resume},
};
use serde::de::IgnoredAny;

use super::plan::{Plan, Start};
use crate::{
    error::Error,
    log::Log,
    pipeline::{self, LogEmitter, LogProcessor, LogReducer, LogState},
    program::Program,
    sink::{Gathered, SinkKind, SinkOptions, Sinks},
};

/// What all readers need.
pub(super) struct Reading<'a> {
    pub(super) program: &'a Program,
    /// The consumers that run beside the database.
    pub(super) sinks: Vec<&'a SinkKind>,
    pub(super) options: SinkOptions,
    /// There is an audit trail, which wants every event, with the digest of its line.
    pub(super) audited: bool,
}

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
    /// For the files of the sinks.
    pub(super) gathered: Gathered,
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
pub(super) struct End {
    /// Something was committed.
    pub(super) has_news: bool,
    /// It ends in the middle of a line, which was left for the next time.
    pub(super) mid_line: bool,
    /// The sinks that failed with this file, and why.
    pub(super) failures: Vec<String>,
}

/// Reads a file. Stops early when `each` says `false`.
pub(super) fn read(reading: &Reading<'_>, plan: &Plan, each: &mut dyn FnMut(Piece) -> bool) {
    let last = match try_read(reading, plan, each) {
        Ok(Some(end)) => Piece::End(end),
        Ok(None) => return,
        Err(error) => Piece::Failed(error),
    };
    each(last);
}

/// What ingest makes of a log's events.
type Fan = (ByItem<Metrics>, RowEmitter, Option<Kept>, Sinks);
type LogStretches = Stretches<LogReducer, LogState, LogEmitter<Fan>>;

fn fan(reading: &Reading<'_>) -> Fan {
    let mut sinks = Sinks::default();
    reading.sinks.iter().for_each(|kind| sinks.gather(kind, reading.options));
    let kept = reading.audited.then(Kept::default);
    (by_item(Metrics::default()), RowEmitter::default(), kept, sinks)
}

/// Keeps events as they are, for the trail.
#[derive(Default)]
struct Kept(Vec<Located<DomainEvent>>);

impl Emitter<Located<DomainEvent>, Infallible> for Kept {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        self.0.push(event.clone());
        Batch::EMPTY
    }
}

impl Gather for Kept {
    type Stretch = Vec<Located<DomainEvent>>;

    fn cut(&mut self) -> Self::Stretch {
        std::mem::take(&mut self.0)
    }

    /// Entries are shared with the rows, which count them.
    fn size(&self) -> usize {
        self.0.len() * size_of::<Located<DomainEvent>>()
    }
}

impl Resume for Kept {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}

/// The emitters here gather, and give nothing at once.
fn nothing(_: (Batch<Infallible>, Batch<Infallible>, Batch<Infallible>, Batch<Infallible>)) {}

fn try_read(
    reading: &Reading<'_>,
    plan: &Plan,
    each: &mut dyn FnMut(Piece) -> bool,
) -> Result<Option<End>, Error> {
    let mut log = Log::Once(LogFile::open_regular(&plan.path)?);
    let Some(mut file) = File::open(reading, plan, &mut log, each)? else { return Ok(None) };
    let first = file.stretches.committed();
    while let Step::Bytes(bytes) = log.step()? {
        let span = pipeline::span(file.stretches.processor());
        span.in_scope(|| file.stretches.push(bytes, nothing));
        if file.stretches.is_due() {
            let identity = file.identity(&mut log)?;
            if !each(file.stretch(identity)?) {
                return Ok(None);
            }
        }
    }
    if plan.complete {
        return file.complete(&mut log, each);
    }
    let mid_line = file.stretches.flush_last_line(nothing) == LastLine::Left;
    let has_news = file.has_moved || file.stretches.has_news();
    if has_news {
        let identity = file.identity(&mut log)?;
        if !each(file.stretch(identity)?) {
            return Ok(None);
        }
    }
    let has_news = has_news || file.stretches.committed() != first;
    file.stretches.processor_mut().emitter_mut().get_mut().end_source();
    let failures = failures(&pipeline::emitter(file.stretches.processor()).3);
    Ok(Some(End { mid_line, has_news, failures }))
}

/// A file that is being read, as the ledger sees it.
struct File<'p> {
    plan: &'p Plan,
    stretches: LogStretches,
    /// The session that the stretch begins within.
    session: Option<SessionId>,
    /// There is something to be stored even if nothing was added.
    has_moved: bool,
}

impl<'p> File<'p> {
    /// Goes on where the file was left, or begins; `None` if `each` says so.
    fn open(
        reading: &Reading<'_>,
        plan: &'p Plan,
        log: &mut Log,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<Option<Self>, Error> {
        let registry = &reading.program.registry;
        let (mut processor, mut expected, mut has_moved) = (None, None, false);
        if let (Start::Resume(checkpoint), Log::Once(file)) = (&plan.start, &mut *log)
            && let Some(executor) = registry.named(&checkpoint.facts.format)
            && let Ok(resumed) = pipeline::resume(
                executor.clone(),
                &checkpoint.state,
                fan(reading),
                DEFAULT_MAX_LINE,
                file.span().clone(),
            )
        {
            if !file.starts_with(checkpoint.facts.identity.read)? {
                let error = std::io::Error::other("replaced by another file meanwhile");
                return Err(Error::Input { path: plan.path.clone(), error });
            }
            file.seek(checkpoint.position.offset)?;
            expected = Some(checkpoint.position);
            has_moved =
                checkpoint.facts.path != plan.stored_path() || checkpoint.complete != plan.complete;
            processor = Some((executor.format().name, resumed));
        }
        let (format, processor) = match processor {
            Some(found) => found,
            None => {
                // Nothing that is stored goes before there is something to take its place.
                let executor = log.executor(registry, plan.executor(), DEFAULT_MAX_LINE)?;
                if !matches!(plan.start, Start::New) && !each(Piece::Forget) {
                    return Ok(None);
                }
                let format = executor.format().name;
                (format, pipeline::begin(executor, fan(reading), DEFAULT_MAX_LINE, log.span()))
            }
        };
        let processor = if reading.audited { processor.with_line_hashes() } else { processor };
        let facts = SourceFacts {
            path: plan.stored_path(),
            format: format.to_owned(),
            task: plan.task.clone(),
            identity: Identity::default(),
        };
        let session = session_id(&processor);
        let stretches = Stretches::new(plan.name.clone(), facts, expected, processor);
        Ok(Some(Self { plan, stretches, session, has_moved }))
    }

    /// By what the file is recognised again. One that was truncated meanwhile is not: what was read of it
    /// stays.
    fn identity(&self, log: &mut Log) -> Result<Identity, Error> {
        let offset = self.stretches.processor().position().offset;
        Ok(log.identity(offset)?.unwrap_or_default())
    }

    fn stretch(&mut self, identity: Identity) -> Result<Piece, Error> {
        let bytes = self.stretches.pending_bytes();
        let next = session_id(self.stretches.processor());
        let session = std::mem::replace(&mut self.session, next);
        let commit = self.stretches.commit(identity).map_err(|error| self.fail(error))?;
        Ok(piece(commit, session, bytes))
    }

    /// The log is complete: what was held back is released.
    fn complete(
        self,
        log: &mut Log,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<Option<End>, Error> {
        let Self { plan, stretches, session, has_moved } = self;
        let (first, pending) = (stretches.committed(), stretches.pending_bytes());
        let mut identity = Ok(None);
        let finished = stretches.finish(
            |end| {
                identity = log.identity(end.offset);
                identity.as_ref().ok().copied().flatten().unwrap_or_default()
            },
            nothing,
        );
        let (commit, finished) = finished.map_err(|error| fail(plan, error))?;
        identity?;
        let failures = failures(&finished.emitter.get_ref().get_ref().3);
        let has_news = has_moved || first != Some(commit.checkpoint.position);
        if has_news && !each(piece(commit, session, pending)) {
            return Ok(None);
        }
        Ok(Some(End { mid_line: false, has_news, failures }))
    }

    fn fail(&self, error: foldline::json::Error) -> Error {
        fail(self.plan, error)
    }
}

fn fail(plan: &Plan, error: foldline::json::Error) -> Error {
    Error::Input { path: plan.path.clone(), error: error.into() }
}

fn session_id(processor: &LogProcessor<Fan>) -> Option<SessionId> {
    pipeline::emitter(processor).0.get_ref().session_id().cloned()
}

fn failures(sinks: &Sinks) -> Vec<String> {
    sinks.failures().map(|(name, error)| format!("the output {name} failed: {error}")).collect()
}

fn piece(
    commit: Commit<<Fan as Gather>::Stretch>,
    session: Option<SessionId>,
    bytes: u64,
) -> Piece {
    let facts = &commit.checkpoint.facts;
    let (log, task) = (facts.path.clone(), facts.task.clone());
    let (mut kept, mut gathered) = (None, Gathered::new());
    let commit = commit.map(|((), rows, events, bytes)| {
        (kept, gathered) = (events, bytes);
        rows
    });
    let records = kept.map(|events| Records { log, task, session, events });
    Piece::Stretch(Box::new(Stretch { commit, records, gathered, bytes }))
}

/// What was counted of all the logs whose states these are.
pub(super) fn count_all(states: &[Json]) -> Metrics {
    type Memory = (Metrics, IgnoredAny, IgnoredAny, IgnoredAny);
    type Counted = Snapshot<IgnoredAny, InterleavedState<Memory>>;
    let mut all = Metrics::default();
    // A state of another version has nothing to add: its log is read again when it grows.
    for Snapshot { counts, emitter, .. } in
        states.iter().filter_map(|state| Counted::from_json(state).ok())
    {
        let (mut metrics, ..) = emitter.into_emitter();
        metrics.add_read(counts.into());
        metrics.end_log();
        all.add(&metrics);
    }
    all
}
