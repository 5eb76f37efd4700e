//! [`DynExecutor`]: an executor chosen at run time, with its state and its records; [`SplitExecutor`]: a `DynExecutor`
//! in two halves.

use std::{
    any::Any,
    borrow::Cow,
    fmt::{self, Debug},
    path::Path,
    sync::Arc,
};

use foldline::{
    processor::{HeapSize, ParseAhead},
    source::Opener,
    transduce::{Batch, Reducer},
};
use foldline_domain::{CorrId, DomainEvent, Json, WarningKind, tool_calls::CallResult};
use serde::{
    Deserialize, Serialize, Serializer,
    de::{DeserializeOwned, Error as _},
};

use super::{
    executor::{Executor, Header, Parsed},
    records::Records,
    reducing::{ExecutorReducer, SessionState, State},
    sessions::SessionKeyOf,
    wire::{Object, Record},
};
use crate::executor::{Beside, Format};
use crate::recogniser::Evidence;

/// The object-safe interface of an executor.
pub(super) trait AnyExecutor: Send + Sync {
    fn format(&self) -> &'static Format;
    fn of_file(&self, _path: &Path, _beside: Beside<'_>) -> Option<DynExecutor> {
        None
    }
    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        Vec::new()
    }
    fn recognise(&self, object: &Object<'_>) -> Evidence;
    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>>;
    fn parse<'a>(&self, _object: &mut Object<'a>, _header: &mut Header<'a>) -> Parsed<()> {
        Parsed::Line(())
    }
    fn parsed<'a>(&'a self, record: Record<'a>) -> AnyRecord<'a>;
    fn init(&self) -> AnyState;
    fn restore(&self, json: &str) -> serde_json::Result<AnyState>;
    fn reduce(&self, state: &mut AnyState, record: Record<'_>) -> Batch<DomainEvent>;
    fn finish(&self, state: &mut AnyState) -> Batch<DomainEvent>;
}

impl<E: Executor> AnyExecutor for ExecutorReducer<E> {
    fn format(&self) -> &'static Format {
        const { &E::FORMAT }
    }

    fn of_file(&self, path: &Path, beside: Beside<'_>) -> Option<DynExecutor> {
        // A log stays the same log when it is compressed.
        let is_packed = path.extension().is_some_and(|ending| ending == "gz" || ending == "zst");
        let named = if is_packed { path.with_extension("") } else { path.to_owned() };
        self.executor.of_file(&named, beside).map(DynExecutor::new)
    }

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        self.executor.openers()
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        self.executor.recognise(object)
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        self.executor.session(object)
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<()> {
        self.executor.parse(object, header).map(|_| ())
    }

    fn parsed<'a>(&'a self, record: Record<'a>) -> AnyRecord<'a> {
        let record = self.parsed(record);
        AnyRecord {
            session: record.session().cloned(),
            ignored: self.ignored(&record).cloned(),
            reduce: Box::new(move |state| state.with(|own| self.reduce_parsed(own, record))),
        }
    }

    fn init(&self) -> AnyState {
        AnyState::new(E::FORMAT.name, Reducer::init(self))
    }

    fn restore(&self, json: &str) -> serde_json::Result<AnyState> {
        AnyState::restore::<State<E>>(E::FORMAT.name, json)
    }

    fn reduce(&self, state: &mut AnyState, record: Record<'_>) -> Batch<DomainEvent> {
        state.with(|own| self.reduce_parsed(own, self.parsed(record)))
    }

    fn finish(&self, state: &mut AnyState) -> Batch<DomainEvent> {
        state.with(|own| self.finish_state(own))
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

    /// The executor for the file at this path, which may state the session, as a file [`beside`](Beside) it may.
    #[must_use]
    pub fn of_file(&self, path: &Path, beside: Beside<'_>) -> Self {
        self.0.of_file(path, beside).unwrap_or_else(|| self.clone())
    }

    /// The format.
    pub fn format(&self) -> &'static Format {
        self.0.format()
    }

    /// How its logs are opened that are not files of lines.
    pub fn openers(&self) -> Vec<Arc<dyn Opener>> {
        self.0.openers()
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
}

impl<'a> SessionKeyOf<Record<'a>> for DynExecutor {
    fn session_of<'r>(&self, record: &'r Record<'a>) -> Option<Cow<'r, str>> {
        record.object().and_then(|object| self.session(object))
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
        self.0.0.parsed(record)
    }
}

impl SessionKeyOf<AnyRecord<'_>> for SplitExecutor {
    fn session_of<'r>(&self, record: &'r AnyRecord<'_>) -> Option<Cow<'r, str>> {
        record.session.as_deref().map(Cow::Borrowed)
    }
}

impl<'a> Reducer<AnyRecord<'a>, AnyState, DomainEvent> for SplitExecutor {
    fn init(&self) -> AnyState {
        self.0.init()
    }

