//! `foldline run`: an agent as a child, and its session while it works.
//!
//! What the agent prints is written to a log first, then reduced; the log is complete at any moment, and a replay
//! of it gives the same events. Lines of standard error are records of the log, see
//! [`aside`](foldline::executors::aside).

mod args;
mod child;
mod files;
mod rows;
mod watched;
mod weave;

use std::{
    convert::Infallible,
    fs::File,
    io::{self, Write},
    path::PathBuf,
    process::ExitStatus,
};

use foldline::{
    conversation::Timestamp,
    emitters::transcript::TranscriptStyle,
    executors::DynExecutor,
    files::owner_only,
    processor::{DEFAULT_MAX_LINE, Finished},
};

pub(super) use self::args::RunArgs;
use self::{
    child::{Child, Stream},
    files::Files,
    watched::Watched,
    weave::Weave,
};
use crate::{
    error::Error,
    exit,
    log::Recognition,
    options::width,
    pipeline::{self, LogProcessor},
    program::Program,
    sink::{SinkName, SinkOptions, Sinks, Writer},
};

/// Runs an agent to its end. The exit code is the agent's, unless the agent succeeded and something else did not.
pub(super) fn run(program: &Program, args: &RunArgs) -> Result<u8, Error> {
    let files = Files::of(args)?;
    let sinks = sinks(program, args)?;
    let watched = Watched::start(program, args, &files)?;
    let log = files.create_log()?;
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
        if let Some(format) = session.format() {
            watched.grew(format);
        }
    }
    let mut rest = Vec::new();
    weave.finish(now(), &mut rest);
    let ended = child.wait().map_err(Error::Output)?;
    let pushed = listened.and_then(|()| session.push(&rest));
    let format = session.format().unwrap_or(&args.executor);
    let failed = pushed.and_then(|()| session.finish())?;
    let stored = watched.finish(format)?;
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
    Known(&'static str, Box<LogProcessor<Sinks>>),
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

    /// The format of the log, as soon as it is known.
    fn format(&self) -> Option<&'static str> {
        match self.reading {
            Reading::Known(format, _) => Some(format),
            Reading::Unknown { .. } | Reading::Unrecognised(_) => None,
        }
    }

    /// The end of the log. Returns whether an output failed.
    fn finish(mut self) -> Result<bool, Error> {
        if let Some(log) = &self.log {
            log.sync_all().map_err(Error::Output)?;
        }
        self.reading.push(&[], true);
        match self.reading {
            Reading::Known(_, processor) => {
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
        let format = executor.format().name;
        Self::Known(format, Box::new(pipeline::begin(executor, sinks, DEFAULT_MAX_LINE, span)))
    }

    fn push(&mut self, bytes: &[u8], is_end: bool) {
        match self {
            Self::Known(_, processor) => {
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
