//! Running a [`Program`]: its command line, and what comes of each verb.

use std::{
    ffi::OsString,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use clap::{Command as ClapCommand, CommandFactory, FromArgMatches, builder::PossibleValue};
use foldline::{emitters::terminal::neutralise, executors::DynExecutor};

use crate::{
    args::{Args, Command},
    doctor,
    error::Error,
    exit, ingest,
    program::Program,
    prune, query, replay, task, verify,
};

impl Program {
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
            Command::Task(args) => task::run(args),
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
