//! [`Status`]: the status of a session.

use serde::Serialize;

use super::when;

/// The status of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(all(test, feature = "mcp"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// Its log grew in the last minute, and no end is stated.
    Running,
    /// The same, and a call waits for a person.
    Waiting,
    /// It failed, as its log states.
    Failed,
    /// Any other.
    Done,
}

impl Status {
    /// The status by what the log states and when it last grew, in milliseconds since 1970.
    pub(crate) fn of(outcome: Option<&str>, grew: Option<i64>, is_waiting: bool, now: i64) -> Self {
        let is_growing = grew.is_some_and(|grew| grew > when::running_since(now));
        match outcome {
            Some("failed" | "limit_reached" | "cancelled") => Self::Failed,
            None if is_growing && is_waiting => Self::Waiting,
            None if is_growing => Self::Running,
            _ => Self::Done,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Done => "done",
        }
    }

    /// The symbol that is drawn for it; none for what is done.
    #[cfg(feature = "serve")]
    pub(crate) fn symbol(self) -> Option<&'static str> {
        match self {
            Self::Running => Some("run"),
            Self::Waiting => Some("wait"),
            Self::Failed => Some("fail"),
            Self::Done => None,
        }
    }
}

/// In milliseconds since 1970.
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
