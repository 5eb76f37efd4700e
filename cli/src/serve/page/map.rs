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
    html! {
        path.base d="M0 27h1000v1H0z" {}
        path.bars d=(bars(timeline.moments().iter().filter(|it| is_entry(it)).map(x))) {}
        path.subs d=(runs(timeline.moments().iter().filter(|it| it.is_within).map(x))) {}
        path.bads d=(of(Mark::Failure, (2, 4, 23))) {}
        path.dividers d=(of(Mark::Divider, (2, 0, 33))) {}
        path.says d=(of(Mark::Prompt, (3, 0, 5))) {}
    }
}

fn is_entry(moment: &Moment) -> bool {
    !matches!(moment.mark, Mark::None | Mark::Change)
}

/// One bar for all that happened within its width. Their square roots are drawn: a few entries are seen beside many.
fn bars(all: impl Iterator<Item = usize>) -> String {
    let mut counts = [0_u32; WIDTH as usize / BAR];
    for x in all {
        if let Some(count) = counts.get_mut((x / BAR).min(WIDTH as usize / BAR - 1)) {
            *count += 1;
        }
    }
    let most = f64::from(counts.iter().copied().max().unwrap_or(0).max(1));
    let mut path = String::new();
    for (place, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
        let height = (f64::from(count) / most).sqrt() * HIGHEST;
        let (x, top) = (place * BAR, BASE - height);
        // Writing to a string does not fail.
        let _ = write!(path, "M{x} {top:.1}h4v{height:.1}h-4z");
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
    fn what_falls_together_is_drawn_once() {
        assert_eq!(ticks([1, 1, 1, 1000].into_iter(), 2, 0, 3), "M1 0h2v3h-2zM998 0h2v3h-2z");
        assert_eq!(bars([0, 1, 2, 3, 999].into_iter()), "M0 7.0h4v20.0h-4zM995 17.0h4v10.0h-4z");
        assert_eq!(runs([5, 9, 500].into_iter()), "M5 30h6v2.5h-6zM500 30h2v2.5h-2z");
        assert_eq!((bars([].into_iter()), runs([].into_iter())), <(String, String)>::default());
    }
}
