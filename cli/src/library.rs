//! The program as a library of another language: consumers by their names, and answers as rows.

use std::{
    convert::Infallible,
    ffi::OsString,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use clap::FromArgMatches;
use foldline::{
    processor::DEFAULT_MAX_LINE,
    transduce::{Batch, Emitter},
};
use foldline_agents::DynExecutor;
use foldline_domain::{DomainEvent, DynEmitter, Located};
use foldline_render::transcript::TranscriptStyle;
use foldline_tables::{Kind, Value};

use crate::{
    args::{Args, Command},
    config,
    error::Error,
    log::Log,
    pipeline::{self, Moved},
    program::Program,
    sink::{ContentArgs, SinkOptions, Sinks},
};

/// The width of transcripts in columns.
const WIDTH: usize = 100;

/// The answer of a verb.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The names and the kinds of the columns.
    pub columns: Vec<(String, Kind)>,
    /// A value for each column, in each row.
    pub rows: Vec<Vec<Value>>,
}

/// What each consumer has written, or why it failed.
type Outputs = Vec<io::Result<Vec<u8>>>;

/// The bytes that a consumer has written.
#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Program {
    /// The rows that a verb answers with: the verb, and its options as on the command line.
    ///
    /// # Errors
    /// The options are wrong, the verb does not answer with rows, or it fails.
    pub fn ask<I>(&self, words: I) -> Result<Answer, Error>
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        // What is not in the rows, such as tokens without a price, is reported on standard error.
        let mut words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        words.insert(words.len().min(1), "--format=json".into());
        let command = config::with_defaults(self.command().no_binary_name(true))?;
        let wrong = |error: clap::Error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Error::WrongUse(first.trim_start_matches("error: ").to_owned())
        };
        let matches = command.try_get_matches_from(words).map_err(wrong)?;
        let args = Args::from_arg_matches(&matches).map_err(wrong)?;
        let no_rows = || Error::WrongUse("this does not answer with rows".to_owned());
        if !args.command.as_ref().is_some_and(Command::has_rows) {
            return Err(no_rows());
        }
        let answer = Arc::default();
        let program = Self { answer: Some(Arc::clone(&answer)), ..self.clone() };
        program.run_command(args.command.as_ref())?;
        let listing = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (columns, rows) = listing.ok_or_else(no_rows)?.into_typed();
        Ok(Answer { columns, rows })
    }

    /// The names of the consumers, the default first.
    pub fn sinks(&self) -> impl Iterator<Item = &'static str> {
        self.sinks.iter().map(|kind| kind.name)
    }

    /// The consumer of this name, and what it has written since the last call of the function. `log` is the name of the log.
    ///
    /// # Errors
    /// There is no such consumer.
    pub fn emitter(
        &self,
        name: &str,
        log: String,
    ) -> Result<(DynEmitter, impl FnMut() -> Vec<u8> + Send + Sync + 'static), Error> {
        let written = Written::default();
        let emitter = self.sinks.require(name)?.make(&options(log), Box::new(written.clone()));
        Ok((emitter, move || written.take()))
    }

    /// Reads a log to its end into the consumers of these names and a further one, in one pass; a long log on two threads.
    /// Returns what each has written, or why it failed: one that fails gets no more events. `check` is called from time to
    /// time, and can end the reading.
    ///
    /// # Errors
    /// There is no such consumer, the log cannot be read, or `check` fails.
    pub fn fan_out<M, E>(
        &self,
        log: &mut Log,
        executor: &DynExecutor,
        names: &[String],
        further: M,
        mut check: impl FnMut() -> Result<(), E> + Send,
    ) -> Result<(Outputs, M), E>
    where
        M: Emitter<Located<DomainEvent>, Infallible> + Send,
        E: From<Error> + Send,
    {
        let options = options(log.path().display().to_string());
        let (mut sinks, mut written) = (Sinks::default(), Vec::new());
        for (at, name) in names.iter().enumerate() {
            if names.iter().take(at).any(|other| other == name) {
                return Err(Error::WrongUse(format!("{name} is named twice")).into());
            }
            let bytes = Written::default();
            sinks.add(self.sinks.require(name)?, &options, Box::new(bytes.clone()));
            written.push(bytes);
        }
        let hashes_lines = sinks.hashes_lines();
        let nothing = |_: (Batch<_>, Batch<Infallible>)| {};
        let fan = (sinks, further);
        let mut processor = pipeline::begin(executor.clone(), fan, DEFAULT_MAX_LINE, log.span());
        if hashes_lines {
            processor = processor.with_line_hashes();
        }
        if let Some(file) = log.worth_two_threads() {
            let after = |_: &mut _| check();
            processor = pipeline::relay(processor, executor, file, |_| {}, nothing, after)?;
        }
        while let Moved::Read(_) = pipeline::advance(log, &mut processor, nothing)? {
            check()?;
        }
        processor.end_line(nothing);
        let read = processor.counts();
        pipeline::emitter_mut(&mut processor).0.set_read(read);
        let (mut sinks, further) = processor.finish(nothing).emitter.into_inner();
        sinks.flush();
        let written =
            names.iter().zip(written).map(|(name, bytes)| match sinks.take_failure(name) {
                None => Ok(bytes.take()),
                Some(error) => Err(error),
            });
        Ok((written.collect(), further))
    }
}

/// A transcript without colours, and no content for OpenTelemetry.
fn options(log: String) -> SinkOptions {
    SinkOptions::new(TranscriptStyle::new(WIDTH), log, ContentArgs::default())
}
