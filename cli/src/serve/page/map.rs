//! The map of a session: what happened when, drawn as one path a lane.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use crate::serve::live::{Mark, Moment, Timeline};

/// The width and the height of the map, in units of its own.
const WIDTH: u64 = 1000;

/// The width of a bar with the space behind it.
const BAR: usize = 5;

/// The baseline of the bars, and the height of the highest one.
const BASE: f64 = 27.0;
const HIGHEST: f64 = 20.0;

/// The least height of the failures in a bar.
const LEAST: f64 = 1.5;

/// The number of parts into which the times at the axis divide it.
const HOURS: u64 = 4;

/// The seconds of a session whose times at the axis have seconds.
const SHORT: i64 = 600;

/// The map, without what the script adds. It is drawn once for each state of the session.
pub(in crate::serve) fn map(timeline: &Timeline) -> PreEscaped<&str> {
    PreEscaped(timeline.map(|timeline| draw(timeline).into_string()))
}

fn draw(timeline: &Timeline) -> Markup {
    let length = timeline.length().max(1);
    let x = |moment: &Moment| {
        usize::try_from(moment.offset.saturating_mul(WIDTH) / length).unwrap_or(0)
    };
    let of = |wanted: Mark, (width, top, height): (usize, usize, usize)| {
        let at = timeline.moments().iter().filter(|moment| moment.mark == wanted).map(x);
        ticks(at, width, top, height)
    };
    let all = timeline.moments().iter().filter(|it| is_entry(it));
    let bars = Bars::of(all.map(|it| (x(it), it.mark == Mark::Failure)));
    html! {
        path.base d="M0 27h1000v1H0z" data-hours=[hours(timeline)] {}
        path.bars d=(bars.all()) data-bars=(bars.words()) {}
        path.subs d=(runs(timeline.moments().iter().filter(|it| it.is_within).map(x))) {}
        path.bads d=(bars.failures()) {}
        path.dividers d=(of(Mark::Divider, (2, 0, 33))) {}
        path.says d=(of(Mark::Prompt, (3, 0, 5))) {}
    }
}

fn is_entry(moment: &Moment) -> bool {
    !matches!(moment.mark, Mark::None | Mark::Change)
}

/// The times at the axis: at the beginning and at the end, and equally far between them. The map is proportional to the
/// shortened time. A day is stated where it is another one than at the time before, and than at the one before that,
/// which is its neighbour where there is little room.
fn hours(timeline: &Timeline) -> Option<String> {
    let at = |place: u64| {
        let moment = timeline.at(timeline.length() * place / HOURS).max(1);
        let at = timeline.get(moment)?.clock.or(timeline.begun())?;
        let at = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
        Some(at.to_zoned(timeline.zone()))
    };
    // A session without a length has one time.
    let parts = if timeline.length() > 0 { HOURS } else { 0 };
    let times = (0..=parts).map(at).collect::<Option<Vec<_>>>()?;
    let is_short = times.last()?.duration_since(times.first()?).as_secs() < SHORT;
    let clock = if is_short { "%H:%M:%S" } else { "%H:%M" };
    let mut all = Vec::new();
    for (place, at) in times.iter().enumerate() {
        let is_other = |before: usize| {
            let before = place.checked_sub(before).and_then(|place| times.get(place));
            before.is_none_or(|before| before.date() != at.date())
        };
        let has_day = is_other(1) || place % 2 == 0 && is_other(2);
        let day = if has_day { at.strftime("%-d %b ").to_string() } else { String::new() };
        all.push(format!("{day}{}", at.strftime(clock)));
    }
    Some(all.join("|"))
}

/// The number of entries, and of failures among them, within the width of each bar.
struct Bars([(u32, u32); WIDTH as usize / BAR]);

