//! The options of `foldline-fleet ship`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;
use foldline_cli::shared::{parse_seconds, parse_size};

use crate::{cluster::ClusterArgs, exit::EXIT_CODES};

/// The options of `foldline-fleet ship`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ShipArgs {
    /// Logs, and folders that are searched for logs, also later [default: the folders where agents keep their logs]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) cluster: ClusterArgs,

    /// The agent that wrote the logs; `auto` detects it from the first lines of each
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(super) executor: String,

    /// The task of the sessions
    #[arg(long, value_name = "ID")]
    pub(super) task: Option<String>,

    /// The name of this machine, used as the prefix of the names of its logs [default: its host name]
    ///
    /// It must not change: under another name the same logs are different logs.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) host: Option<String>,

    /// A file that stores how much of each log the brokers have acknowledged; a restarted run resumes from it
    /// [default: foldline/ship-...json in the user's data directory, one for each PREFIX and brokers]
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,

    /// Ship the existing logs, then end
    #[arg(long, group = "end")]
    pub(super) once: bool,

    /// With --once or --idle-exit: fail if the brokers acknowledge nothing for this time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "300")]
    pub(super) timeout: Duration,

    /// End when no log has grown for this time [default: at Ctrl-C or SIGTERM]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, group = "end")]
    pub(super) idle_exit: Option<Duration>,

    /// Treat the logs as complete at the end: a last line without a line end is shipped, and calls without a result
    /// end as unfinished. Needs --once or --idle-exit, and has no effect if the run is interrupted
    #[arg(long = "final", requires = "end")]
    pub(super) complete: bool,

    /// The maximum length of a message; a longer line is split over several. The topic must allow it
    /// (max.message.bytes)
    #[arg(long, default_value = "900K", value_name = "SIZE", value_parser = parse_size)]
    pub(super) max_message: usize,

    /// Mask secrets, user names in home directories, and e-mail addresses with `*` before anything leaves this
    /// machine, and report what was masked. Best effort
    ///
    /// Finds only strings of a known shape, strings after a name such as `password`, and strings that look random: a
    /// secret that looks like a word is not found, nor one that an agent prints in several lines. Images look random,
    /// too. Logs keep their lengths, so this can be turned on and off between runs; data that was shipped before
    /// remains unmasked.
    #[arg(long)]
    pub(super) redact: bool,

    /// Serve Prometheus metrics at /metrics on this address, and the health at /healthz and /readyz
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(super) metrics: Option<SocketAddr>,

    /// Also search hidden files and folders
    #[arg(long)]
    pub(super) hidden: bool,
}

impl ShipArgs {
    /// How long a run that ends by itself waits for the brokers.
    pub(super) fn limit(&self) -> Option<Duration> {
        (self.once || self.idle_exit.is_some()).then_some(self.timeout)
    }
}
