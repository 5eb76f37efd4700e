//! The command line.

use clap::{Parser, Subcommand};
use foldline_cli::shared::version;

use crate::{
    exit::EXIT_CODES, init::InitArgs, release::ReleaseArgs, ship::ShipArgs, sink::SinkArgs,
    status::StatusArgs, work::WorkArgs,
};

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
