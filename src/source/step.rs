//! [`Step`] and [`Until`]: the steps of following a log, and when it ends.

use std::time::Duration;

use super::Notice;

/// When following ends, apart from the [`stop`](super::Follow::with_stop) flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// At the current end of the log.
    EndOfFile,
    /// After this time without new data, if no other file waits to be read.
    Idle(Duration),
    /// Never.
    Stopped,
    /// Never, and no step waits: for callers that follow many logs and wait for all of them.
    Polled,
}

/// The next step of following a log. A new variant would be a breaking change: callers must handle every one.
#[derive(Debug)]
pub enum Step<'f> {
    /// The next bytes.
    Bytes(&'f [u8]),
    /// The log changed, and reading continues at the same position, possibly in the middle of a line.
    Notice(Notice),
    /// The next bytes are the beginning of a file: an unterminated line ends here.
    NextFile(Notice),
    /// No new data for a moment.
    Idle,
    /// The log has ended, or following was stopped.
    End,
}
