//! [`Moment`]: a time in nanoseconds; [`Interval`]: the time from the first event to the last one.

use foldline_domain::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

/// Nanoseconds since 1970. OTLP has no time before, and none after the year 2554.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

impl Moment {
    /// The moment of a timestamp, if OTLP can express it.
    pub(super) fn of(at: Timestamp) -> Option<Self> {
        u64::try_from(at.as_millis()).ok()?.checked_mul(1_000_000).map(Self)
    }

    /// The moment a number of milliseconds later.
    pub(super) fn after(self, millis: u64) -> Option<Self> {
        self.0.checked_add(millis.checked_mul(1_000_000)?).map(Self)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// The times of a session, a turn or a sub-agent: those that its events state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Interval(Option<(Timestamp, Timestamp)>);

impl Interval {
    /// Includes a time.
    pub(super) fn include(&mut self, at: Option<Timestamp>) {
        let Some(at) = at.filter(|at| Moment::of(*at).is_some()) else { return };
        let (first, last) = self.0.unwrap_or((at, at));
        self.0 = Some((first.min(at), last.max(at)));
    }

    /// The first time.
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.0.map(|(first, _)| first)
    }

    /// The last time.
    pub(super) fn last(&self) -> Option<Timestamp> {
        self.0.map(|(_, last)| last)
    }

    /// The first moment and the last one; `None` if no event states a time.
    pub(super) fn moments(&self) -> Option<(Moment, Moment)> {
        let (first, last) = self.0?;
        Moment::of(first).zip(Moment::of(last))
    }
}
