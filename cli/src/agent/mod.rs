//! `foldline run`: an agent as a child, and its session while it works.
//!
//! What the agent prints is written to a log first, then reduced; the log is complete at any moment, and a replay
//! of it gives the same events. Lines of standard error are records of the log, see
//! [`aside`](foldline::executors::aside).

mod args;
mod child;
mod weave;

use std::{
    convert::Infallible,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitStatus,
};

use foldline::{
    conversation::Timestamp,
    emitters::transcript::TranscriptStyle,
    executors::DynExecutor,
    files::{owner_only, owner_only_folder},
    processor::{DEFAULT_MAX_LINE, Finished},
};

pub(super) use self::args::RunArgs;
use self::{
    child::{Child, Stream},
    weave::Weave,
};
use crate::{
    distinct::DistinctFiles,
    error::Error,
    exit, homes, ingest,
    log::Recognition,
    options::width,
    pipeline::{self, LogProcessor},
    program::Program,
    sink::{SinkName, SinkOptions, Sinks, Writer},
};

/// Runs an agent to its end. The exit code is the agent's, unless the agent succeeded and something else did not.
pub(super) fn run(program: &Program, args: &RunArgs) -> Result<u8, Error> {
    let path = log_path(args)?;
    check_files(args, path.as_deref())?;
    let sinks = sinks(program, args)?;
    let log = path.as_deref().map(create).transpose()?;
    let child = Child::start(&args.command, args.tap)?;
    let mut session = Session::new(program, args, sinks, log)?;
    let mut weave = Weave::default();
    let mut listened = Ok(());
    // A failure must not stop the agent: it works on, and what it prints is taken from it.
    for (stream, piece) in child.heard() {
        let mut log = Vec::with_capacity(piece.len());
        match stream {
            Stream::Error => weave.stderr(&piece, now(), &mut log),
            Stream::Input | Stream::Output => weave.stdout(&piece, &mut log),
        }
        listened = listened.and_then(|()| session.push(&log));
    }
    let mut rest = Vec::new();
    weave.finish(now(), &mut rest);
    let ended = child.wait().map_err(Error::Output)?;
    let failed = listened.and_then(|()| session.push(&rest)).and_then(|()| session.finish())?;
    let stored = match (&args.db, &path) {
        (Some(db), Some(log)) => {
            ingest::ingest_run(program, log, db, args.task.clone(), args.audit.clone())?
        }
        _ => exit::FINE,
    };
    Ok(match exit_code(ended) {
        exit::FINE if failed => exit::FAILED,
        exit::FINE => stored,
        code => code,
    })
}

/// The agent's exit code, or what a shell says of the signal that ended it.
fn exit_code(ended: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&ended) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    ended.code().map_or(exit::FAILED, |code| u8::try_from(code).unwrap_or(exit::FAILED))
}

fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}

/// Where the log is written, if anywhere.
fn log_path(args: &RunArgs) -> Result<Option<PathBuf>, Error> {
    if args.log.is_some() || args.db.is_none() {
        return Ok(args.log.clone());
    }
    let folder = homes::data_folder()?.join("runs");
    owner_only_folder(&folder).map_err(|error| Error::output(&folder, &error))?;
    let moment = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ");
    Ok(Some(folder.join(format!("{moment}-{}.jsonl", std::process::id()))))
}

fn check_files(args: &RunArgs, log: Option<&Path>) -> Result<(), Error> {
    let mut files = DistinctFiles::default();
    if let Some(log) = log {
        files.output("--log", log)?;
    }
    if let Some(db) = &args.db {
        files.database(db)?;
    }
    if let Some(audit) = &args.audit {
        files.output("--audit", audit)?;
    }
    files.stdout()?;
    files.stderr()?;
    SinkName::name_files(&args.sinks, &mut files)
}

/// The log of a run holds this run and nothing else.
fn create(path: &Path) -> Result<File, Error> {
    let created = owner_only().write(true).create_new(true).open(path);
    created.map_err(|error| Error::output(path, &error))
}

