//! The options of `foldline replay`.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::{
    options::{parse_seconds, parse_size},
    pace::{Speed, parse_speed},
    sink::{ContentArgs, SinkName},
};

/// The options of `foldline replay`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Log: a path, or a session as in foldline show, such as latest; - is standard input
    #[arg(default_value = "-")]
    pub(super) file: PathBuf,

    /// Format of the log; auto detects it from the first lines
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(super) executor: String,

    /// Output format
    #[arg(long, short, default_value = "transcript", value_name = "NAME")]
    pub(super) format: String,

    /// Further output, to a file or else to standard error, or to a collector with otlp=http://HOST:4318; repeatable
    #[arg(long = "sink", value_name = "NAME[=FILE]", value_parser = SinkName::parse)]
    pub(super) sinks: Vec<SinkName>,

    #[command(flatten)]
    pub(super) content: ContentArgs,

    /// Speed: 1x keeps the pauses of the log, 10x is ten times as fast, max does not wait
    #[arg(long, default_value = "max", value_parser = parse_speed)]
    pub(super) speed: Speed,

    /// Transcript width in columns [default: terminal width, else 100]
    #[arg(long, value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub(super) width: Option<u16>,

    /// Length limit of lines; of a longer line, the beginning, the length and the SHA-256 hash are kept
    #[arg(long, default_value = "16MiB", value_name = "SIZE", value_parser = parse_size)]
    pub(super) max_line: usize,

    /// Output file instead of standard output; it is replaced. A new file is readable by its owner only, an existing
    /// one keeps its permissions
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,

    /// Checkpoint file: a replay that is killed resumes from it, and its output is that of an uninterrupted one. A
    /// log that was rotated meanwhile is searched for next to it (FILE.1, FILE-2026...). The log and the output must
    /// be files, and the outputs resumable, such as patches and events
    #[arg(long, value_name = "FILE", requires = "out")]
    pub(super) checkpoint: Option<PathBuf>,

    /// Lines between two checkpoints; one is also written every second
    #[arg(long, default_value_t = 5000, value_name = "LINES", requires = "checkpoint")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) checkpoint_every: u64,

    /// Ignore the checkpoint and restart
    #[arg(long, requires = "checkpoint")]
    pub(super) restart: bool,

    /// Follow the log as it grows or is rotated, truncated or replaced, until Ctrl-C
    #[arg(long)]
    pub(super) follow: bool,

    /// Exit after this time without new data
    #[arg(long, value_name = "SECONDS", requires = "follow", value_parser = parse_seconds)]
    pub(super) idle_exit: Option<Duration>,

    /// Exit with 3 if a line is malformed
    #[arg(long)]
    pub(super) strict: bool,
}
