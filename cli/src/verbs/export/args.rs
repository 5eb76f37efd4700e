//! The options of `foldline export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::{
    answer::{DatabaseArgs, PricesArgs},
    options::parse_size,
};

/// The options of `foldline export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The session: the path of a log, or what `foldline show` takes, such as `latest`, the first characters of an
    /// id, or a part of the title; `-` is a log on standard input
    #[arg(default_value = "latest")]
    pub(super) session: PathBuf,

    #[command(flatten)]
    pub(super) database: DatabaseArgs,

    /// The format of the document
    #[arg(long, short, value_enum, default_value_t)]
    pub(super) format: Format,

    /// Write to this file instead of standard output; it is replaced as a whole. A new file may be read by
    /// its owner only; one that exists keeps its permissions
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,

    /// Redact secrets, home directories and e-mail addresses, and report their number on standard error and in the
    /// document. Best effort: review the document before you share it
    #[arg(long)]
    pub(super) redact: bool,

    /// Which agent wrote the log; `auto` looks at its first lines
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(super) executor: String,

    /// The longest line that is read; of a longer one the beginning, the length and the SHA-256 value
    /// are kept
    #[arg(long, default_value = "16MiB", value_name = "SIZE", value_parser = parse_size)]
    pub(super) max_line: usize,

    /// Exit with 3 if a line was malformed
    #[arg(long)]
    pub(super) strict: bool,

    #[command(flatten)]
    pub(super) prices: PricesArgs,
}

/// What a session is made into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A page that needs no other file, no script and no network
    #[default]
    Html,
    /// A readable document in Markdown
    Md,
    /// The conversation as one JSON document, as `replay --format conversation` gives it
    Json,
}
