//! [`Outputs`]: the emitter of a fold.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc};

use foldline::transduce::{Batch, Emitter};
use foldline_domain::{
    Conversation, DomainEvent, Located, SessionKey,
    patch::{PatchRecord, SessionPatches, session_patches},
    pricing::Prices,
};
use foldline_render::html::Page;
use jiff::tz::TimeZone;
use serde::Deserialize;

/// The outputs of a fold. One that is not needed takes no time.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default)]
pub struct Shown {
    /// JSON Patches, as the log is read.
    pub patches: bool,
    /// The document of each session.
    pub conversations: bool,
    /// The page of each session, with estimated costs by the built-in prices.
    pub pages: bool,
}

impl Default for Shown {
    /// Patches only.
    fn default() -> Self {
        Self { patches: true, conversations: false, pages: false }
    }
}

/// Writes patches as lines, and collects the documents and pages of the sessions.
#[derive(Debug)]
pub(crate) struct Outputs {
    shown: Shown,
    patches: SessionPatches,
    /// The patches that were not taken yet.
    lines: Vec<u8>,
    conversations: BTreeMap<SessionKey, Conversation>,
    pages: BTreeMap<SessionKey, Page>,
    prices: Arc<Prices>,
    zone: TimeZone,
}

impl Outputs {
    pub(crate) fn new(shown: Shown, zone: TimeZone) -> Self {
        let prices = if shown.pages { Prices::builtin().clone() } else { Prices::default() };
        Self {
            shown,
            patches: session_patches(),
            lines: Vec::new(),
            conversations: BTreeMap::new(),
            pages: BTreeMap::new(),
            prices: Arc::new(prices),
            zone,
        }
    }

    /// The lines since the last call.
    pub(crate) fn take_lines(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.lines)
    }

    pub(crate) fn conversations(&self) -> impl Iterator<Item = &Conversation> {
        self.conversations.values()
    }

    /// The number of sessions with a document or a page.
    pub(crate) fn sessions(&self) -> usize {
        self.conversations.len().max(self.pages.len())
    }

    /// The page of a session of the log, counted from 0.
    pub(crate) fn page(&self, session: usize) -> Option<&Page> {
        self.pages.values().nth(session)
    }

    fn write(&mut self, records: Batch<(SessionKey, PatchRecord)>) {
        records.drain_with(|(_, record)| {
            // Writing to memory does not fail, and patches always have a JSON form.
            if foldline_json::write(&mut self.lines, &record).is_ok() {
                self.lines.push(b'\n');
            }
        });
    }
}

impl Emitter<Located<DomainEvent>, Infallible> for Outputs {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        if self.shown.patches {
            let records = self.patches.emit(event);
            self.write(records);
        }
        if self.shown.conversations {
            self.conversations.entry(event.session).or_default().apply(&event.item);
        }
        if self.shown.pages {
            let Self { prices, zone, .. } = self;
            let make = || Page::with_prices(Arc::clone(prices)).in_zone(zone.clone());
            self.pages.entry(event.session).or_insert_with(make).apply(&event.item);
        }
        Batch::EMPTY
    }

    fn finish(&mut self) -> Batch<Infallible> {
        if self.shown.patches {
            let records = self.patches.finish();
            self.write(records);
        }
        for page in self.pages.values_mut() {
            page.end();
        }
        Batch::EMPTY
    }
}
