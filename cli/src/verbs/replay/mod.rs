//! `foldline replay`: reads a log to its end, or follows it.

mod args;
mod checkpointed;
mod chosen;
mod fan;
mod side_file;

use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use foldline::{
    files::owner_only,
    source::{Openers, Until, rotated_files},
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(crate) use self::args::ReplayArgs;
use self::{
    chosen::{Chosen, exit_code, main_failure},
    fan::{Fan, Paced, nothing},
};
use crate::{
    answer::find,
    distinct::DistinctFiles,
    error::Error,
    log::Log,
    malformed::Malformed,
    pipeline::{self, Moved},
    program::Program,
    sink::{SinkName, Sinks, Writer},
};

/// The size in bytes from which a progress bar is shown.
const LONG_INPUT: u64 = 32 << 20;

pub(crate) fn run(program: &Program, args: &ReplayArgs) -> Result<u8, Error> {
    let args = &ReplayArgs { file: find::log(program, &args.file)?, ..args.clone() };
    let chosen = Chosen::new(program, args)?;
    check_files(args)?;
    let log = open(&program.openers(), args)?;
    match &args.checkpoint {
        Some(journal) => checkpointed::run(program, args, &chosen, journal, log),
        None => plain(program, args, &chosen, log),
    }
}

/// Reads a log into outputs that write directly.
fn plain(
    program: &Program,
    args: &ReplayArgs,
    chosen: &Chosen<'_>,
    mut log: Log,
) -> Result<u8, Error> {
    let executor = log.executor(&program.registry, &args.executor, args.max_line)?;
    let progress = progress(&log);
    let mut sinks = Sinks::default();
    sinks.add(chosen.main, &chosen.options, main_writer(args)?);
    for further in &chosen.further {
        sinks.add_further(further, &chosen.options, create)?;
    }
    let fan = (Malformed::default(), Paced::new(args.speed, sinks));
    let processor = pipeline::begin(executor.clone(), fan, args.max_line, log.span());
    let mut processor = chosen.hashing(processor);
    let flush = |fan: &mut Fan| {
        let sinks = fan.1.sinks_mut();
        sinks.flush();
        main_failure(sinks, chosen)
    };
    // A log that is read with its pauses is read on one.
    if args.speed.0.is_none()
        && let Some(file) = log.worth_two_threads()
    {
        let read = |bytes| progress.inc(bytes as u64);
        processor = pipeline::relay(processor, &executor, file, read, nothing, flush)?;
    }
    loop {
        match pipeline::advance(&mut log, &mut processor, nothing)? {
            Moved::Read(bytes) => {
                progress.inc(bytes as u64);
                // Show what was read before waiting for more.
                flush(pipeline::emitter_mut(&mut processor))?;
            }
            Moved::Noticed(notice) | Moved::NextFile(notice) => Log::report(&args.file, &notice),
            Moved::Idle => {
                // Sinks that write directly emit nothing.
                let _ = pipeline::emitter_mut(&mut processor).1.sinks_mut().close_idle();
                flush(pipeline::emitter_mut(&mut processor))?;
            }
            Moved::End | Moved::Done => break,
        }
    }
    progress.finish_and_clear();
    processor.end_line(nothing);
    let read = processor.counts();
    pipeline::emitter_mut(&mut processor).1.sinks_mut().set_read(read);
    let (Malformed(malformed), paced) = processor.finish(nothing).emitter.into_inner();
    let mut sinks = paced.into_sinks();
    main_failure(&mut sinks, chosen)?;
    exit_code(malformed, &mut sinks, args)
}

fn open(openers: &Openers, args: &ReplayArgs) -> Result<Log, Error> {
    if !args.follow && args.checkpoint.is_none() {
        return Log::open(openers, &args.file);
    }
    if args.file == Path::new("-") {
        let message = "--follow and --checkpoint need the name of a file";
        return Err(Error::WrongUse(message.to_owned()));
    }
    match args.follow {
        true => {
            Log::follow(openers, &args.file, args.idle_exit.map_or(Until::Stopped, Until::Idle))
        }
        false => Ok(Log::Followed(Box::new(openers.follow(&args.file, Until::EndOfFile)?))),
    }
}

/// Checks that no output is the log, a rotated part of it, or another output.
fn check_files(args: &ReplayArgs) -> Result<(), Error> {
    let mut files = DistinctFiles::default();
    files.input("the log", &args.file)?;
    if args.follow || args.checkpoint.is_some() {
        // Rotated files of an unreadable folder cannot be resumed either.
        for rotated in rotated_files(&args.file).unwrap_or_default() {
            files.input("the rotated log", &rotated)?;
        }
    }
    match &args.out {
        Some(out) => files.output("--out", out)?,
        None => files.stdout()?,
    }
    files.stderr()?;
    if let Some(checkpoint) = &args.checkpoint {
        files.replaced("--checkpoint", checkpoint)?;
    }
    SinkName::name_files(&args.sinks, &mut files)
}

fn main_writer(args: &ReplayArgs) -> Result<Writer, Error> {
    Ok(match &args.out {
        Some(path) => Box::new(create(path)?),
        None => Box::new(io::stdout()),
    })
}

/// Opens a file to replace its contents. A device or a pipe is not truncated.
fn create(path: &Path) -> Result<Named, Error> {
    let fail = |error: io::Error| Error::output(path, &error);
    let mut options = owner_only();
    let file = options.write(true).create(true).truncate(false).open(path).map_err(fail)?;
    if file.metadata().map_err(fail)?.is_file() {
        file.set_len(0).map_err(fail)?;
    }
    Ok(Named { path: path.to_owned(), file })
}

/// A file whose errors contain its name.
struct Named {
    path: PathBuf,
    file: File,
}

impl Write for Named {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| crate::error::named(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn progress(log: &Log) -> ProgressBar {
    let length = match log {
        Log::Once(file) => file.length().ok().flatten(),
        Log::Followed(_) => None,
    };
    let Some(length) = length.filter(|length| *length >= LONG_INPUT && !io::stdout().is_terminal())
    else {
        return ProgressBar::hidden();
    };
    // stderr() draws nothing if standard error is not a terminal.
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let style = "{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta}";
    bar.with_style(
        ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
    )
}