    fn reduce(&self, mut state: AnyState, record: AnyRecord<'a>) -> (AnyState, Batch<DomainEvent>) {
        let events = (record.reduce)(&mut state);
        (state, events)
    }

    fn finish(&self, state: AnyState) -> (AnyState, Batch<DomainEvent>) {
        self.0.finish(state)
    }
}

/// The second half of reducing a record, for the state of its executor.
pub(super) type Reduction<'a> = dyn FnOnce(&mut AnyState) -> Batch<DomainEvent> + 'a;

/// A record that any executor has parsed.
pub struct AnyRecord<'a> {
    pub(super) session: Option<Cow<'a, str>>,
    /// The type of a record that is ignored on purpose.
    pub(super) ignored: Option<Cow<'a, str>>,
    pub(super) reduce: Box<Reduction<'a>>,
}

impl Debug for AnyRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyRecord").field("session", &self.session).finish_non_exhaustive()
    }
}

/// What is asked of a state whose type is not known.
pub(super) trait StateFacts {
    /// Its size; 0 if it is unknown, since the number of sessions is bounded anyway.
    fn heap_size(&self) -> usize {
        0
    }

    /// The id of a result that awaits its call, counted from the latest one.
    fn held(&self, _nth: usize) -> Option<&CorrId> {
        None
    }
}

impl<R: CallResult, M> StateFacts for SessionState<R, M> {
    fn heap_size(&self) -> usize {
        HeapSize::heap_size(self)
    }

    fn held(&self, nth: usize) -> Option<&CorrId> {
        self.calls().latest_held(nth)
    }
}

/// A state whose type is known only to its executor.
pub(super) trait StoredState: Any + Send + Debug + StateFacts {
    fn to_json(&self) -> Result<Json, foldline_json::Error>;
    fn clone_box(&self) -> Box<dyn StoredState>;
    fn is_same(&self, other: &dyn Any) -> bool;
}

impl<S> StoredState for S
where
    S: StateFacts + Clone + Debug + PartialEq + Serialize + Send + 'static,
{
    fn to_json(&self) -> Result<Json, foldline_json::Error> {
        Json::of(self)
    }

    fn clone_box(&self) -> Box<dyn StoredState> {
        Box::new(self.clone())
    }

    fn is_same(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<Self>().is_some_and(|other| other == self)
    }
}

/// The state of a [`DynExecutor`].
///
/// It is stored with the name of its format, so that another executor cannot restore it.
#[derive(Debug)]
pub struct AnyState {
    format: &'static str,
    state: Box<dyn StoredState>,
}

/// A state with the name of its format.
#[derive(Serialize, Deserialize)]
struct Stored<F> {
    format: F,
    state: Json,
}

impl AnyState {
    pub(super) fn new(format: &'static str, state: Box<impl StoredState>) -> Self {
        Self { format, state }
    }

    /// Restores a stored state of this format.
    pub(super) fn restore<S>(format: &'static str, json: &str) -> serde_json::Result<Self>
    where
        S: StoredState + DeserializeOwned,
    {
        let stored: Stored<String> = serde_json::from_str(json)?;
        if stored.format != format {
            let foreign = format!("a state of {} is not a state of {format}", stored.format);
            return Err(serde_json::Error::custom(foreign));
        }
        let state: S = serde_json::from_str(stored.state.get())?;
        Ok(Self::new(format, Box::new(state)))
    }

    /// The id of a result that awaits its call, counted from the latest one.
    pub(crate) fn held(&self, nth: usize) -> Option<&CorrId> {
        self.state.held(nth)
    }

    /// Calls `step` with the state itself. The state of another executor gives a warning instead, since a reducer does
    /// not panic.
    pub(super) fn with<S: StoredState>(
        &mut self,
        step: impl FnOnce(&mut S) -> Batch<DomainEvent>,
    ) -> Batch<DomainEvent> {
        let any: &mut dyn Any = &mut *self.state;
        if let Some(own) = any.downcast_mut() {
            return step(own);
        }
        let message = "the state belongs to another executor, so the record was not read";
        Batch::one(DomainEvent::warning(WarningKind::ForeignRecord, message))
    }
}

impl Clone for AnyState {
    fn clone(&self) -> Self {
        Self { format: self.format, state: self.state.clone_box() }
    }
}

impl PartialEq for AnyState {
    fn eq(&self, other: &Self) -> bool {
        self.state.is_same(&*other.state)
    }
}

impl Serialize for AnyState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = self.state.to_json().map_err(serde::ser::Error::custom)?;
        Stored { format: self.format, state }.serialize(serializer)
    }
}

impl HeapSize for AnyState {
    fn heap_size(&self) -> usize {
        self.state.heap_size()
    }
}
