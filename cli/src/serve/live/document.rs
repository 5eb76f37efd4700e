//! [`Document`]: a session as it is now, and what changed last.

use std::sync::Arc;

use foldline::{
    conversation::{Conversation, DomainEvent, EntryIdx, Located},
    emitters::{
        html::{Fragment, History, Page, Place, Snapshot},
        patch::{PatchRecord, PatchStream},
    },
    json,
    pricing::Prices,
};
use serde::Serialize;

use super::{feed::Feed, timeline::Timeline};
use crate::serve::page;

/// A session as it is now, and what changed last: as a page, and as the document of which programs get patches.
pub(in crate::serve) struct Document {
    pub(in crate::serve) history: History,
    pub(in crate::serve) timeline: Timeline,
    pub(in crate::serve) conversation: Conversation,
    patches: PatchStream,
    /// Changes of the page.
    pub(in crate::serve) fragments: Feed,
    /// Changes of the conversation.
    pub(in crate::serve) changes: Feed,
    /// Whether the log was read to where it ended when it was opened. What changes before is not recorded: nobody
    /// waits for it.
    is_current: bool,
    /// The number of events that the facts of the page are made of.
    events: u64,
    /// The facts as HTML, and the number of events that they were made of.
    facts: Option<(u64, Arc<str>)>,
    /// Why the log is not read any further.
    pub(in crate::serve) failure: Option<String>,
}

/// A change of the page, for the browser. It needs no offsets: it knows the elements.
#[derive(Serialize)]
struct Change<'f> {
    index: EntryIdx,
    place: Place,
    parent: Option<EntryIdx>,
    /// The entry that stands in the page itself, and has this one within it.
    root: Option<EntryIdx>,
    html: &'f str,
}

/// The facts of a session.
#[derive(Serialize)]
struct Facts<'f> {
    title: &'f str,
    about: &'f str,
    side: &'f str,
    /// The map of the session, and how long it is.
    map: &'f str,
    length: u64,
}

impl Document {
    /// An empty one, whose changes have this epoch. What its log does not say that it cost is estimated.
    pub(super) fn new(epoch: &str, prices: &Arc<Prices>) -> Self {
        let epoch = Arc::<str>::from(epoch);
        let page = Page::with_prices(Arc::clone(prices)).explained();
        Self {
            history: History::new(page),
            timeline: Timeline::default(),
            conversation: Conversation::default(),
            patches: PatchStream::default(),
            fragments: Feed::new("fragment", Arc::clone(&epoch)),
            changes: Feed::new("patch", epoch),
            is_current: false,
            events: 0,
            facts: None,
            failure: None,
        }
    }

    pub(super) fn apply(&mut self, event: &Located<DomainEvent>) {
        self.events += 1;
        let fragment = self.history.fragment(&event.item);
        self.timeline.push(&event.item, fragment.as_ref());
        if let Some(fragment) = fragment {
            self.publish(&fragment);
        }
        if let Some(record) = self.patches.record(event) {
            self.change(&record);
        }
    }

    /// The log has ended.
    pub(super) fn end(&mut self) {
        for fragment in self.history.end() {
            self.publish(&fragment);
        }
        for record in self.patches.remaining().collect::<Vec<_>>() {
            self.change(&record);
        }
    }

    /// The session as it is now.
    pub(in crate::serve) fn shown(&self) -> &Snapshot {
        self.history.page().snapshot()
    }

    pub(super) fn set_current(&mut self) {
        self.is_current = true;
    }

    pub(in crate::serve) fn is_current(&self) -> bool {
        self.is_current
    }

    pub(in crate::serve) fn events(&self) -> u64 {
        self.events
    }

    /// The facts of the session as JSON, made anew if there are others.
    pub(in crate::serve) fn facts(&mut self) -> Arc<str> {
        if let Some((events, facts)) = &self.facts
            && *events == self.events
        {
            return Arc::clone(facts);
        }
        let shown = self.shown();
        let (title, about, side) = (shown.title(), shown.about(), shown.side());
        let (map, length) = (page::map(&self.timeline).into_string(), self.timeline.length());
        let facts = Facts { title: &title, about: &about, side: &side, map: &map, length };
        let facts: Arc<str> = json::to_string(&facts).unwrap_or_default().into();
        self.facts = Some((self.events, Arc::clone(&facts)));
        facts
    }

    fn publish(&mut self, fragment: &Fragment) {
        if !self.is_current {
            return self.fragments.pass();
        }
        let Fragment { index, place, parent, html, .. } = fragment;
        let change = Change {
            index: *index,
            place: *place,
            parent: *parent,
            root: self.shown().outermost_of(*index),
            html,
        };
        // Strings and numbers always have a JSON form.
        self.fragments.push(&json::to_string(&change).unwrap_or_default());
    }

    fn change(&mut self, record: &PatchRecord) {
        // A patch of this very conversation fits it.
        let _ = record.patch.apply_to(&mut self.conversation);
        match self.is_current {
            true => self.changes.push(&json::to_string(&record.patch).unwrap_or_default()),
            false => self.changes.pass(),
        }
    }
}
