//! [`Preparsed`]: an executor whose records are parsed before their turn.

use std::{borrow::Cow, fmt};

use super::{
    erased::{AnyState, DynExecutor, foreign_state},
    executor::Executor,
    reducing::{ParsedRecord, Reducing},
    sessions::NamesSession,
    wire::{ParseAhead, Record},
};
use crate::{
    conversation::DomainEvent,
    transduce::{Batch, Reducer},
};

/// A record that any executor has parsed.
pub struct AnyRecord<'a>(Box<dyn ReduceParsed + 'a>);

impl<'a> AnyRecord<'a> {
    pub(super) fn new<E: Executor>(
        reducing: &'a Reducing<E>,
        record: ParsedRecord<'a, E::Line<'a>>,
    ) -> Self {
        Self(Box::new(OwnRecord { reducing, record }))
    }
}

impl fmt::Debug for AnyRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyRecord").field("session", &self.0.session()).finish_non_exhaustive()
    }
}

/// A record whose type is known only to its executor.
trait ReduceParsed {
    fn session(&self) -> Option<&str>;
    /// `None` if the state belongs to another executor.
    fn reduce(self: Box<Self>, state: &mut AnyState) -> Option<Batch<DomainEvent>>;
}

struct OwnRecord<'a, E: Executor> {
    reducing: &'a Reducing<E>,
    record: ParsedRecord<'a, E::Line<'a>>,
}

impl<E: Executor> ReduceParsed for OwnRecord<'_, E> {
    fn session(&self) -> Option<&str> {
        self.record.session()
    }

    fn reduce(self: Box<Self>, state: &mut AnyState) -> Option<Batch<DomainEvent>> {
        let state = state.downcast_mut()?;
        Some(self.reducing.reduce_parsed(state, self.record))
    }
}

/// A [`DynExecutor`] in two halves: it parses records before their turn, and reduces them later. State and events
/// are the same.
///
/// ```
/// use foldline::{
///     executors::{DynExecutor, droid::Droid, wire::{ParseAhead, Record}},
///     transduce::Reducer,
/// };
///
/// let (executor, mut events) = (DynExecutor::new(Droid), Vec::new());
/// let ahead = executor.preparsed();
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
    pub(super) const fn new(executor: DynExecutor) -> Self {
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
        record.0.session().map(Cow::Borrowed)
    }
}

impl<'a> Reducer<AnyRecord<'a>, AnyState, DomainEvent> for Preparsed {
    fn init(&self) -> AnyState {
        self.0.init()
    }

    fn reduce(&self, mut state: AnyState, record: AnyRecord<'a>) -> (AnyState, Batch<DomainEvent>) {
        let events = record.0.reduce(&mut state);
        (state, events.unwrap_or_else(|| Batch::from(foreign_state())))
    }

    fn finish(&self, state: AnyState) -> (AnyState, Batch<DomainEvent>) {
        self.0.finish(state)
    }
}
