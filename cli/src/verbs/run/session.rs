//! [`Session`]: processes the output of the agent.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use foldline::{
    ledger::{SourceFacts, SourceName},
    processor::{Collect, DEFAULT_MAX_LINE, Segments},
};
use foldline_agents::DynExecutor;

use super::{
    args::RunArgs,
    child::{Heard, Stream},
    consumers::{Consumers, RunSegments},
    rows::Rows,
};
use crate::{
    error::Error, exit, log::Recognition, pipeline, program::Program, say::say,
    verbs::ingest::Collected,
};

/// The interval of checks whether earlier rows are due.
const SOON: Duration = Duration::from_millis(200);

/// The processing of the agent's output.
pub(super) struct Session<'p> {
    log: Option<(PathBuf, File)>,
    reading: Reading<'p>,
    rows: Option<&'p Rows>,
    /// Whether the agent's output has already been passed on.
    is_tap: bool,
    /// The sink that writes to standard output.
    main: String,
}

enum Reading<'p> {
    /// The first bytes, until the agent is recognized.
    Unknown {
        recognition: Box<Recognition<'p>>,
        seen: Vec<u8>,
        /// The unmodified output.
        heard: Vec<Heard>,
        consumers: Box<Consumers>,
    },
    Known(&'static str, Box<RunSegments>),
    /// The agent is unknown: its output is passed on unmodified.
    Unrecognised {
        error: Error,
        passed: io::Result<()>,
    },
}

impl<'p> Session<'p> {
    /// Creates a session that is recorded in `log`.
    pub(super) fn new(
        program: &'p Program,
        args: &RunArgs,
        consumers: Consumers,
        rows: Option<&'p Rows>,
        log: Option<(PathBuf, File)>,
    ) -> Self {
        let reading = match program.registry.named(&args.executor) {
            Some(executor) => Reading::known(executor.clone(), consumers, rows),
            None => {
                let name = args.command.first().map_or(Path::new(""), Path::new);
                let recognition = Recognition::new(&program.registry, name, DEFAULT_MAX_LINE);
                let (recognition, consumers) = (Box::new(recognition), Box::new(consumers));
                Reading::Unknown { recognition, seen: Vec::new(), heard: Vec::new(), consumers }
            }
        };
        Self { log, reading, rows, is_tap: args.tap, main: args.format.clone() }
    }

    /// Processes a piece of output, and the bytes that it adds to the log.
    pub(super) fn push(&mut self, stream: Stream, piece: Vec<u8>, log: &[u8]) -> Result<(), Error> {
        self.write(log)?;
        let heard = if self.is_tap { Vec::new() } else { vec![(stream, piece)] };
        self.reading.push(heard, log, false, self.rows);
        Ok(())
    }

    /// The longest time to wait for more output; `None` for no limit.
    pub(super) fn patience(&self) -> Option<Duration> {
        match &self.reading {
            Reading::Known(_, segments) if self.rows.is_some() && segments.has_news() => Some(SOON),
            _ => None,
        }
    }

    /// Passes the rows of earlier output to the database, if they are due.
    pub(super) fn collect(&mut self) {
        if let (Reading::Known(_, segments), Some(rows)) = (&mut self.reading, self.rows) {
            rows.collect(segments);
        }
    }

    /// Ends what is open of which nothing arrives any more.
    pub(super) fn close_idle(&mut self) {
        if let Reading::Known(_, segments) = &mut self.reading {
            let consumers = pipeline::emitter_mut(segments.processor_mut());
            // Sinks that write directly emit nothing.
            let _ = consumers.sinks.close_idle();
            consumers.sinks.flush();
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match &mut self.log {
            Some((path, log)) => log.write_all(bytes).map_err(|error| Error::output(path, &error)),
            None => Ok(()),
        }
    }

    /// The format of the log, when it is known.
    pub(super) fn format(&self) -> Option<&'static str> {
        match self.reading {
            Reading::Known(format, _) => Some(format),
            Reading::Unknown { .. } | Reading::Unrecognised { .. } => None,
        }
    }

