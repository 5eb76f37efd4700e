//! The options of `foldline export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::{
    answer::{DatabaseArgs, Filters, PricesArgs},
    only::What,
    options::parse_size,
};

/// The options of `foldline export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Session, as in foldline show: latest, an id or its first characters, a part of a title, or the path of a log;
    /// - is standard input
    #[arg(default_value = "latest")]
    pub(super) session: PathBuf,

    /// All sessions that the filters select: a folder, --out, with a document for each. Pages have a table of contents,
    /// index.html; rows are one file or one dataset
    #[arg(long, conflicts_with = "session", requires = "out")]
    pub(super) all: bool,

    #[command(flatten)]
    pub(super) database: DatabaseArgs,

    #[command(flatten)]
    pub(super) filters: Filters,

    /// Document format
    #[arg(long, short, value_enum, default_value_t)]
    pub(super) format: Format,

    /// Kinds of entries in the document, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub(super) only: Vec<What>,

    /// Output file instead of standard output, or with --all the folder; a file is replaced. A new file is readable by its owner only, an existing
    /// one keeps its permissions
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,

    /// Redact secrets, home directories and e-mail addresses, and report their kinds, numbers and entries. Best
    /// effort: review the document before you share it
    #[arg(long)]
    pub(super) redact: bool,

    /// List what --redact would replace, one line each with the text around it, and write no document
    #[arg(long, requires = "redact", conflicts_with = "out")]
    pub(super) preview: bool,

    /// Format of the log; auto detects it from the first lines
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(super) executor: String,

    /// Length limit of lines; of a longer line, the beginning, the length and the SHA-256 hash are kept
    #[arg(long, default_value = "16MiB", value_name = "SIZE", value_parser = parse_size)]
    pub(super) max_line: usize,

    /// Exit with 3 if a line is malformed
    #[arg(long)]
    pub(super) strict: bool,

    #[command(flatten)]
    pub(super) prices: PricesArgs,
}

/// What a session is made into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    /// A self-contained page, which is complete without its script
    #[default]
    Html,
    /// Markdown
    Md,
    /// The conversation as JSON, as in replay --format conversation
    Json,
    /// A trajectory in ATIF, the Agent Trajectory Interchange Format. With --out, pictures are files in a folder beside it
    Atif,
    /// Rows of the tables sessions, entries, calls and usage, as flat JSON lines
    Jsonl,
    /// The same tables as Parquet files in the folder --out, in a build with the feature parquet
    #[serde(skip)]
    Parquet,
}

impl Format {
    /// The ending of a file.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Md => "md",
            Self::Json => "json",
            Self::Atif => "atif.json",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }
}
