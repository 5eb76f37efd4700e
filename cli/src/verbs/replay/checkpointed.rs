//! A resumable replay: its output is committed to a file ledger.

use std::{
    io,
    path::Path,
    time::{Duration, Instant},
};

use foldline::{
    ledger::{
        Checkpoint, CommitError, FileLedger, FileLedgerError, Identity, Ledger, SourceFacts,
        SourceName,
    },
    processor::{Collect, Segments},
};
use foldline_agents::Records;
use foldline_domain::Position;

use super::{
    args::ReplayArgs,
    chosen::{Chosen, exit_code, main_failure},
    fan::{Collected, Fan, Paced},
    side_file::SideFile,
};
use crate::{
    error::Error,
    log::Log,
    malformed::Malformed,
    pipeline::{self, LogEmitter, LogReducer, LogState, Moved, Part},
    program::Program,
    sink::{ChosenSink, Gathered, SinkOutput, Sinks, Written},
};

/// The time between two checkpoints.
const INTERVAL: Duration = Duration::from_secs(1);

type LogSegments = Segments<LogReducer, LogState, LogEmitter<Fan>, Collected, Records>;

pub(super) fn run(
    program: &Program,
    args: &ReplayArgs,
    chosen: &Chosen<'_>,
    journal: &Path,
    mut log: Log,
) -> Result<u8, Error> {
    let Some(out) = &args.out else {
        return Err(Error::WrongUse("--checkpoint needs --out".to_owned()));
    };
    if let Some(kind) = chosen.kinds().find(|kind| !kind.is_resumable(args.content)) {
        let message =
            format!("--checkpoint needs outputs that can be resumed, which {} cannot", kind.name);
        return Err(Error::WrongUse(message));
    }
    let fail = |error| ledger_error(error, out, journal);
    let mut ledger = match args.restart {
        true => FileLedger::begin_anew(out, journal),
        false => FileLedger::open(out, journal),
    }
    .map_err(fail)?;
    let name = ledger.only_source().cloned();
    let name = name.unwrap_or_else(|| args.file.to_string_lossy().into_owned().into());
    let stored = ledger.load(&name).map_err(fail)?;
    let position = stored.as_ref().map(|stored| stored.position);
    let segments = match stored {
        Some(stored) => resume(program, args, chosen, name, stored, journal, &mut log)?,
        None => begin(program, args, chosen, name, &mut log)?,
    };
    // The files are truncated to their committed lengths only after it is certain that the run can continue.
    let outputs = Outputs::open(chosen, &mut ledger, position, args.restart);
    let mut outputs = outputs.map_err(|error| error.or_ledger(fail))?;
    let replay = Replay { args, chosen, journal, out, ledger, segments, last: None };
    replay.run(&mut log, &mut outputs).map_err(Error::resumable)
}

fn fan(args: &ReplayArgs, chosen: &Chosen<'_>) -> Fan {
    let mut sinks = Sinks::default();
    // On the disk that the output goes to.
    let folder = args.out.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    chosen.kinds().for_each(|kind| sinks.gather(kind, &chosen.options, Some(folder)));
    (Malformed::default(), Paced::new(args.speed, sinks))
}

fn begin(
    program: &Program,
    args: &ReplayArgs,
    chosen: &Chosen<'_>,
    name: SourceName,
    log: &mut Log,
) -> Result<LogSegments, Error> {
    let executor = log.executor(&program.registry, &args.executor, args.max_line)?;
    let format = executor.format().name.to_owned();
    let facts = SourceFacts { path: name.as_str().to_owned(), format, ..SourceFacts::default() };
    let processor = pipeline::begin(executor, fan(args, chosen), args.max_line, log.span());
    let processor = chosen.hashing(processor);
    Ok(Segments::new(name, facts, None, processor))
}

