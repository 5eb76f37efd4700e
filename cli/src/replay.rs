//! `foldline replay`: a log from its beginning to its end.

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
    time::Duration,
};

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

mod followed;

use super::{
    args::{Color, EXIT_CODES, executor_names, parse_seconds, parse_size, width},
    checkpoint::OutputFile,
    error::Error,
    exit,
    input::Input,
    pace::{Pace, Speed, parse_speed},
    sink::{Shape, Sink},
};
use foldline::{
    conversation::{DomainEvent, Located, Locating, LocatingState, WarningKind, locating},
    emitters::transcript::{Transcript, TranscriptStyle},
    executors::{AnyState, DynExecutor},
    processor::{LineFramer, Processor},
    transduce::{Batch, Emitter, Transducer},
};

/// The options of `foldline replay`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct ReplayArgs {
    /// The log; `-` is standard input
    #[arg(default_value = "-")]
    pub(super) file: PathBuf,

    /// Which agent wrote the log; `auto` looks at its first lines
    #[arg(long, short, default_value = "auto", value_parser = executor_names())]
    pub(super) executor: String,

    /// What to print
    #[arg(long, short, value_enum, default_value_t)]
    pub(super) format: OutputFormat,

    /// How fast: `1x` keeps the log's own pauses, `10x` is ten times as fast, `max` does not wait
    #[arg(long, default_value = "max", value_parser = parse_speed)]
    pub(super) speed: Speed,

    /// Whether the transcript is coloured
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(super) color: Color,

    /// The transcript's width in columns [default: that of the terminal, else 100]
    #[arg(long, value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub(super) width: Option<u16>,

    /// The longest line that is read; of a longer one the beginning, the length and the SHA-256 value
    /// are kept
    #[arg(long, default_value = "16MiB", value_name = "SIZE", value_parser = parse_size)]
    pub(super) max_line: usize,

    /// Write to this file and not to standard output; what is in it is replaced
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,

    /// Keep in this file how far the log was read, and go on from there: killed at any moment and
    /// started again, the output is the same. If the log was rotated meanwhile, it is looked for beside
    /// its name (FILE.1, FILE-2026...). Needs a log and an output that are files, and patches or events
    #[arg(long, value_name = "FILE", requires = "out")]
    pub(super) checkpoint: Option<PathBuf>,

    /// How many lines are read from one checkpoint to the next; there is one every second, too
    #[arg(long, default_value_t = 5000, value_name = "LINES", requires = "checkpoint")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) checkpoint_every: u64,

    /// Begin anew, whatever the checkpoint says
    #[arg(long, requires = "checkpoint")]
    pub(super) restart: bool,

    /// Read on as the log grows, is rotated, cut or replaced, until Ctrl-C
    #[arg(long)]
    pub(super) follow: bool,

    /// End after this time without news
    #[arg(long, value_name = "SECONDS", requires = "follow", value_parser = parse_seconds)]
    pub(super) idle_exit: Option<Duration>,

    /// Exit with 3 if a line was malformed
    #[arg(long)]
    pub(super) strict: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    /// For people
    #[default]
    Transcript,
    /// One JSON Patch a line, with its number and the position of its cause
    Patches,
    /// One domain event a line, with its position
    Events,
    /// The conversation as one JSON document
    Conversation,
    /// Counters in the text format of Prometheus, at the end
    Metrics,
}

/// Files that take longer than a glance to read.
const LONG_INPUT: u64 = 32 << 20;

pub(super) fn run(args: &ReplayArgs) -> Result<u8, Error> {
    keep_files_apart(args)?;
    if args.follow || args.checkpoint.is_some() {
        return followed::run(args);
    }
    let mut input = Input::open(&args.file, args.max_line)?;
    let executor = input.executor(&args.executor)?;
    let progress = progress(input.length);
    let mut run = Run::new(executor, Replay::new(args, writer(args)?), args.max_line);
    input.read_all(|bytes| {
        progress.inc(bytes.len() as u64);
        run.push(bytes)
    })?;
    progress.finish_and_clear();
    Ok(run.finish()?.exit_code(args))
}

/// Nothing may be written over the log, nor over the output.
fn keep_files_apart(args: &ReplayArgs) -> Result<(), Error> {
    let full = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let log = full(&args.file);
    let (out, checkpoint) = (args.out.as_ref().map(full), args.checkpoint.as_ref().map(full));
    let is_log = |path: &Option<PathBuf>| path.as_ref() == Some(&log);
    if is_log(&out) || is_log(&checkpoint) || (out.is_some() && out == checkpoint) {
        let message = "the log, --out and --checkpoint must be different files";
        return Err(Error::WrongUse(message.to_owned()));
    }
    Ok(())
}

