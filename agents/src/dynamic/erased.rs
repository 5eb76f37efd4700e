//! [`DynExecutor`]: an executor chosen at run time; [`SplitExecutor`]: a `DynExecutor` in two halves.

use std::{
    borrow::Cow,
    fmt::{self, Debug},
    path::Path,
    sync::Arc,
};

use foldline::{
    processor::ParseAhead,
    source::Opener,
    transduce::{Batch, Reducer},
};
use foldline_domain::DomainEvent;

use super::{
    any_record::AnyRecord,
    any_state::{AnyState, foreign_state},
};
use crate::{
    evidence::Evidence,
    executor::{Executor, Header, Parsed},
    format::Format,
    records::Records,
    reducing::{ExecutorReducer, State},
    sessions::SessionKeyOf,
    wire::{Object, Record},
};

/// The object-safe interface of an executor.
pub(super) trait AnyExecutor: Send + Sync {
    fn format(&self) -> &'static Format;
    fn of_file(&self, path: &Path) -> Option<DynExecutor>;
    fn opener(&self) -> Option<Arc<dyn Opener>>;
    fn recognise(&self, object: &Object<'_>) -> Evidence;
    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>>;
    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<()>;
    fn parsed<'a>(&'a self, record: Record<'a>) -> AnyRecord<'a>;
    fn init(&self) -> AnyState;
    fn restore(&self, json: &str) -> serde_json::Result<AnyState>;
    fn owns(&self, state: &AnyState) -> bool;
    fn reduce(&self, state: &mut AnyState, record: Record<'_>) -> Batch<DomainEvent>;
    fn finish(&self, state: &mut AnyState) -> Batch<DomainEvent>;
}

impl<E: Executor> AnyExecutor for ExecutorReducer<E> {
    fn format(&self) -> &'static Format {
        const { &E::FORMAT }
    }

    fn of_file(&self, path: &Path) -> Option<DynExecutor> {
        self.executor.of_file(path).map(DynExecutor::new)
    }

    fn opener(&self) -> Option<Arc<dyn Opener>> {
        self.executor.opener()
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        self.executor.recognise(object)
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        self.session_of(object)
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<()> {
        self.executor.parse(object, header).map(|_| ())
    }

    fn parsed<'a>(&'a self, record: Record<'a>) -> AnyRecord<'a> {
        AnyRecord::new(self, self.parsed(record))
    }

    fn init(&self) -> AnyState {
        AnyState::new(E::FORMAT.name, Reducer::init(self))
    }

    fn restore(&self, json: &str) -> serde_json::Result<AnyState> {
        AnyState::restore::<State<E>>(E::FORMAT.name, json)
    }

    fn owns(&self, state: &AnyState) -> bool {
        state.is::<State<E>>()
    }

    fn reduce(&self, state: &mut AnyState, record: Record<'_>) -> Batch<DomainEvent> {
        let own = state.downcast_mut();
        own.map_or_else(foreign_state, |own| self.reduce_parsed(own, self.parsed(record)))
    }

    fn finish(&self, state: &mut AnyState) -> Batch<DomainEvent> {
        state.downcast_mut().map_or_else(foreign_state, |own| self.finish_state(own))
    }
}

/// Any [`Executor`] or [`RecordReducer`](super::RecordReducer), behind a pointer: a [`Reducer`] over [`Record`]s whose state is an [`AnyState`].
///
/// ```
/// use foldline::transduce::Reducer;
/// use foldline_agents::{DynExecutor, droid::Droid, wire::Record};
///
/// let executor = DynExecutor::new(Droid);
/// let state = executor.init();
/// let stored = serde_json::to_string(&state)?;
/// assert_eq!(executor.restore(&stored)?, state);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct DynExecutor(pub(super) Arc<dyn AnyExecutor>);

impl Debug for DynExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynExecutor").field(&self.format().name).finish()
    }
}

impl<E: Executor> From<E> for DynExecutor {
    fn from(executor: E) -> Self {
        Self::new(executor)
    }
}