/// Resumes from a checkpoint, or returns why that is not possible.
fn resume(
    program: &Program,
    args: &ReplayArgs,
    chosen: &Chosen<'_>,
    name: SourceName,
    stored: Checkpoint,
    journal: &Path,
    log: &mut Log,
) -> Result<LogSegments, Error> {
    let refused = |reason: String| Error::Checkpoint { path: journal.to_owned(), reason };
    let Checkpoint { facts, position, state, .. } = stored;
    let Some(executor) = program.registry.named(&facts.format) else {
        return Err(refused(format!("there is no executor {}", facts.format)));
    };
    if args.executor != "auto" && args.executor != facts.format {
        return Err(refused(format!("it was made with --executor {}", facts.format)));
    }
    let processor =
        pipeline::resume(executor.clone(), &state, fan(args, chosen), args.max_line, log.span());
    let mut processor = processor.map_err(|error| refused(error.to_string()))?;
    if let Some(missing) = pipeline::emitter_mut(&mut processor).1.sinks_mut().new_ones().first() {
        let what = if *missing == chosen.main.name { "--format" } else { "--sink" };
        return Err(refused(format!("it was made with another {what} than {missing}")));
    }
    if facts.identity.read.length != processor.next_record().offset {
        return Err(refused("it contradicts itself".to_owned()));
    }
    if let Log::Followed(follow) = log {
        match follow.resume(&facts.identity) {
            Ok(None) => {}
            Ok(Some(notice)) => Log::report(&args.file, &notice),
            Err(error) => return Err(refused(error.to_string())),
        }
        // A line of which some records were reduced is read again from its beginning.
        if processor.next_record() != processor.position() {
            follow.seek(processor.position().offset)?;
        }
    }
    Ok(Segments::new(name, facts, Some(position), chosen.hashing(processor)))
}

/// A log that is being replayed into a file.
struct Replay<'a> {
    args: &'a ReplayArgs,
    chosen: &'a Chosen<'a>,
    journal: &'a Path,
    out: &'a Path,
    ledger: FileLedger,
    segments: LogSegments,
    /// The number of lines at the last checkpoint, and its time.
    last: Option<(u64, Instant)>,
}

impl Replay<'_> {
    fn run(mut self, log: &mut Log, outputs: &mut Outputs) -> Result<u8, Error> {
        while !self.segments.processor().is_done() {
            if self.is_due() {
                self.commit(log, outputs)?;
            }
            let span = pipeline::span(self.segments.processor());
            let moved = pipeline::step(log, &span, |part| match part {
                Part::Bytes(bytes) => {
                    self.segments.push(bytes);
                    self.write_all(outputs)
                }
                Part::NextFile => {
                    self.segments.end_line();
                    self.write_all(outputs)?;
                    self.segments.next_file();
                    Ok(())
                }
            })?;
            match moved {
                Moved::Noticed(notice) | Moved::NextFile(notice) => {
                    Log::report(&self.args.file, &notice);
                }
                Moved::Read(_) => {}
                Moved::Idle => self.close_idle(outputs)?,
                Moved::End | Moved::Done => break,
            }
        }
        // The output of completion is written after the last checkpoint, and so truncated again when the log has
        // grown.
        self.commit(log, outputs)?;
        self.segments.end_line();
        self.write_all(outputs)?;
        let Self { args, chosen, journal, out, mut ledger, segments, .. } = self;
        let mut last = Collected::default();
        let mut finished = segments.into_processor().finish(|output| last.add(output));
        let (Malformed(malformed), paced) = finished.emitter.get_mut();
        let sinks = paced.sinks_mut();
        let fail = |error| ledger_error(error, out, journal);
        outputs.write(last.1, &mut ledger).map_err(|error| error.or_ledger(fail))?;
        ledger.sync().map_err(fail)?;
        outputs.sync()?;
        main_failure(sinks, chosen)?;
        exit_code(*malformed, sinks, args)
    }

    /// Whether another checkpoint is due.
    fn is_due(&self) -> bool {
        let lines = self.segments.processor().counts().lines;
        self.last.is_none_or(|(last_lines, last)| {
            lines > last_lines
                && (lines - last_lines >= self.args.checkpoint_every || last.elapsed() >= INTERVAL)
        })
    }

    /// Writes the output early, and reduces what was kept until there was room for more.
    fn write_all(&mut self, outputs: &mut Outputs) -> Result<(), Error> {
        self.write(outputs)?;
        while self.segments.is_paused() {
            self.segments.go_on();
            self.write(outputs)?;
        }
        Ok(())
    }

    /// Writes the output early, before the checkpoint that commits it.
    fn write(&mut self, outputs: &mut Outputs) -> Result<(), Error> {
        let ((), gathered) = self.segments.take();
        let Self { ledger, out, journal, .. } = self;
        let written = outputs.write(gathered, ledger);
        written.map_err(|error| error.or_ledger(|error| ledger_error(error, out, journal)))?;
        main_failure(
            pipeline::emitter_mut(self.segments.processor_mut()).1.sinks_mut(),
            self.chosen,
        )
    }

    /// Writes what ends because nothing arrives any more.
    fn close_idle(&mut self, outputs: &mut Outputs) -> Result<(), Error> {
        let sinks = pipeline::emitter_mut(self.segments.processor_mut()).1.sinks_mut();
        let mut closed = Gathered::default();
        sinks.close_idle().drain_with(|written| closed.add(written));
        let Self { ledger, out, journal, .. } = self;
        let written = outputs.write(closed, ledger);
        written.map_err(|error| error.or_ledger(|error| ledger_error(error, out, journal)))
    }

    /// Stores a checkpoint, once all output before it is on the disk.
    fn commit(&mut self, log: &mut Log, outputs: &mut Outputs) -> Result<(), Error> {
        let position = self.segments.processor().next_record();
        let Some(identity): Option<Identity> = log.identity(position.offset)? else {
            // The file was truncated meanwhile, which the next poll notices.
            return Ok(());
        };
        self.write(outputs)?;
        let marks = outputs.marks(position)?;
        let commit = self.segments.commit(identity).map_err(|error| Error::Output(error.into()))?;
        let commit = commit.map(|_| Vec::new());
        let Self { ledger, out, journal, .. } = self;
        ledger.commit(&[commit], &marks).map_err(|error| match error {
            CommitError::Failed(error) => ledger_error(error, out, journal),
            moved @ CommitError::Moved { .. } => {
                Error::Checkpoint { path: journal.to_path_buf(), reason: moved.to_string() }
            }
        })?;
        self.last = Some((self.segments.processor().counts().lines, Instant::now()));
        Ok(())
    }
}

