//! Reads a file from its checkpoint as commits. Independent of the database.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    time::Duration,
};

use foldline::{
    ledger::{Checkpoint, Commit, Identity, SourceFacts},
    processor::{Collect, DEFAULT_MAX_LINE, LastLine, SegmentLimits, Segments, Snapshot},
    source::LogFile,
    transduce::{Batch, Fault, Resume},
};
use foldline_agents::{DynExecutor, Records};
use foldline_database::Rows;
use foldline_domain::{
    Json,
    audit::{EventRecord, EventRecords},
    metrics::Metrics,
};
use serde::de::IgnoredAny;

use super::{
    fan::{Collected, Fan, fan_of},
    plan::{Plan, Start},
};
use crate::{
    error::Error,
    log::Log,
    origin,
    outputs::TrailRecords,
    pipeline::{self, LogEmitter, LogReducer, LogState, Moved, Part},
    program::Program,
    sink::{Arrival, Gathered, SinkKind, SinkOptions, Sinks, Written},
};

/// The shared configuration of the readers.
pub(super) struct Reading<'a> {
    pub(super) program: &'a Program,
    /// The further consumers.
    pub(super) sinks: Vec<&'a SinkKind>,
    pub(super) options: SinkOptions,
    /// Whether there is an audit trail, which needs every event, with the digest of its line.
    pub(super) audited: bool,
    /// Whether an output is sent to a collector.
    pub(super) sends: bool,
    /// The memory limit of the output of a segment, in bytes.
    pub(super) segment_size: usize,
}

/// One step of reading a file.
pub(super) enum Piece {
    /// The stored state of the source cannot be resumed: the following output, up to the end of the file,
    /// replaces the stored rows.
    Replace,
    /// A commit.
    Segment(Box<Segment>),
    /// A line is longer than a segment. Of all files only one such line is read at a time.
    LongLine,
    /// The end of the file.
    End(End),
    /// The file could not be read to its end.
    Failed(Error),
}

impl Piece {
    /// About how much memory it takes, in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Segment(segment) => segment.size(),
            Self::Replace | Self::LongLine | Self::End(_) | Self::Failed(_) => 0,
        }
    }
}

/// The output of a commit.
pub(crate) struct Segment {
    /// Rows, prepared on the reading thread to unburden the writing one.
    pub(super) commit: Commit<Rows>,
    /// For the audit trail, if there is one.
    pub(super) records: Option<TrailRecords>,
    /// For the files of the sinks.
    pub(super) gathered: Gathered,
    /// The number of bytes of the file.
    pub(super) bytes: u64,
}

impl Segment {
    /// What was collected from this number of bytes of a log, which its agent may rewrite.
    pub(super) fn of(commit: Commit<Collected>, bytes: u64, is_rewritten: bool) -> Self {
        let facts = &commit.checkpoint.facts;
        // The name of the source, and not its path, which changes when the file is moved.
        let (log, task) = (commit.source.as_str().to_owned(), facts.task.clone());
        let (mut events, mut gathered) = (Vec::new(), Gathered::default());
        let commit = commit.map(|((), changes, kept, written)| {
            (events, gathered) = (kept.events, written);
            changes.into_rows()
        });
        let records = Some(TrailRecords { log, task, events, is_rewritten });
        Self { commit, records, gathered, bytes }
    }

    /// About how much memory it takes, in bytes.
    fn size(&self) -> usize {
        let Self { commit, records, gathered, bytes: _ } = self;
        let rows = commit.output.size();
        let events = records.iter().flat_map(|records| &records.events);
        let events: usize = events.map(EventRecord::size).sum();
        rows + events + gathered.size() + commit.checkpoint.state.get().len()
    }
}

