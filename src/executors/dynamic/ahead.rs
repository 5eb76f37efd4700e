//! [`Preparsed`]: an executor whose records are parsed before their turn.

use std::borrow::Cow;

use super::{any_record::AnyRecord, any_state::AnyState, erased::DynExecutor};
use crate::executors::{
    sessions::NamesSession,
    wire::{ParseAhead, Record},
};
use crate::{
    conversation::DomainEvent,
    transduce::{Batch, Reducer},
};

/// A [`DynExecutor`] in two halves: it parses records before their turn, and reduces them later. State and events
/// are the same.
///
/// ```
/// use foldline::{
///     executors::{DynExecutor, Preparsed, droid::Droid, wire::{ParseAhead, Record}},
///     transduce::Reducer,
/// };
///
/// let (executor, mut events) = (DynExecutor::new(Droid), Vec::new());
/// let ahead = Preparsed::new(executor.clone());
/// let line = r#"{"type":"message","role":"user","text":"hi"}"#;
/// Record::read(line, |_, record| {
///     let record = ahead.parse_ahead(record); // also on another thread
///     events.extend(ahead.reduce(executor.init(), record).1);
/// });
/// assert_eq!(events.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Preparsed(DynExecutor);

impl Preparsed {
    /// This executor, in two halves.
    pub const fn new(executor: DynExecutor) -> Self {
        Self(executor)
    }
}

impl ParseAhead for Preparsed {
    type Parsed<'a> = AnyRecord<'a>;

    fn parse_ahead<'a>(&'a self, record: Record<'a>) -> AnyRecord<'a> {
        self.0.parsed(record)
    }
}

impl NamesSession<AnyRecord<'_>> for Preparsed {
    fn session_of<'r>(&self, record: &'r AnyRecord<'_>) -> Option<Cow<'r, str>> {
        record.session().map(Cow::Borrowed)
    }
}

impl<'a> Reducer<AnyRecord<'a>, AnyState, DomainEvent> for Preparsed {
    fn init(&self) -> AnyState {
        self.0.init()
    }

    fn reduce(&self, mut state: AnyState, record: AnyRecord<'a>) -> (AnyState, Batch<DomainEvent>) {
        let events = record.reduce(&mut state);
        (state, events)
    }

    fn finish(&self, state: AnyState) -> (AnyState, Batch<DomainEvent>) {
        self.0.finish(state)
    }
}
