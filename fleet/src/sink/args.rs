//! The options of `foldline-fleet sink`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;
use foldline_cli::shared::{DatabaseOption, parse_seconds};

use crate::{cluster::ClusterArgs, exit::EXIT_CODES};

/// The options of `foldline-fleet sink`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SinkArgs {
    #[command(flatten)]
    pub(super) cluster: ClusterArgs,

    #[command(flatten)]
    pub(super) database: DatabaseOption,

    /// An audit trail to create or to continue, with a record for each stored event
    #[arg(long, value_name = "FILE")]
    pub(super) audit: Option<PathBuf>,

    /// Sign the audit trail at each commit with this private key (Ed25519, PEM); see `audit-key`
    #[arg(long, value_name = "KEY", requires = "audit")]
    pub(super) sign: Option<PathBuf>,

    /// End when all existing events are stored; otherwise the sink runs until it is stopped
    #[arg(long)]
    pub(super) once: bool,

    /// With --once: fail if the brokers send nothing for this time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "300")]
    pub(super) timeout: Duration,

    /// Seconds to wait while another program writes to the database
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(super) wait: u32,

    /// The name of this sink, if several databases store the events of the fleet: its offsets are reported as those of
    /// the group PREFIX.sink.NAME [default: the group PREFIX.sink]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,

    /// Serve Prometheus metrics at /metrics on this address, and the health at /healthz and /readyz
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(super) metrics: Option<SocketAddr>,
}

impl SinkArgs {
    /// How long a run that ends by itself waits for the brokers.
    pub(super) fn limit(&self) -> Option<Duration> {
        self.once.then_some(self.timeout)
    }
}
