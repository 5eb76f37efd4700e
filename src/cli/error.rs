//! What can go wrong, in sentences for people.

use std::{io, path::PathBuf};

use super::exit;
use crate::executors::Format;

/// Why the program failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("cannot read {}: {error}", .path.display())]
    Input { path: PathBuf, error: io::Error },

    #[error("cannot write the output: {0}")]
    Output(io::Error),

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
}

impl Error {
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Input { .. } | Self::Output(_) => exit::FAILED,
            Self::Unrecognised { .. } | Self::Unsupported { .. } => exit::WRONG_USE,
        }
    }
}