/// The outputs: the first in the ledger's file, the others in separate files.
struct Outputs {
    side_files: Vec<(&'static str, SideFile)>,
}

enum OpenError {
    Ledger(FileLedgerError),
    File(Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::File(Error::Output(error))
    }
}

impl OpenError {
    fn or_ledger(self, ledger: impl FnOnce(FileLedgerError) -> Error) -> Error {
        match self {
            Self::Ledger(error) => ledger(error),
            Self::File(error) => error,
        }
    }
}

impl Outputs {
    fn open(
        chosen: &Chosen<'_>,
        ledger: &mut FileLedger,
        position: Option<Position>,
        restart: bool,
    ) -> Result<Self, OpenError> {
        let mut side_files = Vec::new();
        for ChosenSink { kind, output } in &chosen.further {
            let SinkOutput::File(path) = output else {
                let message = format!("--checkpoint needs --sink {}=FILE", kind.name);
                return Err(OpenError::File(Error::WrongUse(message)));
            };
            let name = SideFile::name(kind.name, path).map_err(OpenError::File)?;
            let mark = ledger.mark(&name).map_err(OpenError::Ledger)?;
            let file = SideFile::open(path, name, mark.as_ref(), position, restart);
            side_files.push((kind.name, file.map_err(OpenError::File)?));
        }
        Ok(Self { side_files })
    }

    fn write(&mut self, gathered: Gathered, ledger: &mut FileLedger) -> Result<(), OpenError> {
        for Written { sink, bytes } in gathered {
            let mut side_file = self.side_files.iter_mut().find(|(known, _)| *known == sink);
            bytes.read(|bytes| match &mut side_file {
                Some((_, file)) => file.append(bytes).map_err(OpenError::File),
                None => ledger.write_ahead(bytes).map_err(OpenError::Ledger),
            })?;
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), Error> {
        self.side_files.iter().try_for_each(|(_, file)| file.sync())
    }

    fn marks(&mut self, position: Position) -> Result<Vec<foldline::ledger::Mark>, Error> {
        self.side_files.iter_mut().map(|(_, file)| file.mark(position)).collect()
    }
}

fn ledger_error(error: FileLedgerError, out: &Path, journal: &Path) -> Error {
    match error {
        FileLedgerError::Journal(_) | FileLedgerError::Output | FileLedgerError::NoJournal => {
            Error::Checkpoint { path: journal.to_owned(), reason: error.to_string() }
        }
        FileLedgerError::JournalLocked => Error::output(journal, &std::io::Error::other(error)),
        error => Error::output(out, &std::io::Error::other(error)),
    }
}
