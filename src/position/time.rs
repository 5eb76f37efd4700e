//! [`Timestamp`]: a moment stated in the log.

use serde::{Deserialize, Serialize};

/// A moment in milliseconds since 1970-01-01T00:00:00Z, as stated in the log. Never taken from a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment `millis` milliseconds after 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The beginning of this moment's quarter of an hour. Every time zone is offset from UTC by whole quarters, so
    /// days and hours of any zone can be composed of quarters.
    #[must_use]
    pub const fn quarter_hour(self) -> Self {
        const MILLIS: i64 = 15 * 60 * 1000;
        Self(self.0.saturating_sub(self.0.rem_euclid(MILLIS)))
    }

    /// Milliseconds from `earlier` to this moment; `None` if this moment is before `earlier`.
    pub fn millis_since(self, earlier: Self) -> Option<u64> {
        self.0.checked_sub(earlier.0)?.try_into().ok()
    }
}
