//! [`Step`] and [`Until`]: what following a log gives, and for how long.

use std::time::Duration;

use super::Notice;

/// When following ends, apart from the [`stop`](super::Follow::with_stop) flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Until {
    /// At the end of the log as it is.
    EndOfFile,
    /// When nothing has come for so long, and no other file waits to be read.
    Idle(Duration),
    /// Never.
    Stopped,
    /// Never, and no step waits: for those who follow many logs, and wait for all of them.
    Polled,
}

/// What following a log gives next. A new kind of step would be a breaking change: whoever follows must not
/// pass over one.
#[derive(Debug)]
pub enum Step<'f> {
    /// The next bytes.
    Bytes(&'f [u8]),
    /// Something happened to the log, and it goes on where it was, in the middle of a line if need be.
    Notice(Notice),
    /// What comes next is the beginning of a file: a line without end ends here.
    NextFile(Notice),
    /// Nothing came for a moment.
    Idle,
    /// The log has ended, or following was stopped.
    End,
}
