//! Times and durations on the page.

use foldline_domain::{EntryIdx, NormalizedEntry, Timestamp};
use jiff::{Timestamp as Moment, fmt::strtime, tz::TimeZone};
use maud::{Markup, html};

use crate::human;

/// The clock of a page: the time zone of all times on it. By default UTC, because a log does not state a zone.
#[derive(Clone, Debug)]
pub(super) struct Clock(pub(super) TimeZone);

impl Default for Clock {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Clock {
    /// A moment in a format of `strftime`; `None` for a moment outside of the calendar.
    pub(super) fn format(&self, at: Timestamp, format: &str) -> Option<String> {
        let moment = Moment::from_millisecond(at.as_millis()).ok()?;
        strtime::format(format, &moment.to_zoned(self.0.clone())).ok()
    }

    /// The first moment of the day after a moment; `None` outside of the calendar.
    pub(super) fn next_day(&self, at: Timestamp) -> Option<Timestamp> {
        let day = Moment::from_millisecond(at.as_millis()).ok()?.to_zoned(self.0.clone()).date();
        let next = day.tomorrow().ok()?.to_zoned(self.0.clone()).ok()?;
        Some(Timestamp::from_millis(next.timestamp().as_millisecond()))
    }

    /// `<time>` in a format of `strftime`, with UTC on hover where it differs.
    pub(super) fn stamped(&self, at: Timestamp, shown: &str) -> Option<Markup> {
        let utc = Self::default();
        let machine = utc.format(at, "%Y-%m-%dT%H:%M:%S.%3fZ")?;
        let title = self.0 != TimeZone::UTC;
        let title = title.then(|| utc.format(at, "%Y-%m-%d %H:%M:%S UTC")).flatten();
        let shown = self.format(at, shown)?;
        Some(html! { time datetime=(machine) title=[title] { (shown) } })
    }
}

/// The moment with its date and its zone, as the facts of a session have it.
pub(super) const DATED: &str = "%-d %b %Y %H:%M:%S %Z";

/// The time as a link to the entry, behind the day if it is a new one.
pub(super) fn link(
    index: EntryIdx,
    entry: &NormalizedEntry,
    clock: &Clock,
    is_new_day: bool,
) -> Markup {
    let day = entry.timestamp.filter(|_| is_new_day);
    html! {
        @if let Some(day) = day.and_then(|at| clock.stamped(at, "%A, %-d %B %Y")) { p.new-day { (day) } }
        a.at href={ "#e" (index.get()) } title="Link to this entry" {
            @match entry.timestamp.and_then(|at| clock.stamped(at, "%H:%M:%S")) {
                Some(time) => (time),
                None => { "#" (index.get()) },
            }
        }
    }
}

/// The column of durations. The font weight shows the magnitude.
pub(super) fn duration(millis: Option<u64>) -> Markup {
    let magnitude = match millis.unwrap_or(0) {
        0..100 => "0",
        100..1_000 => "1",
        1_000..10_000 => "2",
        10_000..60_000 => "3",
        _ => "4",
    };
    html! {
        span.dur data-mag=(magnitude) {
            @if let Some(millis) = millis { (human::duration(millis)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_one_zone_and_never_fail() {
        let at = Timestamp::from_millis(1_795_356_131_204);
        let shown = |clock: &Clock| clock.stamped(at, "%H:%M:%S").unwrap().into_string();
        let utc = Clock::default();
        assert_eq!(shown(&utc), r#"<time datetime="2026-11-22T14:02:11.204Z">14:02:11</time>"#);
        assert_eq!(utc.format(at, DATED).unwrap(), "22 Nov 2026 14:02:11 UTC");
        let east = Clock(TimeZone::fixed(jiff::tz::offset(10)));
        assert_eq!(
            shown(&east),
            r#"<time datetime="2026-11-22T14:02:11.204Z" title="2026-11-22 14:02:11 UTC">00:02:11</time>"#
        );
        assert_eq!(east.format(at, DATED).unwrap(), "23 Nov 2026 00:02:11 +10");
        assert!(utc.stamped(Timestamp::from_millis(i64::MAX), "%H").is_none());
        assert!(duration(Some(61_000)).into_string().contains(r#"data-mag="4">1 m 01 s"#));
    }
}