    /// Ends the log; `rest` is its last piece. Returns the exit code.
    pub(super) fn finish(mut self, rest: &[u8]) -> Result<u8, Error> {
        self.write(rest)?;
        if let Some((path, log)) = &self.log {
            log.sync_all().map_err(|error| Error::output(path, &error))?;
        }
        self.reading.push(Vec::new(), rest, true, self.rows);
        match self.reading {
            Reading::Known(_, mut segments) => {
                if let Some(rows) = self.rows {
                    rows.collect_all(&mut segments);
                }
                let mut processor = segments.into_processor();
                processor.end_line(nothing);
                let read = processor.counts();
                pipeline::emitter_mut(&mut processor).sinks.set_read(read);
                let Consumers { mut sinks, .. } = processor.finish(nothing).emitter.into_inner();
                sinks.forgive_closed(&self.main);
                Ok(if sinks.report_failures() { exit::FAILED } else { exit::SUCCESS })
            }
            // The agent printed nothing.
            Reading::Unknown { .. } => Ok(exit::SUCCESS),
            Reading::Unrecognised { error, passed } => {
                passed.map_err(Error::Output)?;
                let Some((path, _)) = self.log else { return Err(error) };
                // Nothing is lost. A tap prints only the output of the agent.
                if !self.is_tap {
                    say(&format!("{error}; what it printed is in {}", path.display()));
                }
                Ok(exit::SUCCESS)
            }
        }
    }
}

impl Reading<'_> {
    fn known(executor: DynExecutor, consumers: Consumers, rows: Option<&Rows>) -> Self {
        let span = tracing::debug_span!("source", path = "run", format = tracing::field::Empty);
        let format = executor.format().name;
        let is_audited =
            consumers.rows.as_ref().is_some_and(|(_, _, records, _)| records.is_some());
        let hashes_lines = consumers.sinks.hashes_lines() || is_audited;
        let processor = pipeline::begin(executor, consumers, DEFAULT_MAX_LINE, span);
        let processor = if hashes_lines { processor.with_line_hashes() } else { processor };
        let nowhere = || (SourceName::from(""), SourceFacts::default());
        let (name, facts) = rows.map_or_else(nowhere, |rows| rows.source(format));
        Self::Known(format, Box::new(Segments::new(name, facts, None, processor)))
    }

    fn push(&mut self, more: Vec<Heard>, bytes: &[u8], is_end: bool, rows: Option<&Rows>) {
        match self {
            Self::Known(_, segments) => {
                let span = pipeline::span(segments.processor());
                span.in_scope(|| segments.push(bytes));
                while let Some(rows) = rows {
                    let is_full = segments.is_due();
                    rows.collect(segments);
                    if !is_full {
                        break;
                    }
                    span.in_scope(|| segments.go_on());
                }
                pipeline::emitter_mut(segments.processor_mut()).flush();
            }
            Self::Unrecognised { passed, .. } => {
                if passed.is_ok() {
                    *passed = pass_on(&more);
                }
            }
            Self::Unknown { recognition, seen, heard, consumers } => {
                seen.extend_from_slice(bytes);
                heard.extend(more);
                if is_end && seen.is_empty() {
                    return;
                }
                match recognition.push(bytes, is_end) {
                    Ok(None) => {}
                    Err(error) => *self = Self::Unrecognised { error, passed: pass_on(heard) },
                    Ok(Some(executor)) => {
                        let (seen, consumers) = (std::mem::take(seen), std::mem::take(consumers));
                        *self = Self::known(executor, *consumers, rows);
                        self.push(Vec::new(), &seen, is_end, rows);
                    }
                }
            }
        }
    }
}

/// Prints the output of the agent.
fn pass_on(heard: &[Heard]) -> io::Result<()> {
    for (stream, piece) in heard {
        match stream {
            Stream::Error => io::stderr().write_all(piece)?,
            Stream::Input | Stream::Output => io::stdout().write_all(piece)?,
        }
    }
    io::stdout().flush()
}

/// The rows after the last commit are read from the log.
fn nothing(_: <Collected as Collect>::Item) {}
