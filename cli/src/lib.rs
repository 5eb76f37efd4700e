//! The program `foldline`: everything below it, at the terminal.

mod args;
mod checkpoint;
mod doctor;
mod error;
mod files;
mod ingest;
mod input;
mod pace;
mod prune;
mod query;
mod replay;
mod signal;
mod sink;
mod table;
mod verify;

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use clap::Parser;

use self::{
    args::{Args, Command},
    error::Error,
};
use foldline::emitters::terminal::neutralise;

/// Exit codes of the program.
mod exit {
    pub(super) const FINE: u8 = 0;
    pub(super) const FAILED: u8 = 1;
    pub(super) const WRONG_USE: u8 = 2;
    pub(super) const MALFORMED: u8 = 3;
    pub(super) const NOT_FOUND: u8 = 4;
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    log_to_stderr();
    // clap itself exits with 2 on wrong use, and with 0 after --help.
    let result = match Args::parse().command {
        Command::Replay(args) => replay::run(&args),
        Command::Ingest(args) => ingest::run(&args),
        Command::Query(args) => query::run(&args),
        Command::Prune(args) => prune::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Verify(args) => verify::run(&args),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            // Whoever read our output has seen enough.
            ExitCode::from(exit::FINE)
        }
        Err(error) => {
            // There is nowhere left to report a failure to report.
            let message = error.to_string();
            let _ = writeln!(io::stderr(), "foldline: {}", neutralise(&message));
            ExitCode::from(error.exit_code())
        }
    }
}

/// `RUST_LOG` chooses what is logged; nothing is without it.
fn log_to_stderr() {
    if std::env::var_os("RUST_LOG").is_none() {
        return;
    }
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
}
