//! [`Fleet`]: the program as a value, and its command line.

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use clap::{
    Command as ClapCommand, CommandFactory, FromArgMatches, Parser, Subcommand,
    builder::PossibleValue,
};
use foldline_agents::{DynExecutor, Registry};
use foldline_cli::shared::{log_to_stderr, version};

use crate::{
    error::{EXIT_CODES, Error},
    init::{self, InitArgs},
    messages::SCHEMA,
    release::{self, ReleaseArgs},
    ship::{self, ShipArgs},
    sink::{self, SinkArgs},
    status::{self, StatusArgs},
    work::{self, WorkArgs},
};

/// The program `foldline-fleet`, with its executors.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     foldline_fleet::Fleet::builtin().run()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Fleet {
    registry: Registry,
}

impl Fleet {
    /// The program with the executors of Foldline.
    pub fn builtin() -> Self {
        Self { registry: Registry::builtin() }
    }

    /// Adds an executor; an executor with the same format name is replaced. Shippers and workers need it.
    #[must_use]
    pub fn executor(mut self, executor: impl Into<DynExecutor>) -> Self {
        self.registry = self.registry.with(executor);
        self
    }

    /// Runs the program with the arguments of the process.
    pub fn run(&self) -> ExitCode {
        self.run_with(std::env::args_os())
    }

    /// Runs the program with these arguments; the first is the program's name.
    ///
    /// Wrong arguments, `--help` and `--version` end the process.
    pub fn run_with<I>(&self, arguments: I) -> ExitCode
    where
        I: IntoIterator,
        I::Item: Into<OsString> + Clone,
    {
        log_to_stderr();
        // clap itself exits with 2 on a usage error, and with 0 after --help.
        let matches = self.command().get_matches_from(arguments);
        let args = Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        match self.run_command(&args.command) {
            Ok(code) => code,
            Err(error) => {
                error.report();
                error.exit_code()
            }
        }
    }

    fn run_command(&self, command: &Command) -> Result<ExitCode, Error> {
        match command {
            Command::Ship(args) => ship::run(&self.registry, args),
            Command::Work(args) => work::run(&self.registry, args),
            Command::Sink(args) => sink::run(args),
            Command::Init(args) => init::run(args),
            Command::Status(args) => status::run(args),
            Command::Release(args) => release::run(args),
            Command::Schema => print_schema(),
        }
    }

    /// The command line, with the names of the executors.
    fn command(&self) -> ClapCommand {
        let formats = self.registry.iter().map(DynExecutor::format);
        let named = formats.map(|format| PossibleValue::new(format.name).help(format.title));
        let auto = PossibleValue::new("auto").help("Detects the format from the first lines");
        let executors: Vec<_> = std::iter::once(auto).chain(named).collect();
        Args::command().mut_subcommand("ship", |verb| {
            verb.mut_arg("executor", |arg| arg.value_parser(executors).hide_possible_values(false))
        })
    }
}

/// Collects the logs of coding agents on many machines in one database, through Apache Kafka.
#[derive(Debug, Parser)]
#[command(name = "foldline-fleet", version = version(), after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Sends logs to the brokers of a fleet, while they grow
    ///
    /// Every line is sent unchanged to the topic PREFIX.logs, in the order of its log. A rotated log continues as the
    /// same log. While the brokers are unreachable, it waits for them. The exit code is 0 only if they have
    /// acknowledged everything that was read.
    Ship(ShipArgs),
    /// Folds shipped lines into events, as a worker of a fleet
    Work(WorkArgs),
    /// Stores the events of a fleet in a database
    Sink(SinkArgs),
    /// Creates the topics, or checks existing ones
    Init(InitArgs),
    /// Shows the progress of the workers, and of a sink
    Status(StatusArgs),
    /// Lets a source continue that was held back
    ///
    /// A source is held back if a program cannot continue it: its state is damaged or of another version, its executor
    /// failed, an event cannot be read, or data is missing. Other sources continue. Remove the cause first: a source
    /// is held back again otherwise.
    Release(ReleaseArgs),
    /// Prints the JSON Schema of the messages in the topics of events, patches and checkpoints
    Schema,
}

/// Prints the JSON Schema of the messages for other programs.
fn print_schema() -> Result<ExitCode, Error> {
    let mut out = io::stdout().lock();
    out.write_all(SCHEMA.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}
