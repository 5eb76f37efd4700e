//! [`History`]: a session at any past moment.

use std::sync::Arc;

use foldline_domain::DomainEvent;

use super::{
    Page,
    facts::{EventFacts, Facts},
    shared_vec::SharedVec,
    snapshot::{Content, Past, Snapshot},
};
use crate::html::fragment::{Fragment, Place};

/// The maximum number of checkpoints of the facts.
const MOST_CHECKPOINTS: usize = 64;

/// The number of events between two checkpoints, unless there are too many.
const CHECKPOINT: usize = 256;

/// A [`Page`] that can show any past moment of the session: moment `n` follows the first `n` events.
///
/// It keeps the events, and the versions of each entry with their moments. The page at a moment shares these, and costs
/// what it shows, so that navigating in a long session is fast.
///
/// ```
/// use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType::AssistantMessage};
/// use foldline_render::html::History;
///
/// let mut history = History::default();
/// for words in ["first", "second"] {
///     history.fragment(&DomainEvent::entry(NormalizedEntry::new(AssistantMessage, words)));
/// }
/// let past = history.at(1, "after the first");
/// assert_eq!(past.outermost().count(), 1);
/// assert!(!past.entries(0..2).contains("second"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct History {
    page: Page,
    events: Vec<(DomainEvent, EventFacts)>,
    entries: SharedVec<Versions>,
    /// The facts at regular intervals of events.
    checkpoints: Vec<Arc<Facts>>,
    spacing: usize,
}

/// The versions of one entry.
#[derive(Clone, Debug)]
pub(super) struct Versions {
    /// Each version with its first moment.
    all: Vec<(usize, Version)>,
}

#[derive(Clone, Debug)]
enum Version {
    Whole(Content),
    /// Text appended to the previous version.
    Grown(Box<str>),
}

impl History {
    /// The history of an empty page.
    pub fn new(page: Page) -> Self {
        Self { page, ..Self::default() }
    }

    /// Applies one event, and returns the resulting change.
    pub fn fragment(&mut self, event: &DomainEvent) -> Option<Fragment> {
        let (fragment, facts) = self.page.step(event);
        self.events.push((event.clone(), facts));
        if let Some(fragment) = &fragment {
            self.put(self.events.len(), fragment);
        }
        self.checkpoint();
        fragment
    }

    /// The log has ended: growing entries are complete. Returns the resulting changes.
    pub fn end(&mut self) -> Vec<Fragment> {
        let fragments = self.page.remaining();
        // No event causes this change, and the moment of the last event shows the growing entries.
        let moment = self.events.len() + 1;
        fragments.iter().for_each(|fragment| self.put(moment, fragment));
        fragments
    }

    /// Applies all events so far to an empty page, and returns it.
    pub fn replayed(&self, mut page: Page) -> Page {
        self.events.iter().for_each(|(event, _)| page.apply(event));
        page.end();
        page
    }

    /// The current page.
    pub fn page(&self) -> &Page {
        &self.page
    }

    /// The number of events: the last moment.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The page at a moment, described by `words`.
    pub fn at(&self, moment: usize, words: impl Into<String>) -> Snapshot {
        let is_there =
            |entry: &Versions| entry.all.first().is_some_and(|(from, _)| *from <= moment);
        let len = self.entries.partition_point(is_there);
        let past = Past { moment, words: words.into(), len, versions: self.entries.clone() };
        self.page.snapshot().at(past, self.facts(moment))
    }

    fn put(&mut self, moment: usize, fragment: &Fragment) {
        let shown = self.page.put(fragment);
        let Some(slot) = shown.slot(fragment.index.get()) else { return };
        let version = match fragment.place {
            Place::Grow => Version::Grown(fragment.html.as_str().into()),
            Place::Append | Place::Replace => Version::Whole(slot.content.clone()),
        };
        match self.entries.get_mut(fragment.index.get()) {
            Some(entry) => entry.all.push((moment, version)),
            None => self.entries.push(Versions { all: vec![(moment, version)] }),
        }
    }

    fn checkpoint(&mut self) {
        self.spacing = self.spacing.max(CHECKPOINT);
        if !self.events.len().is_multiple_of(self.spacing) {
            return;
        }
        self.checkpoints.push(Arc::clone(&self.page.snapshot().facts));
        if self.checkpoints.len() > MOST_CHECKPOINTS {
            let mut number = 0_usize;
            self.checkpoints.retain(|_| {
                number += 1;
                number.is_multiple_of(2)
            });
            self.spacing *= 2;
        }
    }

    fn facts(&self, moment: usize) -> Facts {
        let known = moment.checked_div(self.spacing).unwrap_or(0).min(self.checkpoints.len());
        let checkpoint = known.checked_sub(1).and_then(|last| self.checkpoints.get(last));
        let mut facts = checkpoint.map(|facts| Facts::clone(facts)).unwrap_or_default();
        let from = if checkpoint.is_some() { known * self.spacing } else { 0 };
        let events = self.events.get(from..moment.min(self.events.len())).unwrap_or_default();
        events.iter().for_each(|(event, more)| facts.apply(event, *more));
        facts.is_served = self.page.facts().is_served;
        facts
    }
}

impl Versions {
    /// The entry at a moment at which it existed.
    pub(super) fn at(&self, moment: usize) -> Content {
        let until = self.all.partition_point(|(from, _)| *from <= moment);
        let known = self.all.get(..until).unwrap_or_default();
        let whole = |(_, version): &(usize, Version)| matches!(version, Version::Whole(..));
        let from = known.iter().rposition(whole).unwrap_or(0);
        let (mut content, mut grown) = (Content::default(), String::new());
        for (_, version) in known.get(from..).unwrap_or_default() {
            match version {
                Version::Whole(whole) => content = whole.clone(),
                Version::Grown(text) => grown += text,
            }
        }
        if !grown.is_empty() {
            content.grow(&grown);
        }
        content
    }
}
