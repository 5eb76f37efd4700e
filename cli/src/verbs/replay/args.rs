//! The options of `foldline replay`.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::{
    options::{Color, parse_seconds, parse_size},
    pace::{Speed, parse_speed},
    sink::SinkName,
};

/// The options of `foldline replay`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The log: its path, or what `foldline show` takes, such as `latest`; `-` is standard input
    #[arg(default_value = "-")]
    pub(super) file: PathBuf,

    /// Which agent wrote the log; `auto` looks at its first lines
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(super) executor: String,

    /// What to print
    #[arg(long, short, default_value = "transcript", value_name = "NAME")]
    pub(super) format: String,

    /// A further output, to a file or else to standard error. May be given again
    #[arg(long = "sink", value_name = "NAME[=FILE]", value_parser = SinkName::parse)]
    pub(super) sinks: Vec<SinkName>,

    /// How fast: `1x` keeps the log's own pauses, `10x` is ten times as fast, `max` does not wait
    #[arg(long, default_value = "max", value_parser = parse_speed)]
    pub(super) speed: Speed,

    /// Whether the transcript is coloured
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(super) color: Color,

    /// The transcript's width in columns [default: that of the terminal, else 100]
    #[arg(long, value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub(super) width: Option<u16>,

    /// The longest line that is read; of a longer one the beginning, the length and the SHA-256 value
    /// are kept
    #[arg(long, default_value = "16MiB", value_name = "SIZE", value_parser = parse_size)]
    pub(super) max_line: usize,

    /// Write to this file instead of standard output; its contents are replaced. A new file may be read by
    /// its owner only; one that exists keeps its permissions
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,

    /// Store in this file how far the log was read, and resume from there: killed at any moment and
    /// started again, the output is the same. If the log was rotated meanwhile, the older file is
    /// searched next to it (FILE.1, FILE-2026...). The log and the output must be files, and the
    /// outputs resumable, such as patches and events
    #[arg(long, value_name = "FILE", requires = "out")]
    pub(super) checkpoint: Option<PathBuf>,

    /// How many lines to read between two checkpoints; there is also one every second
    #[arg(long, default_value_t = 5000, value_name = "LINES", requires = "checkpoint")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) checkpoint_every: u64,

    /// Start from the beginning, and ignore the checkpoint
    #[arg(long, requires = "checkpoint")]
    pub(super) restart: bool,

    /// Follow the log as it grows, is rotated, truncated or replaced, until Ctrl-C
    #[arg(long)]
    pub(super) follow: bool,

    /// End after this time without new data
    #[arg(long, value_name = "SECONDS", requires = "follow", value_parser = parse_seconds)]
    pub(super) idle_exit: Option<Duration>,

    /// Exit with 3 if a line was malformed
    #[arg(long)]
    pub(super) strict: bool,
}
