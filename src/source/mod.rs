//! Sources of bytes: logs that grow, are rotated, replaced or truncated.
//!
//! [`LogFile`] is a log that is opened once; its path is not used again. [`Follow`] reads a log as it is written, and
//! continues in the next file when it is rotated. The identity of a file, [`Identity`](crate::ledger::Identity), is a
//! plain value for checkpoints.
//!
//! # What is handled
//!
//! | change of the log | bytes that are read | possible loss |
//! | --- | --- | --- |
//! | it grows | the appended bytes | none |
//! | it is renamed (`log.1`, `log-20260101`) and created again | the old file until it is quiet, then the new one from its beginning | bytes that a writer appends to the old file later |
//! | it is renamed several times between two checks | every file that is still next to it, in the order of their numbers or dates, then the new one | files that were removed, compressed or named differently |
//! | it is removed and created again | the removed file to its end, then the new one | other files that had the name between two checks |
//! | it is copied to a file next to it and truncated (`copytruncate`) | the rest of the copy, then the log from its beginning | always: data written between the copy and the truncation; all unread data, if the copy is in another folder, has another time than its original and less than 1 KiB had been read, or is compressed immediately |
//! | it is truncated, or rewritten in place, even while it is not followed | the log from its beginning | unread data |
//! | it is rewritten in place with another text of the same length | the log from its beginning | none, unless file times are too coarse to show it: then it is noticed when the file grows |
//! | it is the target of a link, or has several names | the file; all names have one identity | none |
//!
//! A file that is compressed with gzip or Zstandard is its content, which does not grow: a log that is compressed after a rotation
//! stays the same log.
//!
//! A log that is not a file of lines, such as a database, a folder or a document, is opened by an [`Opener`], and read as
//! the lines that it makes. When it changes, they are made again: lines that were added at their end are read on, and after
//! a change of what was read they are read from their beginning ([`Notice::Rewritten`]), so what adds up has to begin again.
//!
//! A [`Notice`] reports a change and the possible loss; [`SourceError`] says why nothing can be read. The interval
//! between two checks is at most 100 ms, less where the system notifies of changes.
//!
//! On systems other than Unix, the standard library provides no inode: there, a rename is not noticed, and a replaced
//! log is treated as truncated or rewritten.

mod content;
mod error;
mod follow;
mod log_file;
mod notice;
mod opener;
mod opening;
mod regular;
mod rotated;
mod status;
mod watch;

pub use self::{
    error::SourceError,
    follow::Follow,
    log_file::LogFile,
    notice::{Notice, Step, Until},
    opener::{Opener, Openers, StoredLog},
    rotated::rotated_files,
    status::{status, written},
};
