//! [`EventRecords`]: the emitter of a trail's records.

use std::collections::BTreeMap;

use foldline::transduce::{Batch, Emitter, Resume};

use super::EventRecord;
use crate::conversation::{DomainEvent, Located, SessionId, SessionKey};

/// Emits an [`EventRecord`] for every event, to be chained by one or more trails.
///
/// It remembers the names of the open sessions.
#[derive(Clone, Debug, Default)]
pub struct EventRecords {
    names: BTreeMap<SessionKey, SessionId>,
    event_digests: bool,
}

impl EventRecords {
    /// Adds a separate digest to every event, not only to events whose line has none.
    #[must_use]
    pub fn with_event_digests(mut self) -> Self {
        self.event_digests = true;
        self
    }

    /// The record of an event.
    pub fn record(&mut self, event: &Located<DomainEvent>) -> EventRecord {
        if let DomainEvent::Session(facts) = &event.item
            && let Some(name) = &facts.session_id
            && self.names.get(&event.session) != Some(name)
        {
            self.names.insert(event.session, name.clone());
        }
        let name = match &event.item {
            DomainEvent::SessionEnded => self.names.remove(&event.session),
            _ => self.names.get(&event.session).cloned(),
        };
        EventRecord::new(event, name, self.event_digests)
    }
}

impl Emitter<Located<DomainEvent>, EventRecord> for EventRecords {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<EventRecord> {
        Batch::one(self.record(event))
    }
}

impl Resume for EventRecords {
    type State = BTreeMap<SessionKey, SessionId>;

    fn state(&self) -> Self::State {
        self.names.clone()
    }

    fn resume(&mut self, names: Self::State) {
        self.names = names;
    }
}
