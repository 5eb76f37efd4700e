//! [`RecordReducer`]: a reducer of records that is used like an executor.

use std::{
    borrow::Cow,
    fmt::{self, Debug},
    marker::PhantomData,
    sync::Arc,
};

use foldline::transduce::{Batch, Reducer};
use foldline_domain::DomainEvent;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    dynamic::{AnyExecutor, AnyRecord, AnyState, DynExecutor, StateFacts},
    wire::{Object, Record},
};
use crate::executor::Format;
use crate::recogniser::{Evidence, Judge};

/// Finds the session in a record: see [`Executor::session`](crate::Executor::session).
pub type SessionOf = for<'o, 'a> fn(&'o Object<'a>) -> Option<Cow<'a, str>>;

/// A [`Reducer`] of records to domain events, with a format: a
/// [`Registry`](crate::Registry), a program and the laws of the testkit take it like an
/// [`Executor`](crate::Executor).
///
/// An executor is shorter where records state calls and results, because [`ExecutorReducer`](crate::ExecutorReducer)
/// implements the common rules. The laws demand them of a reducer of records, too: a record that it does not know, and what
/// is no object, is kept ([`Warning::keeping`](foldline_domain::Warning::keeping)), and a field that it does not know is
/// reported with a warning.
///
/// ```
/// use foldline::transduce::{Batch, reduce_fn};
/// use foldline_agents::{Evidence, Format, RecordReducer, Registry, wire::{Object, Record}};
/// use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType};
///
/// const FORMAT: Format = Format::new("counted", "Counted", "counter");
///
/// let count = reduce_fn(|| 0, |count: u64, _: Record<'_>| {
///     let text = format!("record {count}");
///     let entry = NormalizedEntry::new(NormalizedEntryType::SystemMessage, text);
///     (count + 1, Batch::one(DomainEvent::entry(entry)))
/// });
/// let recognise = |object: &Object<'_>| Evidence::certain_if(object.has("counted"));
/// let registry = Registry::builtin().with(RecordReducer::new(&FORMAT, recognise, count));
/// assert!(registry.named("counted").is_some());
/// ```
#[derive(Clone)]
pub struct RecordReducer<R, S> {
    format: &'static Format,
    recognise: Judge,
    session: SessionOf,
    reducer: R,
    state: PhantomData<fn() -> S>,
}

impl<R, S> RecordReducer<R, S> {
    /// A reducer of the records of this format, which `recognise` recognises.
    pub const fn new(format: &'static Format, recognise: Judge, reducer: R) -> Self
    where
        R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
    {
        Self { format, recognise, session: |_| None, reducer, state: PhantomData }
    }

    /// Finds the session in records, for streams that interleave sessions. Each session has its own state.
    #[must_use]
    pub fn with_session(self, session: SessionOf) -> Self {
        Self { session, ..self }
    }
}

impl<R, S> Debug for RecordReducer<R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecordReducer").field(&self.format.name).finish()
    }
}

impl<R, S> From<RecordReducer<R, S>> for DynExecutor
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent> + Send + Sync + 'static,
    S: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    fn from(reducer: RecordReducer<R, S>) -> Self {
        Self(Arc::new(reducer))
    }
}

/// The state, which is only absent while a record is reduced.
type Held<S> = Option<S>;

impl<S> StateFacts for Held<S> {}

impl<R, S> RecordReducer<R, S>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent> + Send + Sync + 'static,
    S: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    fn step(
        &self,
        state: &mut AnyState,
        step: impl FnOnce(&R, S) -> (S, Batch<DomainEvent>),
    ) -> Batch<DomainEvent> {
        state.with(|held: &mut Held<S>| {
            let before = held.take().unwrap_or_else(|| self.reducer.init());
            let (after, events) = step(&self.reducer, before);
            *held = Some(after);
            events
        })
    }
}

impl<R, S> AnyExecutor for RecordReducer<R, S>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent> + Send + Sync + 'static,
    S: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    fn format(&self) -> &'static Format {
        self.format
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        (self.recognise)(object)
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        (self.session)(object)
    }

    fn parsed<'a>(&'a self, record: Record<'a>) -> AnyRecord<'a> {
        let session = record.object().and_then(self.session);
        // Which records are ignored on purpose, the reducer does not tell.
        let reduce = Box::new(|state: &mut AnyState| AnyExecutor::reduce(self, state, record));
        AnyRecord { session, ignored: None, reduce }
    }

    fn init(&self) -> AnyState {
        AnyState::new(self.format.name, Box::new(Some(self.reducer.init())))
    }

    fn restore(&self, json: &str) -> serde_json::Result<AnyState> {
        AnyState::restore::<Held<S>>(self.format.name, json)
    }

    fn reduce(&self, state: &mut AnyState, record: Record<'_>) -> Batch<DomainEvent> {
        self.step(state, |reducer, state| reducer.reduce(state, record))
    }

    fn finish(&self, state: &mut AnyState) -> Batch<DomainEvent> {
        self.step(state, |reducer, state| {
            Reducer::<Record<'_>, S, DomainEvent>::finish(reducer, state)
        })
    }
}
