//! [`Chosen`]: the requested outputs, and the result of a run with them.

use foldline_render::{human, transcript::TranscriptStyle};

use super::args::ReplayArgs;
use crate::{
    error::Error,
    exit,
    options::width,
    pipeline::LogProcessor,
    program::Program,
    say::say,
    sink::{Arrival, ChosenSink, SinkKind, SinkOptions, Sinks},
};

/// The requested outputs.
pub(super) struct Chosen<'p> {
    pub(super) main: &'p SinkKind,
    /// The further outputs, each with its destination.
    pub(super) further: Vec<ChosenSink<'p>>,
    pub(super) options: SinkOptions,
}

impl<'p> Chosen<'p> {
    pub(super) fn new(program: &'p Program, args: &'p ReplayArgs) -> Result<Self, Error> {
        let main = program.sinks.require(&args.format)?;
        let style =
            TranscriptStyle::new(width(args.width)).with_color(program.terminal.is_coloured());
        let log = args.file.display().to_string();
        // What is followed arrives, and the rest has.
        let arrival = if args.follow { Arrival::Now } else { Arrival::of_file(&args.file) };
        let options =
            SinkOptions { is_patient: true, arrival, ..SinkOptions::new(style, log, args.content) };
        let mut chosen = Self { main, further: Vec::new(), options };
        for sink in &args.sinks {
            let further = sink.choose(&program.sinks, &chosen.options)?;
            if chosen.kinds().any(|other| other.name == further.kind.name) {
                return Err(Error::WrongUse(format!("{} is written twice", sink.name)));
            }
            chosen.further.push(further);
        }
        args.content.check(chosen.kinds())?;
        Ok(chosen)
    }

    /// The same processor, which takes the digests of lines if an output needs them.
    pub(super) fn hashing<M>(&self, processor: LogProcessor<M>) -> LogProcessor<M> {
        match self.kinds().any(|kind| kind.hashes_lines) {
            true => processor.with_line_hashes(),
            false => processor,
        }
    }

    /// All outputs, the main one first.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &'p SinkKind> {
        std::iter::once(self.main).chain(self.further.iter().map(|further| further.kind))
    }
}

/// The exit code of the program.
pub(super) fn exit_code(malformed: u64, sinks: &mut Sinks, args: &ReplayArgs) -> Result<u8, Error> {
    let mut code = exit::SUCCESS;
    if args.strict && malformed > 0 {
        let are = if malformed == 1 { "is" } else { "are" };
        say(&format!("{} {are} malformed", human::number_of(malformed, "line")));
        code = exit::MALFORMED;
    }
    if sinks.report_failures() {
        code = exit::FAILED;
    }
    Ok(code)
}

/// A failure of the main output ends the run.
pub(super) fn main_failure(sinks: &mut Sinks, chosen: &Chosen<'_>) -> Result<(), Error> {
    sinks.take_failure(chosen.main.name).map_or(Ok(()), |error| Err(Error::Output(error)))
}
