//! [`FileLedgerError`].

use std::io;

/// The reason why a file ledger cannot be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileLedgerError {
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another program is writing to the output.
    #[error("another program is writing to the output")]
    Locked,
    /// Another program has the journal open.
    #[error("another program is writing to it")]
    JournalLocked,
    /// The output is a pipe or a device, which cannot be truncated.
    #[error("the output is not a regular file")]
    NotAFile,
    /// The journal is damaged, or of another version.
    #[error("{0}")]
    Journal(String),
    /// There is output, and no journal of it.
    #[error("the output has content, and its journal is missing")]
    NoJournal,
    /// The output does not belong to the journal.
    #[error("the output does not belong to the journal, or was truncated")]
    Output,
}
