//! What can go wrong, in sentences for people.

use std::{io, path::PathBuf};

use super::exit;
use crate::{
    emitters::{audit::AuditError, sqlite::SqliteError},
    executors::Format,
};

/// Why the program failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("cannot read {}: {error}", .path.display())]
    Input { path: PathBuf, error: io::Error },

    #[error(
        "cannot go on from the checkpoint {}: {reason}; --restart begins anew",
        .path.display()
    )]
    Checkpoint { path: PathBuf, reason: String },

    #[error("cannot write the output: {0}")]
    Output(io::Error),

    #[error(
        "cannot write {}: {error}; when it can be written, run the command again to go on from there",
        .path.display()
    )]
    Write { path: PathBuf, error: io::Error },

    #[error(
        "cannot tell which agent wrote {}: its first {records} records do not decide it; name the format with --executor (known: {known})",
        .path.display()
    )]
    Unrecognised { path: PathBuf, records: usize, known: String },

    #[error(
        "{} is a log of {} ({format}), which is not supported yet (supported: {supported})",
        .path.display(), .format.description()
    )]
    Unsupported { path: PathBuf, format: Format, supported: String },

    #[error(transparent)]
    Database(#[from] SqliteError),

    #[error(transparent)]
    Audit(AuditError),

    #[error(
        "{path} was read by another program meanwhile; run the command again to go on from there"
    )]
    Overtaken { path: String },

    #[error("there is no {what} {id:?}{}", suggestion(.near))]
    NotFound { what: &'static str, id: String, near: Vec<String> },

    #[error("{0}")]
    WrongUse(String),
}

fn suggestion(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(" or ")),
    }
}

impl Error {
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Database(SqliteError::Query(_))
            | Self::Unrecognised { .. }
            | Self::Unsupported { .. }
            | Self::WrongUse(_) => exit::WRONG_USE,
            Self::Input { .. }
            | Self::Output(_)
            | Self::Write { .. }
            | Self::Audit(_)
            | Self::Checkpoint { .. }
            | Self::Database(_)
            | Self::Overtaken { .. } => exit::FAILED,
            Self::NotFound { .. } => exit::NOT_FOUND,
        }
    }
}
