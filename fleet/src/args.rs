//! The command line.

use clap::{Parser, Subcommand};
use foldline_cli::shared::version;

use crate::{
    exit::EXIT_CODES, init::InitArgs, ship::ShipArgs, sink::SinkArgs, status::StatusArgs,
    work::WorkArgs,
};

/// Logs of coding agents on many machines, in one database: sends them to Apache Kafka, folds them, stores them.
#[derive(Debug, Parser)]
#[command(name = "foldline-fleet", version = version(), after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Sends logs to a fleet's brokers, while they grow
    ///
    /// Every line goes to the topic PREFIX.logs as it is, in the order of its log. A log that is rotated goes on as the
    /// same. While the brokers are away, it waits for them. The exit code is 0 only if they have acknowledged
    /// everything that was read.
    Ship(ShipArgs),
    /// Folds what was shipped into events, as one of a fleet's workers
    Work(WorkArgs),
    /// Puts the events of a fleet into a database
    Sink(SinkArgs),
    /// Makes the topics, or checks those that are there
    Init(InitArgs),
    /// Says how far the workers have come
    Status(StatusArgs),
}