impl Bars {
    fn of(all: impl Iterator<Item = (usize, bool)>) -> Self {
        let mut counts = [(0, 0); WIDTH as usize / BAR];
        for (x, is_failure) in all {
            if let Some((count, failures)) = counts.get_mut((x / BAR).min(WIDTH as usize / BAR - 1))
            {
                *count += 1;
                *failures += u32::from(is_failure);
            }
        }
        Self(counts)
    }

    /// The places and the heights of the bars: square roots, so that a few entries are seen beside many.
    fn heights(&self) -> impl Iterator<Item = (usize, f64, (u32, u32))> {
        let most = f64::from(self.0.iter().map(|it| it.0).max().unwrap_or(0).max(1));
        let used = self.0.iter().copied().enumerate().filter(|(_, (count, _))| *count > 0);
        used.map(move |(place, counts)| {
            (place * BAR, (f64::from(counts.0) / most).sqrt() * HIGHEST, counts)
        })
    }

    fn all(&self) -> String {
        rising(self.heights().map(|(x, height, _)| (x, height)))
    }

    /// The share of failures in each bar, from its foot. One failure among many is still seen.
    fn failures(&self) -> String {
        let share = |count: u32, failures: u32| f64::from(failures) / f64::from(count);
        rising(self.heights().filter(|(.., (_, failures))| *failures > 0).map(
            |(x, height, (count, failures))| (x, (height * share(count, failures)).max(LEAST)),
        ))
    }

    /// The number of each bar and its counts, for what the script says of it.
    fn words(&self) -> String {
        let words = self.heights().map(|(x, _, (count, failures))| match failures {
            0 => format!("{},{count}", x / BAR),
            _ => format!("{},{count},{failures}", x / BAR),
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

fn rising(bars: impl Iterator<Item = (usize, f64)>) -> String {
    let mut path = String::new();
    for (x, height) in bars {
        // Writing to a string does not fail.
        let _ = write!(path, "M{x} {:.1}h4v{height:.1}h-4z", BASE - height);
    }
    path
}

/// A line for each time in which sub-agents worked.
fn runs(all: impl Iterator<Item = usize>) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for x in all {
        match runs.last_mut() {
            Some((_, end)) if x <= *end + 2 * BAR => *end = x.max(*end),
            _ => runs.push((x, x)),
        }
    }
    let mut path = String::new();
    for (start, end) in runs {
        let width = end - start + 2;
        let _ = write!(path, "M{start} 30h{width}v2.5h-{width}z");
    }
    path
}

/// A tick for each, and one for those that fall together.
fn ticks(all: impl Iterator<Item = usize>, width: usize, top: usize, height: usize) -> String {
    let (mut path, mut last) = (String::new(), None);
    for x in all.map(|x| x.min(WIDTH as usize - width)) {
        if last.replace(x) != Some(x) {
            let _ = write!(path, "M{x} {top}h{width}v{height}h-{width}z");
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_red_by_the_share_of_its_failures() {
        let some = [(0, false), (1, true), (2, false), (3, false), (999, true)];
        let bars = Bars::of(some.into_iter());
        assert_eq!(bars.all(), "M0 7.0h4v20.0h-4zM995 17.0h4v10.0h-4z");
        assert_eq!(bars.failures(), "M0 22.0h4v5.0h-4zM995 17.0h4v10.0h-4z");
        assert_eq!(bars.words(), "0,4,1 199,1,1");
        let bars = Bars::of((0..1000).map(|n| (0, n == 0)));
        assert_eq!(bars.failures(), "M0 25.5h4v1.5h-4z");
        let none = Bars::of([].into_iter());
        assert_eq!(none.all() + &none.failures() + &none.words(), "");
    }

    #[test]
    fn what_falls_together_is_drawn_once() {
        assert_eq!(ticks([1, 1, 1, 1000].into_iter(), 2, 0, 3), "M1 0h2v3h-2zM998 0h2v3h-2z");
        assert_eq!(runs([5, 9, 500].into_iter()), "M5 30h6v2.5h-6zM500 30h2v2.5h-2z");
        assert_eq!(runs([].into_iter()), "");
    }
}