fn sinks(program: &Program, args: &RunArgs) -> Result<Sinks, Error> {
    let style = TranscriptStyle::new(width(args.width)).with_color(args.color.on_stdout());
    let options = SinkOptions { style };
    let mut sinks = Sinks::default();
    if !args.tap {
        sinks.add(program.sinks.require(&args.format)?, options, Box::new(io::stdout()));
    }
    for SinkName { name, file } in &args.sinks {
        let writer: Writer = match file {
            Some(path) => {
                let mut open = owner_only();
                let file = open.write(true).create(true).truncate(true).open(path);
                Box::new(file.map_err(|error| Error::output(path, &error))?)
            }
            None => Box::new(io::stderr()),
        };
        sinks.add(program.sinks.require(name)?, options, writer);
    }
    Ok(sinks)
}

fn nothing(never: Infallible) {
    match never {}
}

/// What becomes of what the agent prints.
struct Session<'p> {
    log: Option<File>,
    reading: Reading<'p>,
}

enum Reading<'p> {
    /// The first bytes, until it is known what agent it is.
    Unknown {
        recognition: Box<Recognition<'p>>,
        seen: Vec<u8>,
        sinks: Sinks,
    },
    Known(Box<LogProcessor<Sinks>>),
    /// Nobody knows what agent it is.
    Unrecognised(Error),
}

impl<'p> Session<'p> {
    fn new(
        program: &'p Program,
        args: &RunArgs,
        sinks: Sinks,
        log: Option<File>,
    ) -> Result<Self, Error> {
        let reading = match program.registry.named(&args.executor) {
            Some(executor) => Reading::known(executor.clone(), sinks),
            None => {
                let name = args.command.first().map(PathBuf::from).unwrap_or_default();
                let recognition = Recognition::new(&program.registry, &name, DEFAULT_MAX_LINE);
                let recognition = Box::new(recognition);
                Reading::Unknown { recognition, seen: Vec::new(), sinks }
            }
        };
        Ok(Self { log, reading })
    }

    /// Takes the next part of the log.
    fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some(log) = &mut self.log {
            log.write_all(bytes).map_err(Error::Output)?;
        }
        self.reading.push(bytes, false);
        Ok(())
    }

    /// The end of the log. Returns whether an output failed.
    fn finish(mut self) -> Result<bool, Error> {
        if let Some(log) = &self.log {
            log.sync_all().map_err(Error::Output)?;
        }
        self.reading.push(&[], true);
        match self.reading {
            Reading::Known(processor) => {
                let Finished { counts, emitter, .. } = processor.finish(nothing);
                let mut sinks = emitter.into_inner().into_inner();
                sinks.conclude(counts);
                Ok(sinks.report_failures())
            }
            Reading::Unknown { .. } => Ok(false),
            // The log has what was printed; without one, it would be lost.
            Reading::Unrecognised(_) if self.log.is_some() => Ok(false),
            Reading::Unrecognised(error) => Err(error),
        }
    }
}

impl Reading<'_> {
    fn known(executor: DynExecutor, sinks: Sinks) -> Self {
        let span = tracing::debug_span!("source", path = "run", format = tracing::field::Empty);
        Self::Known(Box::new(pipeline::begin(executor, sinks, DEFAULT_MAX_LINE, span)))
    }

    fn push(&mut self, bytes: &[u8], is_end: bool) {
        match self {
            Self::Known(processor) => {
                processor.push(bytes, nothing);
                pipeline::emitter_mut(processor).flush();
            }
            Self::Unrecognised(_) => {}
            Self::Unknown { recognition, seen, sinks } => {
                seen.extend_from_slice(bytes);
                match recognition.push(bytes, is_end) {
                    Ok(None) => {}
                    Err(error) => *self = Self::Unrecognised(error),
                    Ok(Some(executor)) => {
                        let (seen, sinks) = (std::mem::take(seen), std::mem::take(sinks));
                        *self = Self::known(executor, sinks);
                        self.push(&seen, is_end);
                    }
                }
            }
        }
    }
}
