//! [`Fold`]: a log as consumers see it, folded from its events.

use std::{collections::BTreeMap, sync::Arc};

use foldline::{
    position::{Located, SessionKey},
    processor::Processor,
    transduce::{Batch, Transducer, emit_fn},
};
use foldline_agents::{DynExecutor, Records, Sessions};
use foldline_domain::{Conversation, DomainEvent, NormalizedEntry};

/// A log as consumers see it: what its events add up to, for each session. The laws compare folds, never states.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fold {
    /// The sessions by their number.
    pub sessions: BTreeMap<SessionKey, SessionFold>,
}

/// A session as consumers see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFold {
    /// Its entries and facts.
    pub conversation: Conversation,
    /// Its statements of facts, of which a later one replaces an earlier one.
    pub facts: Vec<DomainEvent>,
    /// Its events of usage.
    pub usage: Vec<DomainEvent>,
    /// Its warnings.
    pub warnings: Vec<DomainEvent>,
}

impl Fold {
    /// The fold of a log, as a program reads it: sessions are kept apart.
    pub fn of(executor: &DynExecutor, log: &[u8]) -> Self {
        let all = emit_fn(|event: &Located<DomainEvent>| Batch::one(event.clone()));
        let mut processor = Processor::new(Records, Transducer::new(Sessions::new(executor), all));
        let mut fold = Self::default();
        processor.push(log, |event| fold.apply(&event));
        let _ = processor.finish(|event| fold.apply(&event));
        fold
    }

    /// Continues with an event.
    pub fn apply(&mut self, event: &Located<DomainEvent>) {
        let session = self.sessions.entry(event.session).or_default();
        session.conversation.apply(&event.item);
        match &event.item {
            DomainEvent::Session(_) => session.facts.push(event.item.clone()),
            DomainEvent::Usage { .. } => session.usage.push(event.item.clone()),
            DomainEvent::Warning(_) => session.warnings.push(event.item.clone()),
            _ => {}
        }
    }
}

impl SessionFold {
    /// Its entries.
    pub fn entries(&self) -> &[Arc<NormalizedEntry>] {
        &self.conversation.entries
    }
}
