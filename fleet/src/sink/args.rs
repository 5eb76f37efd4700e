//! The options of `foldline-fleet sink`.

use std::{collections::BTreeSet, net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;
use foldline_cli::shared::{DatabaseOption, parse_seconds};

use crate::{cluster::ClusterArgs, error::EXIT_CODES};

/// The options of `foldline-fleet sink`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SinkArgs {
    #[command(flatten)]
    pub(super) cluster: ClusterArgs,

    #[command(flatten)]
    pub(super) database: DatabaseOption,

    /// Store the events of these partitions only, such as 0-3,7: several sinks of one PostgreSQL database share them
    #[arg(long, value_name = "NUMBERS", value_parser = parse_partitions)]
    partitions: Option<Partitions>,

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

/// Numbers of partitions.
#[derive(Clone, Debug)]
struct Partitions(BTreeSet<i32>);

fn parse_partitions(text: &str) -> Result<Partitions, String> {
    let mut numbers = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            text.trim().parse::<u16>().map_err(|_| format!("{text:?} is not a partition"))
        };
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("{part} has its larger number first"));
        }
        numbers.extend((first..=last).map(i32::from));
    }
    Ok(Partitions(numbers))
}

impl SinkArgs {
    /// The partitions to be stored; `None` for all.
    pub(super) fn partitions(&self) -> Option<BTreeSet<i32>> {
        self.partitions.as_ref().map(|Partitions(numbers)| numbers.clone())
    }

    /// How long a run that ends by itself waits for the brokers.
    pub(super) fn limit(&self) -> Option<Duration> {
        self.once.then_some(self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_numbers_and_ranges() {
        let parsed = |text| parse_partitions(text).map(|Partitions(all)| Vec::from_iter(all));
        assert_eq!(parsed("7,0-2"), Ok(vec![0, 1, 2, 7]));
        assert!(parsed("2-1").is_err() && parsed("").is_err() && parsed("x").is_err());
    }
}
