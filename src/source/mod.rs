//! Where the bytes of a log come from: files that grow, are rotated, replaced or truncated.
//!
//! [`LogFile`] is a log that is opened once and read from there: nothing is asked of its name again.
//! [`Follow`] reads a log as it is written, and goes on in the next file when it is rotated. By what a
//! file is recognised again, an [`Identity`](crate::ledger::Identity), is a plain value that checkpoints
//! keep.
//!
//! # What is handled
//!
//! | what happens to the log | what is read | what may be lost |
//! | --- | --- | --- |
//! | it grows | what was added | nothing |
//! | it is renamed (`log.1`, `log-20260101`) and created anew | the old file until it is quiet, then the new one from its beginning | what a writer adds to the old file later |
//! | it is renamed several times between two looks | every file that is still beside it, in the order of their numbers or dates, then the new one | what stood in files that were removed, compressed or named in another way |
//! | it is removed and created anew | the removed file to its end, then the new one | other files that stood there between two looks |
//! | it is copied to a file beside it and truncated (`copytruncate`) | the rest of the copy, then the log from its beginning | what is written between the copy and the truncation, always; all that was not read, if the copy is compressed at once, is somewhere else, or less than 1 KiB had been read |
//! | it is truncated, or rewritten in place, also while nobody follows it | the log from its beginning | what was not read |
//! | it is rewritten in place with another text of the same length | the log from its beginning | nothing, unless file times are too coarse to show it: then it is noticed when the file grows |
//! | it is the target of a link, or has several names | the file; all names have one identity | nothing |
//!
//! A file that is compressed with gzip can be read once, from its beginning, and not followed.
//!
//! What happened, and what may be missing, is a [`Notice`]; [`SourceError`] says why nothing can be read.
//! Between two looks there are 100 ms at the most, less where the system notifies of changes.
//!
//! On systems other than Unix a file has no number that the standard library would tell: there a rename is
//! not noticed, and a log that was replaced is one that was truncated or rewritten.

mod error;
mod follow;
mod log_file;
mod notice;
mod regular;
mod rotated;
mod status;
mod step;
mod watch;

pub use self::{
    error::SourceError,
    follow::Follow,
    log_file::LogFile,
    notice::Notice,
    rotated::rotated_files,
    step::{Step, Until},
};
