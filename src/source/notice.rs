//! [`Step`] and [`Until`]: the steps of following a log, and when it ends; [`Notice`]: a change of the log.

use std::{fmt, path::PathBuf, time::Duration};

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

/// A change of a followed log. Its text is a predicate after the log's name: "was truncated ..".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The log was renamed since it was last read: that file is read to its end first. Nothing is lost.
    Rotated {
        /// Its new path.
        to: PathBuf,
    },
    /// The log was renamed more than once between two checks: the next of those files is read. Nothing is lost.
    RotatedAgain {
        /// The next file.
        next: PathBuf,
    },
    /// Another file has the log's name, and is read from its beginning.
    Replaced {
        /// The previous file is no longer next to the log, so files between the two may have been lost.
        may_have_gap: bool,
    },
    /// The log was copied and then truncated (`copytruncate`): the copy is read to its end first. Data written
    /// between the copy and the truncation is lost.
    Copied {
        /// The copy.
        to: PathBuf,
        /// The number of unread bytes of the copy.
        unread: u64,
    },
    /// The log was truncated, or rewritten in place, and no copy of it was found: it is read from its beginning.
    Truncated {
        /// The number of bytes that had been read.
        read: u64,
        /// The number of further bytes that are known to be lost; there may have been more.
        lost: u64,
    },
    /// A document or a database, of which a part that had been read was changed: it is read from its beginning.
    Rewritten,
}

impl Notice {
    /// Whether a part of the log is lost, or may be.
    pub fn may_lose(&self) -> bool {
        match self {
            Self::Rotated { .. } | Self::RotatedAgain { .. } | Self::Rewritten => false,
            Self::Replaced { may_have_gap } => *may_have_gap,
            Self::Copied { .. } | Self::Truncated { .. } => true,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rotated { to } => {
                write!(f, "was rotated; {} is read to its end first", to.display())
            }
            Self::RotatedAgain { next } => {
                write!(f, "was rotated more than once; {} is read next", next.display())
            }
            Self::Replaced { may_have_gap } => {
                f.write_str("was replaced by another file, which is read from its beginning")?;
                if *may_have_gap {
                    f.write_str(
                        "; the one before it is not beside it, and whether others stood between them \
                         is not known",
                    )?;
                }
                Ok(())
            }
            Self::Copied { to, unread } => write!(
                f,
                "was copied to {} and truncated; {unread} unread bytes are read there, \
                 and anything written between the copy and the truncation is lost",
                to.display()
            ),
            Self::Rewritten => f.write_str("was rewritten, and is read again from its beginning"),
            Self::Truncated { read, lost } => {
                write!(
                    f,
                    "was truncated or rewritten, and is read again from its beginning; {read} bytes of \
                     it had been read, and "
                )?;
                match lost {
                    0 => f.write_str("whether anything was written after them is unknown"),
                    lost => write!(f, "at least {lost} bytes after them are lost"),
                }
            }
        }
    }
}
