//! Parses human-readable times.

use foldline_database::query::Period;
use jiff::{
    SignedDuration, Span, Timestamp, ToSpan, Zoned,
    civil::{Date, Weekday},
    tz::TimeZone,
};

use crate::error::Error;

const WRONG: &str = "give today, yesterday, a weekday, this week, last week, this month, last month, a day such as \
    2026-01-31, a month such as 2026-01, a year such as 2026, an age such as 7d, 12h or 30m, or an RFC 3339 time";

/// Checks a time of the command line, whose time zone may be another argument.
pub(crate) fn check(text: &str) -> Result<String, String> {
    match parse_at(text, &Timestamp::now().to_zoned(TimeZone::UTC)) {
        Some(_) => Ok(text.to_owned()),
        None => Err(WRONG.to_owned()),
    }
}

/// Reads the name of a time zone.
pub(crate) fn zone(name: &str) -> Result<TimeZone, String> {
    let wrong = |_| "give the name of a time zone, such as Europe/Paris or UTC".to_owned();
    TimeZone::get(name).map_err(wrong)
}

/// The age in milliseconds at which a log that did not grow is no longer written to.
const QUIET: i64 = 60_000;

/// The moment after which the log of a running session grew, in milliseconds since 1970.
pub(crate) fn running_since(now: i64) -> i64 {
    now.saturating_sub(QUIET)
}

/// The time from the beginning of `since` to the end of `until`.
pub(crate) fn period(
    since: Option<&str>,
    until: Option<&str>,
    zone: &TimeZone,
) -> Result<Period, Error> {
    let parse = |text: &str| parse(text, zone);
    let start = since.map(parse).transpose()?.map_or(Period::ALL.start, |since| since.start);
    let end = until.map(parse).transpose()?.map_or(Period::ALL.end, |until| until.end);
    Ok(Period { start, end })
}

/// Reads a time in a time zone.
pub(crate) fn parse(text: &str, zone: &TimeZone) -> Result<Period, Error> {
    parse_at(text, &Timestamp::now().to_zoned(zone.clone()))
        .ok_or_else(|| Error::WrongUse(format!("{text:?} is not a time: {WRONG}")))
}

fn parse_at(text: &str, now: &Zoned) -> Option<Period> {
    let moment = |moment: Timestamp| Period {
        start: moment.as_millisecond(),
        end: moment.as_millisecond().saturating_add(1),
    };
    if let Some(age) = age(text) {
        return now.timestamp().checked_sub(age).ok().map(moment);
    }
    if let Ok(exact) = text.parse::<Timestamp>() {
        return Some(moment(exact));
    }
    let (first, length) = days(&text.to_ascii_lowercase(), now)?;
    let millis = |day: Date| {
        let start = day.to_zoned(now.time_zone().clone()).ok()?;
        Some(start.timestamp().as_millisecond())
    };
    Some(Period { start: millis(first)?, end: millis(first.checked_add(length).ok()?)? })
}

/// The first day and the length of a period: a week begins on Monday, as in ISO 8601.
fn days(text: &str, now: &Zoned) -> Option<(Date, Span)> {
    let today = now.date();
    // The latest one, which may be today.
    let latest = |day| today.checked_sub(now.weekday().since(day).days()).ok();
    let (day, week, month) = (1.day(), 1.week(), 1.month());
    Some(match text.split_whitespace().collect::<Vec<_>>().join(" ").as_str() {
        "today" => (today, day),
        "yesterday" => (today.yesterday().ok()?, day),
        "this week" => (latest(Weekday::Monday)?, week),
        "last week" => (latest(Weekday::Monday)?.checked_sub(week).ok()?, week),
        "this month" => (today.first_of_month(), month),
        "last month" => (today.first_of_month().checked_sub(month).ok()?, month),
        text => match (weekday(text), text.split('-').count(), text.len()) {
            (Some(weekday), ..) => (latest(weekday)?, day),
            (None, 2, 7) => (format!("{text}-01").parse().ok()?, month),
            (None, 1, 4) => (format!("{text}-01-01").parse().ok()?, 1.year()),
            _ => (text.parse().ok()?, day),
        },
    })
}

