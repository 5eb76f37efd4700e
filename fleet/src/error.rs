//! [`Error`]: the errors of the program, as messages for users, and how messages are printed.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Mutex, MutexGuard, PoisonError},
};

use foldline::{ledger::SourceName, source::SourceError};
use foldline_cli::shared;
use foldline_database::{StoreError, postgres::PostgresError, sqlite::SqliteError};
use foldline_render::terminal::neutralise_line;
use rdkafka::error::KafkaError;

use crate::ledger::KafkaLedgerError;

/// The reason why the program failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An error of a part that is shared with `foldline`.
    #[error(transparent)]
    Shared(#[from] shared::Error),

    #[error("cannot read {}: {error}", .path.display())]
    Input { path: PathBuf, error: io::Error },

    #[error(transparent)]
    Source(#[from] SourceError),

    #[error("cannot write the output: {0}")]
    Output(io::Error),

    #[error(transparent)]
    Database(#[from] SqliteError),

    #[error(transparent)]
    Server(#[from] PostgresError),

    #[error(transparent)]
    Store(#[from] StoreError),

    #[error("cannot start {what}: {error}")]
    Start { what: &'static str, error: io::Error },

    #[error("cannot {doing}: {error}")]
    Cluster { doing: String, error: KafkaError },

    #[error("cannot resume the source {source_name}: {reason}")]
    State { source_name: SourceName, reason: String },

    #[error("cannot reach the brokers {brokers}: {reason}")]
    Unreachable { brokers: String, reason: String },

    #[error("the brokers {brokers} reject the credentials of this client: {reason}")]
    Denied { brokers: String, reason: String },

    /// Problems of the topics.
    #[error("{}", .0.join("\n"))]
    Unsound(Vec<String>),

    #[error(
        "the next events of a partition were deleted while this sink ran; start it again, then it records which ones"
    )]
    DeletedMeanwhile,

    #[error("the brokers have sent nothing for {} seconds; start it again when they do", .0.as_secs())]
    Silent(std::time::Duration),

    #[error(transparent)]
    KafkaLedger(#[from] KafkaLedgerError),

    #[error(
        "another sink stores events in {name}: it has moved the mark of partition {partition} from {own} to {found}. This \
         sink ends, and has stored nothing since its last commit; run one sink per partition of a database"
    )]
    OtherSink { name: String, partition: String, own: String, found: String },

    #[error("{0}")]
    Shipping(String),

    #[error("{0}")]
    WrongUse(String),
}

impl Error {
    /// A file cannot be written.
    pub(crate) fn output(path: &Path, error: &io::Error) -> Self {
        Self::Output(io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    /// Prints the error, unless the reader of the output has closed it.
    pub(crate) fn report(&self) {
        match self {
            _ if self.is_closed_pipe() => {}
            Self::Unsound(all) => all.iter().for_each(|wrong| report(wrong)),
            error => report(&error.to_string()),
        }
    }

    fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            _ if self.is_closed_pipe() => ExitCode::SUCCESS,
            Self::Shared(error) => error.exit_code().into(),
            Self::WrongUse(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

/// Exit codes and variables, for `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  failed: something could not be read or written, or the brokers failed
  2  wrong use
  4  no agent keeps logs on this machine, and no logs were specified

Environment:
  FOLDLINE_BROKERS  bootstrap brokers
  RUST_LOG          what to log to stderr, e.g. foldline_fleet=debug";

/// Prints a line on standard error. Write errors are ignored.
pub(crate) fn report(message: &str) {
    let _ = writeln!(io::stderr(), "foldline-fleet: {}", neutralise_line(message));
}

/// Locks a value that is complete between any two statements, even after a panic.
pub(crate) fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
