//! Times and durations on the page. Times are in UTC, because a log does not state a time zone.

use jiff::{Timestamp as Moment, fmt::strtime, tz::TimeZone};
use maud::{Markup, html};

use crate::{
    conversation::{EntryIdx, NormalizedEntry, Timestamp},
    emitters::human,
};

/// A moment in UTC in a format of `strftime`; `None` for a moment outside of the calendar.
pub(super) fn format(at: Timestamp, format: &str) -> Option<String> {
    let moment = Moment::from_millisecond(at.as_millis()).ok()?;
    strtime::format(format, &moment.to_zoned(TimeZone::UTC)).ok()
}

/// `<time>` with the time of day.
fn of_day(at: Timestamp) -> Option<Markup> {
    stamped(at, "%H:%M:%S")
}

/// The time as a link to the entry.
pub(super) fn link(index: EntryIdx, entry: &NormalizedEntry) -> Markup {
    html! {
        a.at href={ "#e" (index.get()) } title="Link to this entry" {
            @match entry.timestamp.and_then(of_day) {
                Some(time) => (time),
                None => { "#" (index.get()) },
            }
        }
    }
}

/// `<time>` in a format of `strftime`.
pub(super) fn stamped(at: Timestamp, shown: &str) -> Option<Markup> {
    let machine = format(at, "%Y-%m-%dT%H:%M:%S.%3fZ")?;
    let shown = format(at, shown)?;
    Some(html! { time datetime=(machine) { (shown) } })
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
    fn times_are_utc_and_never_fail() {
        let at = Timestamp::from_millis(1_795_356_131_204);
        let time = of_day(at).unwrap().into_string();
        assert_eq!(time, r#"<time datetime="2026-11-22T14:02:11.204Z">14:02:11</time>"#);
        assert!(of_day(Timestamp::from_millis(i64::MAX)).is_none());
        assert!(duration(Some(61_000)).into_string().contains(r#"data-mag="4">1 m 01 s"#));
    }
}
