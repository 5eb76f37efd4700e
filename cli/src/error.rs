//! [`Error`]: the errors of the program, with messages for users.

use std::{
    io,
    path::{Path, PathBuf},
};

use foldline::{ledger::CommitError, source::SourceError};
use foldline_agents::Format;
use foldline_database::{StoreError, sqlite::SqliteError};

use super::{exit, say::say};

/// An error of the program. Its message is for users.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "their messages say what the fields are")]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    Input { path: PathBuf, error: io::Error },

    /// A log cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),

    /// A checkpoint does not match.
    #[error(
        "cannot resume from the checkpoint {}: {reason}; --restart starts from the beginning",
        .path.display()
    )]
    Checkpoint { path: PathBuf, reason: String },

    /// Standard output or a file cannot be written.
    #[error("cannot write the output: {0}")]
    Output(io::Error),

    /// The handler of Ctrl-C and SIGTERM cannot be installed.
    #[error("cannot wait for signals: {0}")]
    Signal(io::Error),

    /// Another failure, after which the command can be run again.
    #[error("{0}; run the command again to resume from what is stored")]
    Resumable(Box<Self>),

    /// The named file does not exist.
    #[error("there is no file {}", .0.display())]
    NoFile(PathBuf),

    /// The folder of a session is missing.
    #[error("the folder of the session, {}, does not exist; --print prints the command", .0.display())]
    NoFolder(PathBuf),

    /// The named file is not a log.
    #[error("{}{why}", .path.display())]
    NotALog { path: PathBuf, why: NoLog },

    /// The format of a log is not recognised.
    #[error(
        "cannot tell which agent wrote {}; name the format with --executor (known: {known})",
        .path.display()
    )]
    Unrecognised { path: PathBuf, known: String },

    /// The format of a log is known, and there is no executor for it.
    #[error(
        "{} is a log of {} ({format}), which is not supported yet (supported: {supported})",
        .path.display(), .format.title
    )]
    Unsupported { path: PathBuf, format: &'static Format, supported: String },

    /// A log may be of several formats.
    #[error(
        "{} may be a log of each of these formats: {formats}; name one with --executor",
        .path.display()
    )]
    Disputed { path: PathBuf, formats: String },

    /// A database cannot be read or written.
    #[error(transparent)]
    Database(#[from] SqliteError),

    /// A query of a database failed.
    #[error(transparent)]
    Store(StoreError),

    /// Another program has committed to the source meanwhile.
    #[error("{path} was read by another program meanwhile")]
    Overtaken { path: String },

    /// The named item does not exist.
    #[error("there is no {what} {id:?}{}", suggestion(.near))]
    NotFound { what: &'static str, id: String, near: Vec<String> },

    /// No session matches the filters, so there is no latest session.
    #[error("no session matches the filters")]
    NoSession,

    /// No logs were named, and there are no folders of agents.
    #[error("no agent keeps logs here (searched: {searched}); name a log or a folder of logs")]
    NoHomes { searched: String },

    /// No logs were found.
    #[error(
        "there are no logs in {} (searched for files named .jsonl and .json, and not in hidden folders)",
        list(.paths)
    )]
    NoLogs { paths: Vec<PathBuf> },

    /// A program cannot be started.
    #[error("cannot start {command}: {}", start(.error))]
    Start { command: String, error: io::Error },

    /// A server on another machine cannot be reached, or takes nothing now.
    #[error("{0}")]
    Unreached(String),

    /// Wrong arguments.
    #[error("{0}")]
    WrongUse(String),
}

/// The kind of a file that is not a log; the message follows the name of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoLog {
    /// A folder.
    #[error(" is a folder, not a log; name a log in it")]
    Folder,
    /// An empty file.
    #[error(": the file is empty")]
    Empty,
    /// A binary file.
    #[error(" is a binary file, not a log")]
    Binary,
    /// A database of this program.
    #[error(" is a database, not a log; foldline sessions --db FILE lists its sessions")]
    Database,
    /// A database of another program.
    #[error(" is a database of another program, not a log")]
    ForeignDatabase,
    /// A part of a session in opencode's older storage.
    #[error(
        " is a part of a session, which opencode kept in several files; its facts, in storage/session/PROJECT/ID.json, \
         name the session"
    )]
    OpencodeStorage,
}