fn writer(args: &ReplayArgs) -> Result<Box<dyn Write>, Error> {
    Ok(match &args.out {
        Some(path) => {
            let mut file = OutputFile::open(path)?;
            file.begin_at(0)?;
            Box::new(file)
        }
        None => Box::new(io::stdout().lock()),
    })
}

/// A log on its way through an executor to a sink.
struct Run<W: Write> {
    processor: Processor<Locating<DynExecutor>, LocatingState<AnyState>, Replay<W>>,
}

impl<W: Write> Run<W> {
    fn new(executor: DynExecutor, replay: Replay<W>, max_line: usize) -> Self {
        let transducer = Transducer::new(locating(executor), replay);
        Self { processor: Processor::with_framer(transducer, LineFramer::new(max_line)) }
    }

    /// Takes more of the log. What has been read is shown, however long the rest takes to come.
    fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut failure = None;
        self.processor.push(bytes, |error| failure = failure.take().or(Some(error)));
        let flushed = self.processor.emitter_mut().sink.flush();
        failure.map_or(flushed, Err).map_err(Error::Output)
    }

    /// The log ends: writes what there is still to say.
    fn finish(self) -> Result<Replay<W>, Error> {
        let mut failure = None;
        let keep_first = |error| failure = failure.take().or(Some(error));
        let foldline::processor::Finished { counts, emitter: mut replay, .. } =
            self.processor.finish(keep_first);
        let failure = failure.or(replay.sink.conclude(counts.into()).err());
        failure.map_or(Ok(replay), |error| Err(Error::Output(error)))
    }
}

/// A sink that keeps the log's pauses and counts what is malformed.
struct Replay<W: Write> {
    sink: Sink<W>,
    pace: Pace,
    malformed: u64,
}

impl<W: Write> Replay<W> {
    fn new(args: &ReplayArgs, writer: W) -> Self {
        Self::with_shape(args, writer, shape(args))
    }

    fn with_shape(args: &ReplayArgs, writer: W, shape: Shape) -> Self {
        Self { sink: Sink::new(writer, shape), pace: Pace::new(args.speed), malformed: 0 }
    }

    /// What the program ends with.
    fn exit_code(&self, args: &ReplayArgs) -> u8 {
        let malformed = self.malformed;
        if !args.strict || malformed == 0 {
            return exit::FINE;
        }
        let _ = writeln!(io::stderr(), "foldline: {malformed} lines are malformed");
        exit::MALFORMED
    }
}

impl<W: Write> Emitter<Located<DomainEvent>, io::Error> for Replay<W> {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        if let DomainEvent::Warning(warning) = &event.item {
            self.malformed += u64::from(is_malformed(warning.kind));
        }
        let mut failures = Batch::EMPTY;
        if let Some(pause) = self.pace.pause_before(event.item.timestamp()) {
            failures.extend(self.sink.flush().err());
            Pace::wait(pause);
        }
        failures.extend(self.sink.emit(event));
        failures
    }

    fn finish(&mut self) -> Batch<io::Error> {
        self.sink.finish()
    }
}

fn is_malformed(kind: WarningKind) -> bool {
    matches!(
        kind,
        WarningKind::Malformed
            | WarningKind::PlainText
            | WarningKind::InvalidUtf8
            | WarningKind::TooLong
            | WarningKind::UnexpectedValue
    )
}

fn shape(args: &ReplayArgs) -> Shape {
    match args.format {
        OutputFormat::Transcript => Shape::Transcript(Box::new(Transcript::new(style(args)))),
        OutputFormat::Patches => Shape::Patches(Box::default()),
        OutputFormat::Events => Shape::Events,
        OutputFormat::Conversation => Shape::Conversation(Box::default()),
        OutputFormat::Metrics => Shape::Metrics(Box::default()),
    }
}

fn style(args: &ReplayArgs) -> TranscriptStyle {
    TranscriptStyle { color: args.color.on_stdout(), width: width(args.width) }
}

fn progress(length: Option<u64>) -> ProgressBar {
    let Some(length) = length.filter(|length| *length >= LONG_INPUT && !io::stdout().is_terminal())
    else {
        return ProgressBar::hidden();
    };
    // stderr() draws nothing where standard error is no terminal.
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let style = "{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta}";
    bar.with_style(
        ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
    )
}
