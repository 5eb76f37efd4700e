//! [`Fleet`]: the program as a value.

use std::{ffi::OsString, process::ExitCode};

use clap::{Command as ClapCommand, CommandFactory, FromArgMatches, builder::PossibleValue};
use foldline_agents::{DynExecutor, Registry};
use foldline_cli::shared::log_to_stderr;

use crate::{
    args::{Args, Command},
    error::Error,
    init, release, schema, ship, sink, status, work,
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
            Ok(code) => ExitCode::from(code),
            Err(error) => {
                error.report();
                ExitCode::from(error.exit_code())
            }
        }
    }

    fn run_command(&self, command: &Command) -> Result<u8, Error> {
        match command {
            Command::Ship(args) => ship::run(&self.registry, args),
            Command::Work(args) => work::run(&self.registry, args),
            Command::Sink(args) => sink::run(args),
            Command::Init(args) => init::run(args),
            Command::Status(args) => status::run(args),
            Command::Release(args) => release::run(args),
            Command::Schema => schema::run(),
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
