//! Runs from a log to its events, and [`Fold`]: a log as consumers see it, folded from its events.

use std::{collections::BTreeMap, sync::Arc};

use foldline::{
    position::SessionKey,
    processor::Processor,
    transduce::{Batch, Reducer, Transducer, emit_fn},
};
use foldline_agents::{DynExecutor, Records, Sessions, wire::Record};
use foldline_domain::{Conversation, DomainEvent, Located, NormalizedEntry, locating};

/// The records of a log, one by one, as an executor receives them.
pub fn records(log: &str) -> Vec<Record<'_>> {
    let mut records = Vec::new();
    for line in log.strip_prefix('\u{FEFF}').unwrap_or(log).lines() {
        Record::read(line, |_, record| records.push(record));
    }
    records
}

/// All events of a run, including completion.
pub fn events<R, In, S, E>(reducer: &R, inputs: &[In]) -> Vec<E>
where
    R: Reducer<In, S, E>,
    In: Clone,
    E: Clone,
{
    let all = emit_fn(|event: &E| Batch::one(event.clone()));
    Transducer::new(reducer, all).over(inputs.iter().cloned()).collect()
}

/// All events of a log, including completion, with their positions. The bytes are pushed in chunks of any length.
pub fn sourced_events<'b, R, S>(
    executor: &R,
    pieces: impl IntoIterator<Item = &'b [u8]>,
) -> Vec<Located<DomainEvent>>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
{
    located_events(locating(executor), pieces)
}

/// All events of a log, including completion, as `reducer` locates them.
pub(crate) fn located_events<'b, R, S>(
    reducer: R,
    pieces: impl IntoIterator<Item = &'b [u8]>,
) -> Vec<Located<DomainEvent>>
where
    R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
{
    let all = emit_fn(|event: &Located<DomainEvent>| Batch::one(event.clone()));
    let mut processor = Processor::new(Records, Transducer::new(reducer, all));
    let mut events = Vec::new();
    for piece in pieces {
        processor.push(piece, |event| events.push(event));
    }
    let _ = processor.finish(|event| events.push(event));
    events
}

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
        let mut fold = Self::default();
        let events = located_events(Sessions::new(executor), [log]);
        events.iter().for_each(|event| fold.apply(event));
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
