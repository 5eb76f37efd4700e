//! [`Timeline`]: the moments of the events of a session, for playback.

use std::sync::OnceLock;

use foldline_domain::{DomainEvent, NormalizedEntryType, Timestamp};
use foldline_render::html::{Fragment, Place};
use jiff::tz::TimeZone;

/// The longest counted pause, in milliseconds: users may leave a session overnight.
const PAUSE: u64 = 20_000;

/// The duration of an entry in a log without timestamps.
const UNTIMED: u64 = 1_000;

/// The moments of the events of a session: moment `n` is after the first `n` events.
#[derive(Clone, Debug)]
pub(in crate::serve) struct Timeline {
    moments: Vec<Moment>,
    /// The moments at which something failed, in order.
    failures: Vec<usize>,
    /// The first time.
    begun: Option<Timestamp>,
    zone: TimeZone,
    /// The map, drawn once for all pages until the next event.
    map: OnceLock<String>,
}

/// The moment after an event.
#[derive(Clone, Copy, Debug)]
pub(in crate::serve) struct Moment {
    /// The latest timestamp so far.
    pub(in crate::serve) clock: Option<Timestamp>,
    /// The milliseconds since the first event, with long pauses shortened.
    pub(in crate::serve) offset: u64,
    /// The number of entries so far.
    pub(in crate::serve) entries: usize,
    pub(in crate::serve) mark: Mark,
    /// Whether the event is within a call, as the work of a sub-agent.
    pub(in crate::serve) is_within: bool,
}

/// The visible kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::serve) enum Mark {
    /// Not visible by itself: facts, tokens, growing text.
    None,
    /// An entry changed.
    Change,
    /// A new entry.
    Entry,
    /// A prompt of the user.
    Prompt,
    /// The conversation was compacted, or continues an earlier one.
    Divider,
    /// A call failed, or an error was reported.
    Failure,
}

/// A step from a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::serve) enum Step {
    Before,
    Next,
    FailureBefore,
    NextFailure,
}

impl Timeline {
    /// An empty timeline, whose moments are named in this zone.
    pub(super) fn in_zone(zone: TimeZone) -> Self {
        Self { moments: Vec::new(), failures: Vec::new(), begun: None, zone, map: OnceLock::new() }
    }

    /// The time zone of the names of moments.
    pub(in crate::serve) fn zone(&self) -> TimeZone {
        self.zone.clone()
    }

    /// Adds an event, and what it changed on the page.
    pub(super) fn push(&mut self, event: &DomainEvent, fragment: Option<&Fragment>) {
        let last = self.moments.last();
        let (before, offset, entries) =
            last.map_or((None, 0, 0), |last| (last.clock, last.offset, last.entries));
        // Facts about the whole session can be anywhere in a log.
        let stated = fragment.and_then(|_| event.timestamp());
        let is_new = fragment.is_some_and(|fragment| fragment.place == Place::Append);
        let pause = match (before, stated) {
            (Some(before), Some(stated)) => stated.millis_since(before).unwrap_or(0).min(PAUSE),
            (None, None) if is_new && entries > 0 => UNTIMED,
            _ => 0,
        };
        let (clock, mark) = (before.max(stated), mark(event, fragment));
        self.begun = self.begun.or(clock);
        self.moments.push(Moment {
            clock,
            offset: offset + pause,
            entries: entries + usize::from(is_new),
            mark,
            is_within: fragment.is_some_and(|fragment| fragment.parent.is_some()),
        });
        if mark == Mark::Failure {
            self.failures.push(self.moments.len());
        }
        self.map.take();
    }

    /// The first time in the session.
    pub(in crate::serve) fn begun(&self) -> Option<Timestamp> {
        self.begun
    }

    /// The map of the moments, which `draw` makes if they have changed.
    pub(in crate::serve) fn map(&self, draw: impl FnOnce(&Self) -> String) -> &str {
        self.map.get_or_init(|| draw(self))
    }

    /// The moments after the first event, the second, ...
    pub(in crate::serve) fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// The last moment: the number of events.
    pub(in crate::serve) fn last(&self) -> usize {
        self.moments.len()
    }

    /// The moment with this number; none is 0, before anything happened.
    pub(in crate::serve) fn get(&self, moment: usize) -> Option<&Moment> {
        self.moments.get(moment.checked_sub(1)?)
    }

    /// The length in milliseconds, with long pauses shortened.
    pub(in crate::serve) fn length(&self) -> u64 {
        self.offset(self.last())
    }

    /// The milliseconds from the first event to a moment.
    pub(in crate::serve) fn offset(&self, moment: usize) -> u64 {
        self.get(moment).map_or(0, |moment| moment.offset)
    }

    /// The last moment that is not later than this.
    pub(in crate::serve) fn at(&self, offset: u64) -> usize {
        self.moments.partition_point(|moment| moment.offset <= offset)
    }

