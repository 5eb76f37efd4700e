//! The dock: the displayed moment of the page, and controls to change it.

use foldline_domain::Timestamp;
use foldline_render::human;
use maud::{Markup, html};

use super::{frame::icon, map::map};
use crate::serve::{live::Timeline, status::Status};

const SPEEDS: [&str; 3] = ["1", "10", "100"];

/// The displayed moment of the page.
pub(in crate::serve) fn dock(timeline: &Timeline, moment: Option<usize>, status: Status) -> Markup {
    let length = timeline.length();
    let offset = moment.map_or(length, |moment| timeline.offset(moment));
    let words = moment.map(|moment| words(timeline, moment));
    html! {
        section.dock aria-label="Timeline" {
            label.live {
                input type="checkbox" role="switch" #live checked[moment.is_none()];
                span { "Live" }
            }
            span.moment {
                span.when-live #state { (status.as_str()) }
                span.when-past #moment { @if let Some(words) = &words { (words) } }
            }
            div.scrub #scrub {
                div.hours #hours aria-hidden="true" {}
                svg viewBox="0 0 1000 36" preserveAspectRatio="none" aria-hidden="true" {
                    g #map { (map(timeline)) }
                    rect class="later when-past" #later x="1000" y="0" width="0" height="36" {}
                }
                input #time type="range" min="0" max=(length) value=(offset) step="1" disabled[length == 0]
                    aria-label="Moment" aria-valuetext=(words.as_deref().unwrap_or("now"))
                    title="Pauses count for 20 s at most" autocomplete="off";
            }
            div.plays {
                (button("to-bad-before", "prev", "Failure before", "btn bare icon step"))
                (button("play", "play", "Play", "btn bare icon"))
                (button("to-next-bad", "next", "Next failure", "btn bare icon step"))
                select.field #speed aria-label="Speed" autocomplete="off" {
                    @for speed in SPEEDS {
                        option value=(speed) selected[speed == "10"] { (speed) "×" }
                    }
                }
            }
            span #behind {}
        }
    }
}

fn button(id: &str, symbol: &str, what: &str, class: &str) -> Markup {
    html! {
        button class=(class) type="button" id=(id) title=(what) {
            (icon("i", symbol))
            span.vh { (what) }
        }
    }
}

/// A moment in words: its time, as the entries show it, or else its number.
pub(in crate::serve) fn words(timeline: &Timeline, moment: usize) -> String {
    let zoned = |at: Timestamp| {
        Some(jiff::Timestamp::from_millisecond(at.as_millis()).ok()?.to_zoned(timeline.zone()))
    };
    let clock = |moment: usize| zoned(timeline.get(moment)?.clock?);
    let today = jiff::Timestamp::now().to_zoned(timeline.zone()).date();
    match clock(moment) {
        Some(at) if at.date() == today => format!("at {}", at.strftime("%H:%M:%S")),
        Some(at) if at.year() == today.year() => format!("at {}", at.strftime("%-d %b %H:%M:%S")),
        Some(at) => format!("at {}", at.strftime("%-d %b %Y %H:%M:%S")),
        None => format!(
            "at event {} of {}",
            human::grouped(moment as u64),
            human::grouped(timeline.last() as u64)
        ),
    }
}

/// The line behind the last entry of a moment.
pub(in crate::serve) fn end(path: &str, timeline: &Timeline, moment: usize) -> Markup {
    let shown = timeline.get(moment).map_or(0, |moment| moment.entries);
    let all = timeline.get(timeline.last()).map_or(0, |moment| moment.entries);
    html! {
        article class="past-end when-past" aria-label="The end of what is shown" {
            "This is the session " (words(timeline, moment)) ". "
            @match all.saturating_sub(shown) {
                0 => "No entry is later.",
                1 => "1 later entry is not shown.",
                later => { (human::grouped(later as u64)) " later entries are not shown." },
            }
            " " a href=(path) { "Show it as it is now" }
        }
    }
}
