//! Parses times of user input.

use jiff::{SignedDuration, Timestamp, Zoned, civil::Date, tz::TimeZone};

/// A period, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct When {
    /// Its first moment.
    pub(crate) start: i64,
    /// The first moment after it.
    pub(crate) end: i64,
}

/// Reads `2026-01-31` (a day, UTC), an RFC 3339 moment, or an age such as `7d`, `12h`, `30m`, `2w`.
pub(crate) fn parse(text: &str) -> Result<When, String> {
    parse_at(text, Timestamp::now())
        .ok_or_else(|| "give a day such as 2026-01-31 (UTC), an RFC 3339 time, or an age such as 7d, 12h or 30m".to_owned())
}

fn parse_at(text: &str, now: Timestamp) -> Option<When> {
    let moment = |moment: Timestamp| When {
        start: moment.as_millisecond(),
        end: moment.as_millisecond().saturating_add(1),
    };
    if let Some(age) = age(text) {
        return now.checked_sub(age).ok().map(moment);
    }
    if let Ok(exact) = text.parse::<Timestamp>() {
        return Some(moment(exact));
    }
    let start: Zoned = text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?;
    let end = start.tomorrow().ok()?;
    let millis = |zoned: &Zoned| zoned.timestamp().as_millisecond();
    Some(When { start: millis(&start), end: millis(&end) })
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

    #[test]
    fn days_moments_and_ages() {
        let now: Timestamp = "2026-02-10T12:00:00Z".parse().unwrap();
        let span = |text| parse_at(text, now).map(|When { start, end }| (start, end - start));
        let millis = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        let day = 24 * 3600 * 1000;
        assert_eq!(span("2026-01-31"), Some((millis("2026-01-31T00:00:00Z"), day)));
        assert_eq!(span("2026-01-31T10:00:00+02:00"), Some((millis("2026-01-31T08:00:00Z"), 1)));
        assert_eq!(span("7d"), Some((millis("2026-02-03T12:00:00Z"), 1)));
        assert_eq!(span("90m"), Some((millis("2026-02-10T10:30:00Z"), 1)));
        for text in ["", "d", "7", "-7d", "99999999999999999d", "2026-13-01", "yesterday", "7é"] {
            assert_eq!(span(text), None, "{text}");
        }
    }
}
