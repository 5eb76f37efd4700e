//! The options of `foldline ingest`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, ValueEnum};

use crate::{homes::DatabaseOption, sink::SinkName};

/// The options of `foldline ingest`.
#[derive(Debug, Default, Args)]
pub(crate) struct IngestArgs {
    /// Logs, and folders that are searched for logs [default: where the agents keep theirs]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) database: DatabaseOption,

    /// The task that new sessions belong to. Those that are stored keep theirs: `foldline task set`
    /// changes it
    #[arg(long, value_name = "ID", conflicts_with = "task_from")]
    pub(super) task: Option<String>,

    /// What names the task of a new session
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub(super) task_from: TaskFrom,

    /// Which agent wrote the logs; `auto` looks at the first lines of each
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(super) executor: String,

    /// An audit trail to continue, or to begin, with a record for each event that is added
    #[arg(long, value_name = "FILE")]
    pub(super) audit: Option<PathBuf>,

    /// Sign the audit trail at each commit with this private key (Ed25519, PEM): see `audit-key`
    #[arg(long, value_name = "KEY", requires = "audit")]
    pub(super) sign: Option<PathBuf>,

    /// A further consumer, which writes to a file. May be given again
    #[arg(long = "sink", value_name = "NAME=FILE", value_parser = SinkName::parse)]
    pub(super) sinks: Vec<SinkName>,

    /// Where to write the metrics of everything in the database, in the Prometheus text format. A new file may
    /// be read by its owner only; one that exists keeps its permissions, for a scraper of another user
    #[arg(long, value_name = "FILE")]
    pub(super) metrics: Option<PathBuf>,

    /// The logs are complete: calls without a result end as unfinished
    #[arg(long = "final")]
    pub(super) complete: bool,

    /// Also search hidden files and folders
    #[arg(long)]
    pub(super) hidden: bool,

    /// How many threads read and write [default: one for each processor]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<NonZeroUsize>,

    /// How many seconds to wait while another program writes to the database
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(super) wait: u32,
}

/// What names the task of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum TaskFrom {
    /// The folder that the log is in
    Dir,
    /// The log's file name, without its extension
    File,
    /// The agent's own id of the session
    #[default]
    Session,
}
