//! [`ActiveTime`]: how long a session was worked on, without its pauses.

use crate::{DomainEvent, Timestamp};

/// The longest time without an event that is work, in milliseconds: five minutes. A longer one is a pause.
const LONGEST_GAP: u64 = 5 * 60_000;

/// The longest time of a call that is work although nothing else happens, in milliseconds: an hour. A call that takes
/// longer waited for a person, or the machine slept.
const LONGEST_CALL: u64 = 60 * 60_000;

/// The moment of an event, and the beginning of the call that it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    at: Timestamp,
    begun: Option<Timestamp>,
}

impl Activity {
    /// That of an event whose time the log states.
    pub fn of(event: &DomainEvent) -> Option<Self> {
        let begun = match event {
            DomainEvent::UpdateToolCall { entry, .. } => entry.timestamp,
            _ => None,
        };
        Some(Self { at: event.timestamp()?, begun })
    }
}

/// The sum of the times between consecutive events, in the order of the log, that are no pauses. The time before the
/// result of a call is work from its beginning on, for an hour at most. An event that is earlier than others before it
/// adds nothing.
///
/// It continues from the latest moment and the sum, so it does not depend on how a log is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActiveTime {
    /// The latest moment.
    pub last: Option<Timestamp>,
    /// The sum.
    pub millis: u64,
}

impl ActiveTime {
    /// Adds the time since the event before.
    pub fn add(&mut self, Activity { at, begun }: Activity) {
        let Some(last) = self.last.replace(self.last.map_or(at, |last| last.max(at))) else {
            return;
        };
        let gap = at.millis_since(last).unwrap_or(0);
        let of_call = begun.map_or(0, |begun| {
            let hour = i64::try_from(LONGEST_CALL).unwrap_or(i64::MAX);
            let end = begun.as_millis().saturating_add(hour).min(at.as_millis());
            Timestamp::from_millis(end).millis_since(begun.max(last)).unwrap_or(0)
        });
        let worked = if gap <= LONGEST_GAP { gap } else { of_call };
        self.millis = self.millis.saturating_add(worked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    /// Of moments in minutes, each with the beginning of the call that ends there.
    fn active(moments: &[(i64, Option<i64>)]) -> u64 {
        let at = |minutes: i64| Timestamp::from_millis(minutes * MINUTE);
        let mut time = ActiveTime::default();
        for (moment, begun) in moments {
            time.add(Activity { at: at(*moment), begun: begun.map(at) });
        }
        time.millis / MINUTE.unsigned_abs()
    }

    #[test]
    fn a_pause_does_not_count_and_a_call_does() {
        assert_eq!(active(&[]), 0);
        assert_eq!(active(&[(0, None), (4, None), (9, None), (500, None), (501, None)]), 10);
        // A call of 20 minutes, after a pause; another one at the same time.
        assert_eq!(active(&[(0, None), (100, None), (120, Some(100)), (130, Some(100))]), 30);
        // The machine slept during a call.
        assert_eq!(active(&[(0, None), (600, Some(0))]), 60);
        // What is earlier adds nothing, and nothing is counted twice.
        assert_eq!(active(&[(10, None), (2, None), (12, None), (12, None)]), 2);
    }

    #[test]
    fn no_number_of_a_log_is_too_large() {
        let mut time = ActiveTime::default();
        for millis in [i64::MIN, 0, MINUTE, i64::MAX] {
            let begun = Some(Timestamp::from_millis(i64::MIN));
            time.add(Activity { at: Timestamp::from_millis(millis), begun });
        }
        assert_eq!(time.last, Some(Timestamp::from_millis(i64::MAX)));
    }
}
