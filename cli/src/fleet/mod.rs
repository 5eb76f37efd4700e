//! The fleet: logs of many machines, folded once, through Apache Kafka.
//!
//! `ship` sends the lines of logs to a topic. `work` folds them into events, one state a source. `sink` puts the
//! events into a database. Each commits what it has done together with how far it has come, in one transaction, so
//! that whatever is killed goes on without a loss, and nothing is counted twice:
//!
//! ```text
//!   logs ─▶ ship ─▶ foldline.logs ─▶ work ─▶ foldline.events ─▶ sink ─▶ SQLite
//!                                     │ ▲
//!                                     ▼ │
//!                               foldline.state
//! ```
//!
//! The broker does what a broker does: it keeps messages, gives partitions to workers, fences stale ones. What is
//! ours is the [`KafkaLedger`](foldline::ledger::kafka::KafkaLedger).
//!
//! `fleet/README.md` is for those who run a fleet: topics and their messages, sizes, failures, rights.

mod cluster;
mod connection;
mod exporter;
mod init;
mod members;
mod piece;
mod place;
mod record;
mod settings;
pub(super) mod ship;
pub(super) mod sink;
mod sound;
mod status;
mod topics;
pub(super) mod work;

use std::io::{self, Write};

pub(super) use self::cluster::ClusterArgs;
#[cfg(feature = "serve")]
pub(super) use self::sink::{Sink, Until};

use clap::{Args, Subcommand};
use foldline::emitters::terminal::neutralise_line;

use crate::{error::Error, options::EXIT_CODES};

/// The options of `foldline fleet`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct FleetArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Makes the topics, or checks those that are there
    Init(init::InitArgs),
    /// Says how far the workers have come
    Status(status::StatusArgs),
}

pub(super) fn run(args: &FleetArgs) -> Result<u8, Error> {
    match &args.action {
        Action::Init(args) => init::run(args),
        Action::Status(args) => status::run(args),
    }
}

/// Says something on standard error.
fn say(message: &str) {
    // Whether this is read has no effect.
    let _ = writeln!(io::stderr(), "foldline: {}", neutralise_line(message));
}
