//! Reads a file from its checkpoint on, as commits. Independent of the database.

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

/// The shared configuration of the readers.
pub(super) struct Reading<'a> {
    pub(super) program: &'a Program,
    /// The further consumers.
    pub(super) sinks: Vec<&'a SinkKind>,
    pub(super) options: SinkOptions,
    /// Whether there is an audit trail, which needs every event, with the digest of its line.
    pub(super) audited: bool,
}

/// One step of reading a file.
pub(super) enum Piece {
    /// The stored state of the source cannot be resumed, and is discarded.
    Forget,
    /// A commit.
    Stretch(Box<Stretch>),
    /// The end of the file.
    End(End),
    /// It could not be read to its end.
    Failed(Error),
}

impl Piece {
    /// The number of bytes of the log.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Stretch(stretch) => stretch.bytes,
            Self::Forget | Self::End(_) | Self::Failed(_) => 0,
        }
    }
}

/// The output of a commit.
pub(super) struct Stretch {
    /// Rows, prepared on the reading thread to unburden the writing one.
    pub(super) commit: Commit<Rows>,
    /// For the audit trail, if there is one.
    pub(super) records: Option<Records>,
    /// For the files of the sinks.
    pub(super) gathered: Gathered,
    /// The number of bytes of the file.
    pub(super) bytes: u64,
}

/// The records of a stretch for the audit trail.
pub(super) struct Records {
    pub(super) log: String,
    pub(super) task: Option<TaskId>,
    /// The session that the stretch begins within.
    pub(super) session: Option<SessionId>,
    pub(super) events: Vec<Located<DomainEvent>>,
}

/// A report at the end of a file.
pub(super) struct End {
    /// Something was committed.
    pub(super) has_news: bool,
    /// It ends in the middle of a line, which is left for the next run.
    pub(super) mid_line: bool,
    /// The sinks that failed with this file, and why.
    pub(super) failures: Vec<String>,
}

/// Reads a file. Stops early when `each` returns `false`.
pub(super) fn read(reading: &Reading<'_>, plan: &Plan, each: &mut dyn FnMut(Piece) -> bool) {
    let last = match try_read(reading, plan, each) {
        Ok(Some(end)) => Piece::End(end),
        Ok(None) => return,
        Err(error) => Piece::Failed(error),
    };
    each(last);
}

/// The emitters of ingest.
type Fan = (ByItem<Metrics>, RowEmitter, Option<Kept>, Sinks);
type LogStretches = Stretches<LogReducer, LogState, LogEmitter<Fan>>;

fn fan(reading: &Reading<'_>) -> Fan {
    let mut sinks = Sinks::default();
    reading.sinks.iter().for_each(|kind| sinks.gather(kind, reading.options));
    let kept = reading.audited.then(Kept::default);
    (by_item(Metrics::default()), RowEmitter::default(), kept, sinks)
}

/// Collects events for the audit trail.
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

    /// Entries are shared with the rows, whose size includes them.
    fn size(&self) -> usize {
        self.0.len() * size_of::<Located<DomainEvent>>()
    }
}

impl Resume for Kept {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}

/// The emitters here collect, and emit nothing.
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

/// A file that is being read into the ledger.
struct File<'p> {
    plan: &'p Plan,
    stretches: LogStretches,
    /// The session that the stretch begins within.
    session: Option<SessionId>,
    /// A commit is needed even if nothing was added.
    has_moved: bool,
}

impl<'p> File<'p> {
    /// Resumes the file, or begins it; `None` if `each` returned `false`.
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
                // The stored output is discarded only once there is a replacement.
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

    /// The identity of the file. A file that was truncated meanwhile keeps its earlier one, and so what was
    /// read of it stays.
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

    /// The log is complete: finishes the reducer and the emitters.
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

/// The sum of the metrics in the states of all logs.
pub(super) fn count_all(states: &[Json]) -> Metrics {
    type Memory = (Metrics, IgnoredAny, IgnoredAny, IgnoredAny);
    type Counted = Snapshot<IgnoredAny, InterleavedState<Memory>>;
    let mut all = Metrics::default();
    // A state of another version is skipped: its log is read again when it grows.
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
