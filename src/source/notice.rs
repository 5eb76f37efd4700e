//! [`Notice`]: what became of a log that is followed.

use std::{fmt, path::PathBuf};

/// What became of a log that is followed. Its text goes on behind the log's name: "was truncated ..".
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The log was renamed since it was last read: that file is read to its end first. Nothing is lost.
    Rotated {
        /// The file that it was renamed to.
        to: PathBuf,
    },
    /// The log was renamed more than once between two looks: the next of those files is read. Nothing is
    /// lost.
    RotatedAgain {
        /// The file that is read next.
        next: PathBuf,
    },
    /// Another file has the log's name, and is read from its beginning.
    Replaced {
        /// The file that was read before is not beside the log any more, so that others may have stood
        /// between the two, which are lost.
        may_have_gap: bool,
    },
    /// The log was copied and then truncated (`copytruncate`): the copy is read to its end first. What was
    /// written between the copy and the truncation is lost.
    Copied {
        /// The copy.
        to: PathBuf,
        /// How many bytes of the copy were not read before.
        unread: u64,
    },
    /// The log was truncated, or rewritten in place, and no copy of it was found: it is read again from its
    /// beginning.
    Truncated {
        /// How many bytes of it had been read.
        read: u64,
        /// How many bytes behind them are known to be lost; there may have been more.
        lost: u64,
    },
}

impl Notice {
    /// Whether a part of the log is lost, or may be.
    pub fn may_lose(&self) -> bool {
        match self {
            Self::Rotated { .. } | Self::RotatedAgain { .. } => false,
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
                "was copied to {} and truncated; {unread} bytes that were not read yet are read there, \
                 and if more was written between the copy and the truncation, it is lost",
                to.display()
            ),
            Self::Truncated { read, lost } => {
                write!(
                    f,
                    "was truncated or rewritten, and is read again from its beginning; {read} bytes of \
                     it had been read, and "
                )?;
                match lost {
                    0 => f.write_str("whether anything was written behind them is not known"),
                    lost => write!(f, "at least {lost} bytes behind them are lost"),
                }
            }
        }
    }
}
