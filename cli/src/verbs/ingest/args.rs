//! The options of `foldline ingest`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, ValueEnum};

use crate::{
    homes::DatabaseOption,
    sink::{ContentArgs, SinkName},
};

/// The options of `foldline ingest`.
#[derive(Debug, Default, Args)]
pub(crate) struct IngestArgs {
    /// Logs, or folders of logs [default: the folders of the agents]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) database: DatabaseOption,

    /// Task of new sessions; foldline task set changes that of stored sessions
    #[arg(long, value_name = "ID", conflicts_with = "task_from")]
    pub(super) task: Option<String>,

    /// Source of the task id of new sessions
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub(super) task_from: TaskFrom,

    /// Format of the logs; auto detects it from the first lines of each
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(super) executor: String,

    /// Audit trail to create or continue, with a record for each added event
    #[arg(long, value_name = "FILE")]
    pub(super) audit: Option<PathBuf>,

    /// Private key (Ed25519, PEM) that signs the audit trail at each commit; see foldline audit-key
    #[arg(long, value_name = "KEY", requires = "audit")]
    pub(super) sign: Option<PathBuf>,

    /// Further output to a file, or to a collector with otlp=http://HOST:4318, which gets everything that is added once;
    /// repeatable
    #[arg(long = "sink", value_name = "NAME[=FILE]", value_parser = SinkName::parse)]
    pub(super) sinks: Vec<SinkName>,

    #[command(flatten)]
    pub(super) content: ContentArgs,

    /// File of metrics of the whole database, in the Prometheus text format. A new file is readable by its owner
    /// only, an existing one keeps its permissions
    #[arg(long, value_name = "FILE")]
    pub(super) metrics: Option<PathBuf>,

    /// Treat the logs as complete: calls without a result are unfinished
    #[arg(long = "final")]
    pub(super) complete: bool,

    /// Read what is new about every second, until Ctrl-C
    #[arg(long, conflicts_with = "complete")]
    pub(super) follow: bool,

    /// Include hidden files and folders
    #[arg(long)]
    pub(super) hidden: bool,

    /// Number of threads [default: one for each processor]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<NonZeroUsize>,

    /// Seconds to wait while another program writes to the database
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(super) wait: u32,
}

/// The time that an answer waits for a writer of the database, in seconds.
const ANSWER_WAIT: u32 = 2;

impl IngestArgs {
    /// Whether an output is sent to a collector.
    pub(super) fn sends(&self) -> bool {
        self.sinks.iter().any(SinkName::has_no_file)
    }

    /// The update of a database for an answer.
    pub(super) fn of_an_answer() -> Self {
        Self { executor: "auto".to_owned(), wait: ANSWER_WAIT, ..Self::default() }
    }
}

/// What names the task of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum TaskFrom {
    /// Folder of the log
    Dir,
    /// File name of the log, without its extension
    File,
    /// Session id of the agent
    #[default]
    Session,
}