    /// The target of a step. The end follows the last moment; without an earlier moment, or without a failure,
    /// the target is the moment itself.
    pub(in crate::serve) fn step(&self, from: usize, step: Step) -> usize {
        let from = from.min(self.last());
        let is_shown = |moment: &Moment| moment.mark != Mark::None;
        let (before, after) = self.moments.split_at_checked(from).unwrap_or_default();
        let before = before.get(..from.saturating_sub(1)).unwrap_or_default();
        match step {
            Step::Next => {
                after.iter().position(is_shown).map_or(self.last(), |place| from + place + 1)
            }
            Step::Before => before.iter().rposition(is_shown).map_or(from, |place| place + 1),
            Step::NextFailure => {
                let next = self.failures.partition_point(|failure| *failure <= from);
                self.failures.get(next).copied().unwrap_or(from)
            }
            Step::FailureBefore => {
                let next = self.failures.partition_point(|failure| *failure < from);
                next.checked_sub(1)
                    .and_then(|last| self.failures.get(last))
                    .copied()
                    .unwrap_or(from)
            }
        }
    }
}

fn mark(event: &DomainEvent, fragment: Option<&Fragment>) -> Mark {
    let Some(fragment) = fragment else { return Mark::None };
    let entry = match event {
        DomainEvent::NewEntry { entry }
        | DomainEvent::OpenEntry { entry, .. }
        | DomainEvent::NewToolCall { entry, .. }
        | DomainEvent::UpdateToolCall { entry, .. } => entry,
        DomainEvent::CloseEntry { .. } => return Mark::Change,
        _ => return Mark::None,
    };
    let has_failed = entry.tool().is_some_and(|tool| tool.status.is_failure());
    let is_new = fragment.place == Place::Append;
    match entry.entry_type {
        _ if has_failed => Mark::Failure,
        NormalizedEntryType::ErrorMessage if is_new => Mark::Failure,
        NormalizedEntryType::UserMessage if is_new && fragment.parent.is_none() => Mark::Prompt,
        NormalizedEntryType::Compaction | NormalizedEntryType::Continuation => Mark::Divider,
        _ if is_new => Mark::Entry,
        _ => Mark::Change,
    }
}

#[cfg(test)]
mod tests {
    use foldline_domain::{NormalizedEntry, NormalizedEntryType::AssistantMessage};
    use foldline_render::html::HtmlEmitter;

    use super::*;

    /// A timeline of messages and errors at these times, with facts between them.
    fn timeline(entries: &[(NormalizedEntryType, Option<i64>)]) -> Timeline {
        let (mut timeline, mut html) = (Timeline::in_zone(TimeZone::UTC), HtmlEmitter::default());
        for (kind, millis) in entries {
            let at = millis.map(Timestamp::from_millis);
            let entry = NormalizedEntry::new(kind.clone(), "words").at(at);
            for event in [DomainEvent::entry(entry), DomainEvent::Session(Box::default())] {
                timeline.push(&event, html.fragment(&event).as_ref());
            }
        }
        timeline
    }

    #[test]
    fn long_pauses_are_shortened_and_no_time_runs_backwards() {
        let times = [1_000, 3_000, 2_000, 9_000_000].map(|at| (AssistantMessage, Some(at)));
        let timeline = timeline(&times);
        let offsets: Vec<_> = (0..=8).map(|moment| timeline.offset(moment)).collect();
        assert_eq!(offsets, [0, 0, 0, 2_000, 2_000, 2_000, 2_000, 22_000, 22_000]);
        assert_eq!([0, 1_999, 2_000, 21_999, 22_000].map(|at| timeline.at(at)), [2, 2, 6, 6, 8]);
    }

    #[test]
    fn without_times_entries_follow_each_other() {
        let timeline = timeline(&[(AssistantMessage, None), (AssistantMessage, None)]);
        assert_eq!((timeline.length(), timeline.last()), (UNTIMED, 4));
        assert!(timeline.moments().iter().all(|moment| moment.clock.is_none()));
    }

    #[test]
    fn steps_lead_from_change_to_change() {
        use NormalizedEntryType::ErrorMessage;
        let timeline = timeline(&[
            (AssistantMessage, Some(0)),
            (ErrorMessage, Some(1)),
            (AssistantMessage, Some(2)),
        ]);
        let from = |moment, step| timeline.step(moment, step);
        assert_eq!([0, 1, 2, 3, 5, 6, 99].map(|at| from(at, Step::Next)), [1, 3, 3, 5, 6, 6, 6]);
        assert_eq!([0, 1, 2, 3, 6, 99].map(|at| from(at, Step::Before)), [0, 1, 1, 1, 5, 5]);
        assert_eq!([0, 3, 6].map(|at| from(at, Step::NextFailure)), [3, 3, 6]);
        assert_eq!([0, 3, 6].map(|at| from(at, Step::FailureBefore)), [0, 3, 3]);
    }
}