impl DynExecutor {
    /// Erases the type of an executor.
    pub fn new<E: Executor>(executor: E) -> Self {
        Self(Arc::new(ExecutorReducer::new(executor)))
    }

    /// The executor for the file at this path, which may state the session.
    #[must_use]
    pub fn of_file(&self, path: &Path) -> Self {
        self.0.of_file(path).unwrap_or_else(|| self.clone())
    }

    /// The format.
    pub fn format(&self) -> &'static Format {
        self.0.format()
    }

    /// How its logs are opened if they are not files of lines.
    pub fn opener(&self) -> Option<Arc<dyn Opener>> {
        self.0.opener()
    }

    /// Parses a record: the half of reducing it that does not depend on the state.
    pub(crate) fn parsed<'a>(&'a self, record: Record<'a>) -> AnyRecord<'a> {
        self.0.parsed(record)
    }

    /// Judges whether a record belongs to the format.
    pub fn recognise(&self, object: &Object<'_>) -> Evidence {
        self.0.recognise(object)
    }

    /// The session of a record.
    pub fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        self.0.session(object)
    }

    /// Parses a record and returns only its kind.
    pub fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<()> {
        self.0.parse(object, header)
    }

    /// Restores a stored state.
    ///
    /// # Errors
    /// The text is not a state of this executor.
    pub fn restore(&self, json: &str) -> serde_json::Result<AnyState> {
        self.0.restore(json)
    }

    /// Whether a state belongs to this executor.
    pub fn owns(&self, state: &AnyState) -> bool {
        self.0.owns(state)
    }
}

impl<'a> SessionKeyOf<Record<'a>> for DynExecutor {
    fn session_of<'r>(&self, record: &'r Record<'a>) -> Option<Cow<'r, str>> {
        match record {
            Record::Object(object) => self.session(object),
            Record::Irregular(_) => None,
        }
    }
}

impl<'a> Reducer<Record<'a>, AnyState, DomainEvent> for DynExecutor {
    fn init(&self) -> AnyState {
        self.0.init()
    }

    fn reduce(&self, mut state: AnyState, record: Record<'a>) -> (AnyState, Batch<DomainEvent>) {
        let events = self.0.reduce(&mut state, record);
        (state, events)
    }

    fn finish(&self, mut state: AnyState) -> (AnyState, Batch<DomainEvent>) {
        let events = self.0.finish(&mut state);
        (state, events)
    }
}

/// A [`DynExecutor`] in two halves: it parses records ahead of time and reduces them later. State and events are the
/// same.
///
/// ```
/// use foldline::{processor::ParseAhead, transduce::Reducer};
/// use foldline_agents::{DynExecutor, SplitExecutor, droid::Droid, wire::Record};
///
/// let (executor, mut events) = (DynExecutor::new(Droid), Vec::new());
/// let ahead = SplitExecutor::new(executor.clone());
/// let line = r#"{"type":"message","role":"user","text":"hi"}"#;
/// Record::read(line, |_, record| {
///     let record = ahead.parse_ahead(record); // also on another thread
///     events.extend(ahead.reduce(executor.init(), record).1);
/// });
/// assert_eq!(events.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct SplitExecutor(DynExecutor);

impl SplitExecutor {
    /// Splits an executor into two halves.
    pub const fn new(executor: DynExecutor) -> Self {
        Self(executor)
    }
}

impl ParseAhead<Records> for SplitExecutor {
    type Parsed<'a> = AnyRecord<'a>;

    fn parse_ahead<'a>(&'a self, record: Record<'a>) -> AnyRecord<'a> {
        self.0.parsed(record)
    }
}

impl SessionKeyOf<AnyRecord<'_>> for SplitExecutor {
    fn session_of<'r>(&self, record: &'r AnyRecord<'_>) -> Option<Cow<'r, str>> {
        record.session().map(Cow::Borrowed)
    }
}

impl<'a> Reducer<AnyRecord<'a>, AnyState, DomainEvent> for SplitExecutor {
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
