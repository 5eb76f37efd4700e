//! [`AnyRecord`]: a record that any executor has parsed.

use std::fmt;

use foldline::transduce::Batch;
use foldline_domain::DomainEvent;

use super::any_state::{AnyState, foreign_state};
use crate::{
    executor::Executor,
    reducing::{ExecutorReducer, ParsedRecord},
};

/// A record that any executor has parsed.
pub struct AnyRecord<'a>(Box<dyn ReduceParsed + 'a>);

impl<'a> AnyRecord<'a> {
    pub(crate) fn new<E: Executor>(
        reducing: &'a ExecutorReducer<E>,
        record: ParsedRecord<'a, E::Line<'a>>,
    ) -> Self {
        Self::of(OwnRecord { reducing, record })
    }

    pub(super) fn of(record: impl ReduceParsed + 'a) -> Self {
        Self(Box::new(record))
    }

    pub(crate) fn session(&self) -> Option<&str> {
        self.0.session()
    }

    /// The type of a record that is ignored on purpose.
    pub(crate) fn ignored(&self) -> Option<&str> {
        self.0.ignored()
    }

    pub(crate) fn reduce(self, state: &mut AnyState) -> Batch<DomainEvent> {
        self.0.reduce(state)
    }
}

impl fmt::Debug for AnyRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyRecord").field("session", &self.session()).finish_non_exhaustive()
    }
}

/// A record whose type is known only to its executor.
pub(super) trait ReduceParsed {
    fn session(&self) -> Option<&str>;
    fn ignored(&self) -> Option<&str>;
    fn reduce(self: Box<Self>, state: &mut AnyState) -> Batch<DomainEvent>;
}

struct OwnRecord<'a, E: Executor> {
    reducing: &'a ExecutorReducer<E>,
    record: ParsedRecord<'a, E::Line<'a>>,
}

impl<E: Executor> ReduceParsed for OwnRecord<'_, E> {
    fn session(&self) -> Option<&str> {
        self.record.session()
    }

    fn ignored(&self) -> Option<&str> {
        self.reducing.ignored(&self.record)
    }

    fn reduce(self: Box<Self>, state: &mut AnyState) -> Batch<DomainEvent> {
        let own = state.downcast_mut();
        own.map_or_else(foreign_state, |own| self.reducing.reduce_parsed(own, self.record))
    }
}
