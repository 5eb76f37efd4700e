//! `foldline replay`: a log from its beginning to its end.

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
};

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{
    args::{Color, EXIT_CODES, executor_names, width},
    error::Error,
    exit,
    input::Input,
    pace::{Pace, Speed, parse_speed},
    sink::{Shape, Sink},
};
use crate::{
    conversation::{DomainEvent, Sourced, WarningKind, with_source},
    emitters::transcript::{Transcript, TranscriptStyle},
    processor::Processor,
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
    let mut input = Input::open(&args.file)?;
    let executor = input.executor(&args.executor)?;
    let writer = io::stdout().lock();
    let replay =
        Replay { sink: Sink::new(writer, shape(args)), pace: Pace::new(args.speed), malformed: 0 };
    let mut processor = Processor::new(Transducer::new(with_source(executor), replay));
    let progress = progress(input.length);
    input.read_all(|bytes| {
        let mut failure = None;
        processor.push(bytes, |error| failure = failure.take().or(Some(error)));
        progress.inc(bytes.len() as u64);
        // What has been read is shown, however long the rest takes to come.
        let flushed = processor.emitter_mut().sink.flush();
        failure.map_or(flushed, Err).map_err(Error::Output)
    })?;
    let mut failure = None;
    let (counts, mut replay) = processor.finish(|error| failure = failure.take().or(Some(error)));
    progress.finish_and_clear();
    let failure = failure.or(replay.sink.conclude(counts.into()).err());
    match failure {
        Some(error) => Err(Error::Output(error)),
        None if args.strict && replay.malformed > 0 => {
            let _ = writeln!(io::stderr(), "foldline: {} lines are malformed", replay.malformed);
            Ok(exit::MALFORMED)
        }
        None => Ok(exit::FINE),
    }
}

/// A sink that keeps the log's pauses and counts what is malformed.
struct Replay<W> {
    sink: Sink<W>,
    pace: Pace,
    malformed: u64,
}

impl<W: Write> Emitter<Sourced<DomainEvent>, io::Error> for Replay<W> {
    fn emit(&mut self, event: &Sourced<DomainEvent>) -> Batch<io::Error> {
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
