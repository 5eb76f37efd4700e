//! The command line.

use std::io::{self, IsTerminal};

use clap::{Parser, Subcommand, ValueEnum, builder::PossibleValuesParser};

use super::{
    doctor::DoctorArgs, ingest::IngestArgs, prune::PruneArgs, query::QueryArgs, replay::ReplayArgs,
    verify::VerifyArgs,
};
use crate::executors::{Executor, Format};

pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0  fine
  1  failed: something could not be read or written
  2  wrong use, or the log's format was not recognised
  3  read to the end, but not everything was as it should be (only with --strict)
  4  there is no task or session of that name

Environment:
  NO_COLOR  no colours, unless --color always
  RUST_LOG  what to log to stderr, e.g. foldline=debug";

/// Reads the logs of coding agents: shows, converts and follows their sessions.
#[derive(Debug, Parser)]
#[command(name = "foldline", version, after_help = EXIT_CODES)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Reads a log from its beginning and shows the session, or converts it
    Replay(ReplayArgs),
    /// Reads files and folders of logs into a database, from where it stopped before
    Ingest(IngestArgs),
    /// Answers questions from a database: tasks, sessions, tools, errors, words
    Query(QueryArgs),
    /// Forgets what was said long ago
    Prune(PruneArgs),

    /// Tells for each log its format, and what of it was not fully understood
    Doctor(DoctorArgs),

    /// Checks an audit trail, and the logs that it was made from
    Verify(VerifyArgs),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Also into a file or a pipe
    Always,
    /// Not at all
    Never,
}

impl Color {
    /// Whether standard output is coloured: what the option says, else `NO_COLOR`, else a terminal.
    pub(super) fn on_stdout(self) -> bool {
        let no_color = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => io::stdout().is_terminal() && !no_color(),
        }
    }
}

/// The width of what is printed: what the option says, else the terminal's, else 100 columns.
pub(super) fn width(option: Option<u16>) -> usize {
    let terminal = || Some(terminal_size::terminal_size()?.0.0);
    usize::from(option.or_else(terminal).unwrap_or(100))
}

/// The values of `--executor`.
pub(super) fn executor_names() -> PossibleValuesParser {
    let names = Executor::FORMATS.iter().map(|format| Format::name(*format));
    PossibleValuesParser::new(std::iter::once("auto").chain(names))
}
