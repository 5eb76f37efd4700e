//! [`Redaction`]: replaces secrets in entries and texts of an answer, if that was asked for.

use std::sync::Arc;

use foldline::transduce::{Batch, Emitter};
use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType};
use foldline_render::redact::Redact;

/// Replaces secrets, or nothing. A secret has one mark in an answer.
pub(crate) struct Redaction(Option<Redact<Kept>>);

impl Redaction {
    /// Replaces secrets if `redacts`.
    pub(crate) fn new(redacts: bool) -> Self {
        Self(redacts.then(|| Redact::new(Kept)))
    }

    /// Whether secrets are replaced.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The entry without secrets. A text is redacted before it is shortened: a part of a secret looks like none.
    pub(crate) fn entry(&mut self, entry: NormalizedEntry) -> NormalizedEntry {
        let Some(redact) = &mut self.0 else { return entry };
        let redacted = redact.emit(&DomainEvent::entry(entry)).into_iter().next();
        redacted.unwrap_or_else(|| NormalizedEntry::new(NormalizedEntryType::SystemMessage, ""))
    }

    /// The text without secrets.
    pub(crate) fn text(&mut self, text: &str) -> String {
        if !self.is_on() {
            return text.to_owned();
        }
        let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, text);
        self.entry(entry).content.decode().into_owned()
    }
}

/// Emits the entries that it gets.
struct Kept;

impl Emitter<DomainEvent, NormalizedEntry> for Kept {
    fn emit(&mut self, event: &DomainEvent) -> Batch<NormalizedEntry> {
        match event {
            DomainEvent::NewEntry { entry } => {
                Batch::one(NormalizedEntry::clone(Arc::as_ref(entry)))
            }
            _ => Batch::EMPTY,
        }
    }
}
