//! [`Program`]: the program as a value.

use std::{
    ffi::OsString,
    fmt::Display,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use clap::{Command as ClapCommand, CommandFactory, FromArgMatches, builder::PossibleValue};
use foldline::{
    conversation::DomainEvent,
    emitters::terminal::neutralise,
    executors::{DynExecutor, Executor, Registry},
    transduce::{Emitter, Resume},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    args::{Args, Command},
    doctor,
    error::Error,
    exit, ingest, prune, query, replay,
    sink::SinkKinds,
    verify,
};

/// The program `foldline`, with the executors and consumers that it is given.
///
/// [`Program::builtin`] has those of this repository. Another crate adds its own, and every verb works
/// with them: they are recognised, replayed, followed, ingested, and examined by `doctor`.
///
/// ```no_run
/// use std::convert::Infallible;
///
/// use foldline::{
///     conversation::DomainEvent,
///     transduce::{Batch, Emitter, Memoryless, emit_fn},
/// };
/// use foldline_cli::Program;
///
/// let names = || {
///     Memoryless(emit_fn(|event: &DomainEvent| Batch::one(Ok::<_, Infallible>(event.name()))))
/// };
/// Program::builtin().sink("names", names).run();
/// ```
#[derive(Clone)]
pub struct Program {
    pub(crate) registry: Registry,
    pub(crate) sinks: SinkKinds,
}

impl Program {
    /// The program with the executors and outputs of this repository.
    pub fn builtin() -> Self {
        Self { registry: Registry::builtin(), sinks: SinkKinds::builtin() }
    }

    /// The same program with one more executor; one of the same format name is replaced.
    #[must_use]
    pub fn executor<E: Executor>(mut self, executor: E) -> Self {
        self.registry = self.registry.with(executor);
        self
    }

    /// The same program with one more consumer, as `replay --format NAME` and as `--sink NAME` of the
    /// verbs that read logs. One of the same name is replaced.
    ///
    /// `make` makes the consumer, once for each log. Each `Ok` output becomes a line. An `Err`
    /// or a panic ends this consumer, but neither the others nor the run; it is reported at the end,
    /// with exit code 1. The consumer's memory ([`Resume`]) is stored with checkpoints; a consumer without
    /// one is wrapped in [`Memoryless`](foldline::transduce::Memoryless).
    #[must_use]
    pub fn sink<M, Line, E>(
        mut self,
        name: &'static str,
        make: impl Fn() -> M + Send + Sync + 'static,
    ) -> Self
    where
        M: Emitter<DomainEvent, Result<Line, E>> + Resume + Send + 'static,
        M::State: Serialize + DeserializeOwned,
        Line: Display + 'static,
        E: Display + 'static,
    {
        self.sinks = self.sinks.with(name, make);
        self
    }

    /// Runs the program with the arguments of the process.
    pub fn run(&self) -> ExitCode {
        self.run_with(std::env::args_os())
    }

    /// Runs the program with these arguments, of which the first is its own name.
    ///
    /// Wrong arguments, `--help` and `--version` end the process.
    pub fn run_with<I>(&self, arguments: I) -> ExitCode
    where
        I: IntoIterator,
        I::Item: Into<OsString> + Clone,
    {
        log_to_stderr();
        let matches = self.command().get_matches_from(arguments);
        // clap itself exits with 2 on wrong use, and with 0 after --help.
        let args = Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        match self.run_command(&args.command) {
            Ok(code) => ExitCode::from(code),
            // The reader closed the pipe: nothing is left to do.
            Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                ExitCode::from(exit::FINE)
            }
            Err(error) => {
                // An error of standard error itself cannot be reported.
                let message = error.to_string();
                let _ = writeln!(io::stderr(), "foldline: {}", neutralise(&message));
                ExitCode::from(error.exit_code())
            }
        }
    }

    fn run_command(&self, command: &Command) -> Result<u8, Error> {
        match command {
            Command::Replay(args) => replay::run(self, args),
            Command::Ingest(args) => ingest::run(self, args),
            Command::Query(args) => query::run(args),
            Command::Prune(args) => prune::run(args),
            Command::Doctor(args) => doctor::run(self, args),
            Command::Verify(args) => verify::run(args),
        }
    }

    /// The command line, with the names of the registered executors and outputs.
    fn command(&self) -> ClapCommand {
        let names = || self.registry.iter().map(DynExecutor::format);
        let executors = || {
            let named = names().map(|format| PossibleValue::new(format.name).help(format.title));
            let auto = PossibleValue::new("auto").help("Looks at the first lines");
            std::iter::once(auto).chain(named).collect::<Vec<_>>()
        };
        let outputs: Vec<_> =
            self.sinks.iter().map(|kind| PossibleValue::new(kind.name).help(kind.about)).collect();
        let executor = |verb: ClapCommand| {
            verb.mut_arg("executor", |arg| {
                arg.value_parser(executors()).hide_possible_values(false)
            })
        };
        Args::command()
            .mut_subcommand("replay", |verb| {
                executor(verb).mut_arg("format", |arg| arg.value_parser(outputs))
            })
            .mut_subcommand("ingest", executor)
    }
}

/// Logs to standard error what `RUST_LOG` selects; without it, nothing.
fn log_to_stderr() {
    if std::env::var_os("RUST_LOG").is_none() {
        return;
    }
    // Fails if the embedding program has set a subscriber already.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .try_init();
}
