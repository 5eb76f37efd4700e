//! [`Document`]: the current page of a session, and the emitter of the patches of its [`MsgStore`].

use std::sync::Arc;

use axum::body::Bytes;
use foldline_domain::{
    Conversation, DomainEvent, EntryIdx, Outcome,
    patch::{EntryIndices, PatchEmitter},
    pricing::Prices,
    store::{MsgStore, Recent, UpdateId},
};
use foldline_render::html::{Fragment, History, Page, Place, Snapshot};
use jiff::tz::TimeZone;
use serde::Serialize;

use super::timeline::Timeline;
use crate::{
    serve::{
        page, sse,
        tree::{Part, Tree},
    },
    verbs::resume,
};

/// The beginning of each document: an empty page, and the time zone of all times.
#[derive(Clone)]
pub(in crate::serve) struct Begun {
    page: Page,
    zone: TimeZone,
}

impl Begun {
    /// Costs are estimated with these prices if a log does not state them.
    pub(in crate::serve) fn new(prices: &Arc<Prices>, zone: &TimeZone) -> Self {
        let page = Page::with_prices(Arc::clone(prices)).in_zone(zone.clone()).served();
        Self { page, zone: zone.clone() }
    }
}

/// The current page of a session, its last changes, and the emitter of the patches of the session's store.
pub(in crate::serve) struct Document {
    pub(in crate::serve) history: History,
    pub(in crate::serve) timeline: Arc<Timeline>,
    /// Changes of the page, as events for the browser.
    fragments: Recent<Bytes>,
    store: MsgStore,
    patches: PatchEmitter<EntryIndices, MsgStore>,
    /// Whether the log was read to its end at the time of opening. Earlier changes of the page are not
    /// recorded, since no reader waits for them.
    is_current: bool,
    /// How the session ended, as its log states.
    outcome: Option<Outcome>,
    /// The reason why the log is not read any further.
    pub(in crate::serve) failure: Option<String>,
}

/// A snapshot of a session at one moment. It is independent of the document, which may change during rendering.
pub(in crate::serve) struct Shown {
    pub(in crate::serve) snapshot: Snapshot,
    pub(in crate::serve) timeline: Arc<Timeline>,
    /// The moment, if that is not the present.
    pub(in crate::serve) moment: Option<usize>,
    /// The last change of the page in the snapshot.
    pub(in crate::serve) place: UpdateId,
    pub(in crate::serve) outcome: Option<Outcome>,
    pub(in crate::serve) failure: Option<String>,
    /// The command that resumes the session.
    pub(in crate::serve) resume: Option<String>,
    /// The sessions that belong to it.
    pub(in crate::serve) tree: Arc<Tree>,
    /// Its parts that no shown call has started, as HTML.
    pub(in crate::serve) other_parts: String,
}

impl Shown {
    /// Adds the parts of the session, and the totals with them. Parts are shown as they are now.
    pub(in crate::serve) fn add(&mut self, tree: &Arc<Tree>) {
        self.tree = Arc::clone(tree);
        for Part { call, html } in &tree.parts {
            if !call.is_some_and(|call| self.snapshot.append_to(call, html)) {
                self.other_parts.push_str(html);
            }
        }
        if let Some(totals) = tree.totals.clone().filter(|_| self.moment.is_none()) {
            self.snapshot.set_totals(totals);
        }
        if tree.whole.is_some() {
            self.resume.clone_from(&tree.resume);
        }
    }
}

/// A change of the page, for the browser. It needs no offsets: it knows the elements.
#[derive(Serialize)]
struct Change<'f> {
    index: EntryIdx,
    place: Place,
    parent: Option<EntryIdx>,
    /// The top-level entry of the page that contains this entry.
    root: Option<EntryIdx>,
    html: &'f str,
}

impl Document {
    /// Creates an empty document, whose patches are pushed to this store.
    pub(super) fn new(store: MsgStore, begun: &Begun) -> Self {
        Self {
            history: History::new(begun.page.clone()),
            timeline: Arc::new(Timeline::in_zone(begun.zone.clone())),
            fragments: Recent::default(),
            patches: store.emitter(),
            store,
            is_current: false,
            outcome: None,
            failure: None,
        }
    }

    pub(super) fn apply(&mut self, event: &DomainEvent) {
        self.show(event);
        if let Some(patch) = self.patches.patch(event) {
            // A patch of this document always applies.
            let _ = self.store.push(patch);
        }
    }

    /// Continues a stored conversation, whose page was shown.
    pub(super) fn restore(&mut self, stored: Conversation) {
        self.store.restore(stored);
        // The emitter finds open calls in the stored conversation.
        self.patches = self.store.emitter();
    }

    /// Applies an event only to the page.
    pub(super) fn show(&mut self, event: &DomainEvent) {
        if let DomainEvent::Session(session) = event {
            self.outcome = session.outcome.or(self.outcome);
        }
        let fragment = self.history.fragment(event);
        Arc::make_mut(&mut self.timeline).push(event, fragment.as_ref());
        if let Some(fragment) = fragment {
            self.publish(&fragment);
        }
    }

    /// Handles the end of the log.
    pub(super) fn end(&mut self) {
        for fragment in self.history.end() {
            self.publish(&fragment);
        }
        for patch in self.patches.remaining() {
            let _ = self.store.push(patch);
        }
    }

    /// The session as it was at a moment, or as it is now.
    pub(in crate::serve) fn shown(&self, moment: Option<usize>) -> Shown {
        let snapshot = match moment {
            Some(moment) => self.history.at(moment, page::words(&self.timeline, moment)),
            None => self.history.page().snapshot().clone(),
        };
        Shown {
            snapshot,
            timeline: Arc::clone(&self.timeline),
            moment,
            place: UpdateId { epoch: self.store.epoch(), seq: self.fragments.last() },
            outcome: self.outcome,
            failure: self.failure.clone(),
            resume: self.history.page().snapshot().session().and_then(resume::line),
            tree: Arc::default(),
            other_parts: String::new(),
        }
    }

    pub(in crate::serve) fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    pub(super) fn set_current(&mut self) {
        self.is_current = true;
    }

    pub(in crate::serve) fn is_current(&self) -> bool {
        self.is_current
    }

    /// The number of events.
    pub(in crate::serve) fn events(&self) -> u64 {
        self.history.len() as u64
    }

    /// The changes of the page after this one, as events; `None` if not all of them are there.
    pub(in crate::serve) fn fragments_after(
        &self,
        number: u64,
    ) -> Option<impl ExactSizeIterator<Item = &Bytes>> {
        self.fragments.after(number)
    }

    fn publish(&mut self, fragment: &Fragment) {
        if !self.is_current {
            return self.fragments.skip();
        }
        let Fragment { index, place, parent, html, .. } = fragment;
        let root = self.history.page().snapshot().outermost_of(*index);
        let change = Change { index: *index, place: *place, parent: *parent, root, html };
        // Strings and numbers always have a JSON form.
        let change = foldline_json::to_string(&change).unwrap_or_default();
        let id = UpdateId { epoch: self.store.epoch(), seq: self.fragments.last() + 1 };
        let event = sse::numbered("fragment", &id, &change);
        let bytes = event.len();
        self.fragments.push(event, bytes);
    }
}
