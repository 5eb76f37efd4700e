//! The command line.

use clap::{Parser, Subcommand};

use super::{
    doctor::DoctorArgs, ingest::IngestArgs, options::EXIT_CODES, prune::PruneArgs,
    query::QueryArgs, replay::ReplayArgs, task::TaskArgs, verify::VerifyArgs,
};

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
    /// Reads files and folders of logs into a database; a later run adds only what is new
    Ingest(IngestArgs),
    /// Answers questions from a database: tasks, sessions, tools, errors, words
    Query(QueryArgs),
    /// Sets the task of a session
    Task(TaskArgs),
    /// Removes the entries of old sessions
    Prune(PruneArgs),

    /// Reports the format of each log, and what was not understood
    Doctor(DoctorArgs),

    /// Checks an audit trail, and the logs that it was made from
    Verify(VerifyArgs),
}
