//! The options of `foldline-fleet ship`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use foldline_cli::shared::{parse_seconds, parse_size};

use crate::{cluster::ClusterArgs, exit::EXIT_CODES};

/// The options of `foldline-fleet ship`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ShipArgs {
    /// Logs, and folders that are searched for logs, now and later [default: where the agents keep theirs]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) cluster: ClusterArgs,

    /// Which agent wrote the logs; `auto` looks at the first lines of each
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(super) executor: String,

    /// The task that the sessions belong to
    #[arg(long, value_name = "ID")]
    pub(super) task: Option<String>,

    /// The name of this machine, which the names of its logs begin with [default: its host name]
    ///
    /// It must stay the same: under another name the same logs are other ones.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) host: Option<String>,

    /// Store in this file how far the brokers have acknowledged each log, and go on from there when started again
    /// [default: foldline/ship-...json in the user's folder for data, one for each PREFIX and brokers]
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,

    /// Ship what there is now, and end
    #[arg(long, group = "end")]
    pub(super) once: bool,

    /// End when no log has grown for this time [default: at Ctrl-C or SIGTERM]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, group = "end")]
    pub(super) idle_exit: Option<Duration>,

    /// The logs are complete at the end: a last line without a line end is shipped, too, and calls without a result
    /// end as unfinished. Needs --once or --idle-exit, and does nothing if the run is interrupted
    #[arg(long = "final", requires = "end")]
    pub(super) complete: bool,

    /// The longest message; a longer line is shipped in several. The topic must allow it (max.message.bytes)
    #[arg(long, default_value = "900K", value_name = "SIZE", value_parser = parse_size)]
    pub(super) max_message: usize,

    /// Mask secrets, names of people in paths of their folders, and e-mail addresses with `*` before anything leaves
    /// this machine; says at the end what was masked. Best effort
    ///
    /// What has a known shape, a name such as `password` before it, or looks random is found, and no more: a secret that
    /// looks like a word is not, nor one that an agent prints in several lines. Pictures look random, too. Logs keep
    /// their lengths, so this can be turned on and off between runs; what was shipped before stays as it is.
    #[arg(long)]
    pub(super) redact: bool,

    /// Also search hidden files and folders
    #[arg(long)]
    pub(super) hidden: bool,
}
