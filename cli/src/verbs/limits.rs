//! The stated limits of an account, in words.

use std::cmp::Reverse;

use foldline_domain::{Limit, Timestamp};
use foldline_render::{human, terminal::neutralise_line};
use jiff::tz::TimeZone;

use crate::answer::{Kind, Value};

const HOUR: u64 = 60;

const DAY: u64 = 24 * HOUR;

/// The limits whose windows have not ended, the shortest window first. Of several that have one name in words, the
/// latest: a log may state a window in another place than before.
pub(super) fn current(mut limits: Vec<Limit>, now: i64) -> Vec<Limit> {
    limits.retain(|limit| !limit.is_over(Timestamp::from_millis(now)));
    limits.sort_by_key(|limit| Reverse(limit.at));
    let mut current: Vec<Limit> = Vec::new();
    for limit in limits {
        if current.iter().all(|known| long(known) != long(&limit)) {
            current.push(limit);
        }
    }
    current.sort_by_key(|limit| {
        let (of, _) = of_and_window(limit);
        (of, minutes(limit).unwrap_or(u64::MAX), limit.name.decode().into_owned())
    });
    current
}

/// `five hours: 42% used, resets 2026-11-27 15:00 (stated at 13:20)`.
pub(super) fn sentence(limit: &Limit, now: i64, zone: &TimeZone) -> String {
    let minute = |millis: i64| Value::Integer(millis).shown(Kind::Minute, zone);
    let mut sentence = format!("{}: {} used", long(limit), percent(limit.used_percent));
    if let Some(end) = limit.resets_at {
        sentence += &format!(", resets {}", minute(end.as_millis()));
    }
    if let Some(at) = limit.at {
        let (at, now) = (minute(at.as_millis()), minute(now));
        let is_today = at.split_once(' ').zip(now.split_once(' '));
        let time = is_today.filter(|(at, now)| at.0 == now.0).map(|(at, _)| at.1);
        sentence += &format!(" (stated at {})", time.unwrap_or(&at));
    }
    neutralise_line(&sentence).into_owned()
}

/// `5h 42%`.
pub(super) fn short(limit: &Limit) -> String {
    let window = match minutes(limit) {
        Some(minutes) if minutes.is_multiple_of(DAY) => format!("{}d", minutes / DAY),
        Some(minutes) if minutes.is_multiple_of(HOUR) => format!("{}h", minutes / HOUR),
        Some(minutes) => format!("{minutes}m"),
        None => of_and_window(limit).1,
    };
    format!("{window} {}", percent(limit.used_percent))
}

fn long(limit: &Limit) -> String {
    let (of, name) = of_and_window(limit);
    let window = match minutes(limit) {
        Some(300) => "five hours".to_owned(),
        Some(10_080) => "seven days".to_owned(),
        Some(minutes) if minutes.is_multiple_of(DAY) => human::number_of(minutes / DAY, "day"),
        Some(minutes) if minutes.is_multiple_of(HOUR) => human::number_of(minutes / HOUR, "hour"),
        Some(minutes) => human::number_of(minutes, "minute"),
        None => name,
    };
    match of {
        Some(of) => format!("{of}, {window}"),
        None => window,
    }
}

/// The length of the window. Codex of 2025 stated a minute less.
fn minutes(limit: &Limit) -> Option<u64> {
    let minutes = limit.window_minutes.filter(|minutes| *minutes > 0)?;
    let rounded = minutes.saturating_add(1);
    Some(if rounded.is_multiple_of(HOUR) { rounded } else { minutes })
}

/// What is limited, unless it is the whole account, and the name of the window in words.
fn of_and_window(limit: &Limit) -> (Option<String>, String) {
    let name = limit.name.decode().replace('_', " ");
    match name.rsplit_once('/') {
        Some((of, window)) => (Some(of.to_owned()), window.to_owned()),
        None => (None, name),
    }
}

/// A whole percentage; an absurd one in short.
fn percent(percent: f64) -> String {
    match percent.abs() < 1e6 {
        // Zero has no sign.
        true => format!("{:.0}%", percent.round() + 0.0),
        false => format!("{percent:.0e}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(name: &str, used_percent: f64, window_minutes: Option<u64>, at: i64) -> Limit {
        let at = Some(Timestamp::from_millis(at));
        Limit { name: name.into(), used_percent, window_minutes, at, ..Limit::default() }
    }

    #[test]
    fn a_limit_in_words() {
        let end =
            |limit: Limit, end| Limit { resets_at: Some(Timestamp::from_millis(end)), ..limit };
        let day = 86_400_000;
        let five = end(limit("primary", 42.4, Some(299), day), day + 60_000);
        let told = |limit: &Limit, now| sentence(limit, now, &TimeZone::UTC);
        let words = "five hours: 42% used, resets 1970-01-02 00:01 (stated at 00:00)";
        assert_eq!(told(&five, day + 1), words);
        assert_eq!(
            told(&limit("a_b/x", 1e300, Some(1440), day), 0),
            "a b, 1 day: 1e300% used (stated at 1970-01-02 00:00)"
        );
        assert_eq!(
            told(&Limit { at: None, ..limit("spend_limit", -0.4, Some(0), 0) }, 0),
            "spend limit: 0% used"
        );
        let short = |minutes| short(&limit("x", 101.5, minutes, 0));
        assert_eq!(
            [Some(300), Some(10_079), Some(90), None].map(short),
            ["5h 102%", "7d 102%", "90m 102%", "x 102%"]
        );
    }

    #[test]
    fn the_latest_of_each_window_is_shown_until_its_end() {
        let end = Some(Timestamp::from_millis(100));
        let limits = vec![
            limit("secondary", 1.0, Some(10_080), 7),
            Limit { resets_at: end, ..limit("other/primary", 2.0, Some(300), 7) },
            // The plan has changed: the only window is that of a week.
            limit("primary", 3.0, Some(10_080), 8),
            Limit { resets_at: end, ..limit("gone", 4.0, Some(300), 9) },
            limit("tertiary", 5.0, Some(60), 1),
        ];
        let used = |now| {
            let current = current(limits.clone(), now);
            current.into_iter().map(|limit| limit.used_percent as i64).collect::<Vec<_>>()
        };
        assert_eq!(used(99), [5, 4, 3, 2]);
        assert_eq!(used(100), [5, 3]);
    }
}