fn weekday(text: &str) -> Option<Weekday> {
    let day = match text {
        "monday" | "mon" => Weekday::Monday,
        "tuesday" | "tue" => Weekday::Tuesday,
        "wednesday" | "wed" => Weekday::Wednesday,
        "thursday" | "thu" => Weekday::Thursday,
        "friday" | "fri" => Weekday::Friday,
        "saturday" | "sat" => Weekday::Saturday,
        "sunday" | "sun" => Weekday::Sunday,
        _ => return None,
    };
    Some(day)
}

fn age(text: &str) -> Option<SignedDuration> {
    let unit = text.chars().next_back()?;
    let number: i64 = text.strip_suffix(unit)?.parse().ok().filter(|number| *number >= 0)?;
    let seconds = match unit {
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        'w' => 7 * 24 * 3600,
        _ => return None,
    };
    Some(SignedDuration::from_secs(number.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3600 * 1000;

    fn millis(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn days_moments_and_ages() {
        let now: Zoned = "2026-02-10T12:00:00[UTC]".parse().unwrap();
        let span = |text| parse_at(text, &now).map(|Period { start, end }| (start, end - start));
        let day = 24 * HOUR;
        assert_eq!(span("2026-01-31"), Some((millis("2026-01-31T00:00:00Z"), day)));
        assert_eq!(span("2026-01-31T10:00:00+02:00"), Some((millis("2026-01-31T08:00:00Z"), 1)));
        assert_eq!(span("7d"), Some((millis("2026-02-03T12:00:00Z"), 1)));
        assert_eq!(span("90m"), Some((millis("2026-02-10T10:30:00Z"), 1)));
        assert_eq!(span("today"), Some((millis("2026-02-10T00:00:00Z"), day)));
        assert_eq!(span("Yesterday"), Some((millis("2026-02-09T00:00:00Z"), day)));
        // The 10th is a Tuesday.
        assert_eq!(span("tuesday"), span("today"));
        assert_eq!(span("mon"), span("yesterday"));
        assert_eq!(span("wednesday"), Some((millis("2026-02-04T00:00:00Z"), day)));
        // Weeks begin on Monday, and months are as long as they are.
        assert_eq!(span("this week"), Some((millis("2026-02-09T00:00:00Z"), 7 * day)));
        assert_eq!(span("Last  Week"), Some((millis("2026-02-02T00:00:00Z"), 7 * day)));
        assert_eq!(span("this month"), Some((millis("2026-02-01T00:00:00Z"), 28 * day)));
        assert_eq!(span("last month"), Some((millis("2026-01-01T00:00:00Z"), 31 * day)));
        assert_eq!(span("2024-02"), Some((millis("2024-02-01T00:00:00Z"), 29 * day)));
        assert_eq!(span("2024"), Some((millis("2024-01-01T00:00:00Z"), 366 * day)));
        for text in ["2026-1", "2026-13", "202", "20260", "next week", "month", "12-2026"] {
            assert_eq!(span(text), None, "{text}");
        }
        for text in ["", "d", "7", "-7d", "99999999999999999d", "2026-13-01", "someday", "7é"] {
            assert_eq!(span(text), None, "{text}");
        }
    }

    #[test]
    fn a_day_is_that_of_the_time_zone() {
        // Summer time began on this day: it had 23 hours.
        let now: Zoned = "2026-03-29T01:30:00[Europe/Paris]".parse().unwrap();
        let today = parse_at("today", &now).unwrap();
        assert_eq!(today.start, millis("2026-03-28T23:00:00Z"));
        assert_eq!(today.end - today.start, 23 * HOUR);
    }
}