/// A report at the end of a file.
pub(super) struct End {
    /// Something was committed.
    pub(super) has_news: bool,
    /// The file ends in the middle of a line, which is left for the next run.
    pub(super) mid_line: bool,
    /// The sinks that failed with this file, and why.
    pub(super) failures: Vec<(&'static str, String)>,
}

/// Reads a file. Stops early when `each` returns `false`.
///
/// A panic ends only this file, and keeps its earlier commits. Executors of other crates may panic.
pub(super) fn read(reading: &Reading<'_>, plan: &Plan, each: &mut dyn FnMut(Piece) -> bool) {
    let mut is_theirs = false;
    let mut handed_over = |piece| {
        is_theirs = true;
        let may_go_on = each(piece);
        is_theirs = false;
        may_go_on
    };
    // No partial state of a file survives its panic: pieces are complete when they are passed on.
    let read = catch_unwind(AssertUnwindSafe(|| try_read(reading, plan, &mut handed_over)));
    let last = match read {
        Ok(Ok(Some(end))) => Piece::End(end),
        Ok(Ok(None)) => return,
        Ok(Err(error)) => Piece::Failed(error),
        Err(panic) if is_theirs => resume_unwind(panic),
        Err(panic) => {
            let error = io::Error::other(Fault::of(&*panic));
            Piece::Failed(Error::Input { path: plan.path.clone(), error })
        }
    };
    each(last);
}

type LogSegments = Segments<LogReducer, LogState, LogEmitter<Fan>, Collected, Records>;

/// The records of a log that is rewritten have digests of their events, by which a trail knows those that it has.
fn fan(reading: &Reading<'_>, plan: &Plan, is_rewritten: bool) -> Fan {
    let records = EventRecords::default();
    let records = if is_rewritten { records.with_event_digests() } else { records };
    fan_of(reading.audited.then_some(records), sinks(reading, plan))
}

/// The further consumers of a log. Its records arrived by the time at which it was written last.
fn sinks(reading: &Reading<'_>, plan: &Plan) -> Sinks {
    let mut sinks = Sinks::default();
    let options = || {
        let arrival = Arrival::of_file(&plan.path);
        SinkOptions { arrival, ..reading.options.clone() }
    };
    reading.sinks.iter().for_each(|kind| sinks.gather(kind, &options(), None));
    sinks
}

fn try_read(
    reading: &Reading<'_>,
    plan: &Plan,
    each: &mut dyn FnMut(Piece) -> bool,
) -> Result<Option<End>, Error> {
    let open = || reading.program.openers().open_regular(&plan.path);
    let mut log = open()?;
    let is_another = log.status()?.is_some_and(|status| !status.is_same_file(&plan.found));
    // A document that is written in place is empty for a moment, and no document then.
    let is_other_kind = [log.is_rewritten(), open()?.is_rewritten()]
        .iter()
        .any(|is_rewritten| *is_rewritten != plan.is_rewritten);
    if (is_another && plan.found.inode.is_some()) || is_other_kind {
        return Err(replaced(plan));
    }
    if let Start::Update(checkpoint) = &plan.start {
        return update(plan, checkpoint, &mut log, each);
    }
    let mut log = Log::Once(Box::new(log));
    let Some(mut file) = OpenLog::open(reading, plan, &mut log, each)? else { return Ok(None) };
    let first = file.segments.committed();
    loop {
        let span = pipeline::span(file.segments.processor());
        let moved = pipeline::step(&mut log, &span, |part| {
            match part {
                Part::Bytes(bytes) => file.segments.push(bytes),
                Part::NextFile => file.segments.next_file(),
            }
            Ok(())
        })?;
        let Moved::Read(_) = moved else { break };
        if !file.commit_due(&mut log, each)? {
            return Ok(None);
        }
        if file.is_in_long_line(&log, reading) && !each(Piece::LongLine) {
            return Ok(None);
        }
    }
    let mid_line = match plan.complete {
        true => {
            file.segments.end_line();
            false
        }
        false => file.segments.flush_last_line() == LastLine::Left,
    };
    if !file.commit_due(&mut log, each)? {
        return Ok(None);
    }
    if plan.complete {
        return file.complete(&mut log, each);
    }
    let has_begun = file.segments.processor().next_record().offset > 0;
    let is_open = reading.sends && !file.is_rewritten && !is_quiet(reading, plan);
    let closed = match reading.sends && !is_open {
        true => pipeline::emitter_mut(file.segments.processor_mut()).3.close_turns(),
        false => Batch::EMPTY,
    };
    let has_news = file.has_moved || (file.segments.has_news() && has_begun) || !closed.is_empty();
    if has_news || (file.is_touched && has_begun && !(is_open && file.was_open)) {
        let mut identity = file.identity(&mut log)?;
        if is_open {
            // The next run reads it again, and closes its last turn if nothing has come.
            identity.changed = None;
        }
        if !each(file.segment(identity, closed)?) {
            return Ok(None);
        }
    }
    let has_news = has_news || file.segments.committed() != first;
    file.segments.processor_mut().emitter_mut().end_source();
    let failures = failures(&pipeline::emitter(file.segments.processor()).3);
    Ok(Some(End { mid_line, has_news, failures }))
}

/// Whether a log was not written for so long that its last turn ends.
fn is_quiet(reading: &Reading<'_>, plan: &Plan) -> bool {
    let written = plan.path.metadata().and_then(|metadata| metadata.modified()).ok();
    let quiet = written.and_then(|written| written.elapsed().ok());
    // A wrong time was refused when the options were read.
    let limit = reading.options.variables.idle().unwrap_or(Duration::MAX);
    quiet.is_some_and(|quiet| quiet >= limit)
}

/// The memories of sinks that have not read the stored part of a log, of this length: it is read again for them.
fn remembered(
    reading: &Reading<'_>,
    plan: &Plan,
    executor: &DynExecutor,
    mut length: u64,
) -> Result<<Sinks as Resume>::State, Error> {
    let mut log = Log::Once(Box::new(reading.program.openers().open_regular(&plan.path)?));
    let mut processor =
        pipeline::begin(executor.clone(), sinks(reading, plan), DEFAULT_MAX_LINE, log.span());
    while length > 0 {
        let span = pipeline::span(&processor);
        let moved = pipeline::step(&mut log, &span, |part| {
            if let Part::Bytes(bytes) = part {
                let most = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
                processor.push(bytes.get(..most).unwrap_or(bytes), drop::<Written>);
                length -= most as u64;
            }
            Ok(())
        })?;
        let Moved::Read(_) = moved else { break };
    }
    Ok(pipeline::emitter(&processor).state())
}

fn replaced(plan: &Plan) -> Error {
    let what = "replaced by another file meanwhile; the next run reads it";
    Error::Input { path: plan.path.clone(), error: io::Error::other(what) }
}

/// Updates the path and the identity of the file.
fn update(
    plan: &Plan,
    checkpoint: &Checkpoint,
    log: &mut LogFile,
    each: &mut dyn FnMut(Piece) -> bool,
) -> Result<Option<End>, Error> {
    let before = &checkpoint.facts;
    let Some(identity) = log.identity(before.identity.read.length)? else {
        return Err(replaced(plan));
    };
    if !identity.is_alike(&before.identity) {
        return Err(replaced(plan));
    }
    let path = plan.stored_path();
    let has_news = path != before.path;
    let facts = SourceFacts { path, identity, ..before.clone() };
    let commit = Commit {
        source: plan.name.clone(),
        expected: Some(checkpoint.position),
        checkpoint: Checkpoint { facts, ..checkpoint.clone() },
        output: Rows::default(),
    };
    let (records, gathered) = (None, Gathered::default());
    let segment = Segment { commit, records, gathered, bytes: 0 };
    if !each(Piece::Segment(Box::new(segment))) {
        return Ok(None);
    }
    Ok(Some(End { has_news, mid_line: false, failures: Vec::new() }))
}

/// A file that is being read into the ledger.
struct OpenLog<'p> {
    plan: &'p Plan,
    segments: LogSegments,
    /// The path or the identity of the file differs from the stored one.
    has_moved: bool,
    /// The system recorded a change, and nothing else has to be stored.
    is_touched: bool,
    /// Its last turn may have been open.
    was_open: bool,
    /// It is a database or a document.
    is_rewritten: bool,
}