fn start(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program".to_owned(),
        io::ErrorKind::PermissionDenied => "it cannot be executed".to_owned(),
        _ => error.to_string(),
    }
}

fn suggestion(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(" or ")),
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// An error of the system, with its file.
pub(super) fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl<E: Into<Self>> From<CommitError<E>> for Error {
    fn from(error: CommitError<E>) -> Self {
        match error {
            CommitError::Moved { source_name, .. } => {
                Self::Overtaken { path: source_name.as_str().to_owned() }
            }
            CommitError::Failed(error) => error.into(),
        }
    }
}

impl Error {
    /// An output file cannot be written.
    pub(super) fn output(path: &Path, error: &io::Error) -> Self {
        Self::Output(named(path, error))
    }

    /// The same failure, for a run that can be continued without loss.
    pub(super) fn resumable(self) -> Self {
        Self::Resumable(Box::new(self))
    }

    /// The message, for a context that already names the file.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Input { error, .. }
            | Self::Source(SourceError::Open { error, .. } | SourceError::Read { error, .. }) => {
                error.to_string()
            }
            error => error.to_string(),
        }
    }

    /// Prints the error, unless the reader has closed the output.
    pub(super) fn report(&self) {
        if !self.is_closed_pipe() {
            say(&self.to_string());
        }
    }

    /// Whether another program committed first. A retry starts from its commit.
    pub(super) fn is_overtaken(&self) -> bool {
        match self {
            Self::Resumable(error) => error.is_overtaken(),
            Self::Overtaken { .. } | Self::Database(SqliteError::Overtaken(_)) => true,
            _ => false,
        }
    }

    /// Whether another program kept writing to the database for longer than this one waits.
    pub(super) fn is_in_use(&self) -> bool {
        match self {
            Self::Resumable(error) => error.is_in_use(),
            Self::Database(SqliteError::Locked(_)) => true,
            error => error.is_overtaken(),
        }
    }

    /// Whether the reader of standard output has closed it, as `head` does.
    fn is_closed_pipe(&self) -> bool {
        // An error of another output has its file, and is one.
        matches!(self, Self::Output(error)
            if error.kind() == io::ErrorKind::BrokenPipe && error.get_ref().is_none())
    }

    /// The exit code of the error.
    pub fn exit_code(&self) -> u8 {
        match self {
            _ if self.is_closed_pipe() => exit::SUCCESS,
            Self::Database(SqliteError::Query(_))
            | Self::Store(StoreError::Query(_))
            | Self::NotALog { .. }
            | Self::Unrecognised { .. }
            | Self::Unsupported { .. }
            | Self::Disputed { .. }
            | Self::WrongUse(_) => exit::USAGE,
            Self::Input { .. }
            | Self::Source(_)
            | Self::Output(_)
            | Self::Checkpoint { .. }
            | Self::Database(_)
            | Self::Store(_)
            | Self::Overtaken { .. }
            | Self::Unreached(_)
            | Self::Signal(_) => exit::FAILED,
            // The convention of shells.
            Self::Start { error, .. } if error.kind() == io::ErrorKind::NotFound => 127,
            Self::Start { .. } => 126,
            Self::NoFile(_)
            | Self::NoFolder(_)
            | Self::NoSession
            | Self::NotFound { .. }
            | Self::NoHomes { .. }
            | Self::NoLogs { .. } => exit::NOT_FOUND,
            Self::Resumable(error) => error.exit_code(),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Engine(error) => match error.downcast() {
                Ok(error) => Self::Database(*error),
                Err(error) => Self::Store(StoreError::Engine(error)),
            },
            error => Self::Store(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_standard_output_may_be_closed_by_its_reader() {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(Error::Output(closed()).exit_code(), exit::SUCCESS);
        assert_eq!(Error::output(Path::new("fifo"), &closed()).exit_code(), exit::FAILED);
    }
}