impl<'p> OpenLog<'p> {
    /// Resumes the file, or begins it; `None` if `each` returned `false`.
    fn open(
        reading: &Reading<'_>,
        plan: &'p Plan,
        log: &mut Log,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<Option<Self>, Error> {
        let registry = &reading.program.registry;
        let (mut processor, mut expected) = (None, None);
        // The commits of a database that is read as a whole do not say that it was read to its end; the last one does.
        let is_rewritten = matches!(log, Log::Once(file) if file.is_rewritten());
        let (mut has_moved, mut is_touched, mut was_open) = (plan.complete, is_rewritten, false);
        if let (Start::Resume(checkpoint), Log::Once(file)) = (&plan.start, &mut *log)
            && let Some(executor) = registry.named(&checkpoint.facts.format)
            && let Ok(mut resumed) = pipeline::resume(
                executor.clone(),
                &checkpoint.state,
                fan(reading, plan, is_rewritten),
                DEFAULT_MAX_LINE,
                file.span().clone(),
            )
        {
            if !file.starts_with(&checkpoint.facts.identity)? {
                return Err(replaced(plan));
            }
            file.seek(resumed.position().offset)?;
            expected = Some(checkpoint.position);
            let before = &checkpoint.facts;
            has_moved = before.path != plan.stored_path() || checkpoint.complete != plan.complete;
            is_touched = !plan.found.is_untouched_since(&before.identity);
            was_open = before.identity.changed.is_none();
            let offset = resumed.position().offset;
            let sinks = &mut pipeline::emitter_mut(&mut resumed).3;
            if reading.sends && !sinks.new_ones().is_empty() {
                sinks.resume(remembered(reading, plan, executor, offset)?);
            }
            processor = Some((executor.format().name, resumed));
        }
        let (format, processor) = match processor {
            Some(found) => found,
            None => {
                let executor = log.executor(registry, plan.executor(), DEFAULT_MAX_LINE)?;
                if !matches!(plan.start, Start::New) && !each(Piece::Replace) {
                    return Ok(None);
                }
                let format = executor.format().name;
                let fan = fan(reading, plan, is_rewritten);
                (format, pipeline::begin(executor, fan, DEFAULT_MAX_LINE, log.span()))
            }
        };
        let processor = if reading.audited { processor.with_line_hashes() } else { processor };
        let (host, user) = origin::of(&plan.path);
        let facts = SourceFacts {
            path: plan.stored_path(),
            format: format.to_owned(),
            task: plan.task.clone(),
            host,
            user,
            identity: Identity::default(),
        };
        let limits = SegmentLimits { size: reading.segment_size, ..SegmentLimits::default() };
        let segments =
            Segments::new(plan.name.clone(), facts, expected, processor).with_limits(limits);
        Ok(Some(Self { plan, segments, has_moved, is_touched, was_open, is_rewritten }))
    }

    /// The identity of the file. A file that was truncated meanwhile keeps its earlier one, and so what was
    /// read of it stays.
    fn identity(&self, log: &mut Log) -> Result<Identity, Error> {
        let offset = self.segments.processor().next_record().offset;
        Ok(log.identity(offset)?.unwrap_or_default())
    }

    /// Whether the current incomplete line is already long.
    fn is_in_long_line(&self, log: &Log, reading: &Reading<'_>) -> bool {
        let Log::Once(log) = log else { return false };
        let begun = log.offset().saturating_sub(self.segments.processor().position().offset);
        begun > reading.segment_size as u64
    }

    /// Commits while a commit is due; `false` if `each` returned `false`.
    fn commit_due(
        &mut self,
        log: &mut Log,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<bool, Error> {
        while self.segments.is_due() {
            let mut identity = self.identity(log)?;
            // More of the file is to be read, whether or not it changes meanwhile.
            identity.changed = None;
            if !each(self.segment(identity, Batch::EMPTY)?) {
                return Ok(false);
            }
            let span = pipeline::span(self.segments.processor());
            span.in_scope(|| self.segments.go_on());
        }
        Ok(true)
    }

    /// The next commit, with the output of what was closed.
    fn segment(&mut self, identity: Identity, closed: Batch<Written>) -> Result<Piece, Error> {
        let bytes = self.segments.pending_bytes();
        let commit = self.segments.commit(identity).map_err(|error| self.fail(error))?;
        let mut segment = Segment::of(commit, bytes, self.is_rewritten);
        closed.drain_with(|written| segment.gathered.add(written));
        Ok(Piece::Segment(Box::new(segment)))
    }

    /// The log is complete: finishes the reducer and the emitters.
    fn complete(
        self,
        log: &mut Log,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<Option<End>, Error> {
        let Self { plan, segments, has_moved, is_rewritten, .. } = self;
        let (first, pending) = (segments.committed(), segments.pending_bytes());
        let mut identity = Ok(None);
        let finished = segments.finish(|end| {
            identity = log.identity(end.offset);
            identity.as_ref().ok().copied().flatten().unwrap_or_default()
        });
        let (commit, finished) = finished.map_err(|error| fail(plan, error))?;
        identity?;
        let failures = failures(&finished.emitter.get_ref().3);
        let has_news = has_moved || first != Some(commit.checkpoint.position);
        let segment = || Piece::Segment(Box::new(Segment::of(commit, pending, is_rewritten)));
        if has_news && !each(segment()) {
            return Ok(None);
        }
        Ok(Some(End { mid_line: false, has_news, failures }))
    }

    fn fail(&self, error: foldline_json::Error) -> Error {
        fail(self.plan, error)
    }
}

fn fail(plan: &Plan, error: foldline_json::Error) -> Error {
    Error::Input { path: plan.path.clone(), error: error.into() }
}

fn failures(sinks: &Sinks) -> Vec<(&'static str, String)> {
    sinks.failures().map(|(name, error)| (name, error.to_string())).collect()
}

/// Adds the metrics in the state of a log.
pub(super) fn add_metrics(all: &mut Metrics, state: &Json) {
    type Memory = (Metrics, IgnoredAny, IgnoredAny, IgnoredAny);
    type Counted = Snapshot<IgnoredAny, Memory>;
    // A state of another version is skipped: its log is read again when it grows.
    let Ok(Snapshot { counts, emitter, .. }) = Counted::from_json(state) else { return };
    let (mut metrics, ..) = emitter;
    metrics.add_read(counts.into());
    metrics.end_log();
    all.add(&metrics);
}
