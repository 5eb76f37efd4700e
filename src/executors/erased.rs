//! [`DynExecutor`]: any executor, chosen at run time.

use std::{
    any::{Any, TypeId},
    borrow::Cow,
    fmt::{self, Debug},
    sync::Arc,
};

use serde::{Serialize, Serializer, de::DeserializeOwned};

use super::{
    ahead::{AnyRecord, Preparsed},
    evidence::Evidence,
    executor::{Executor, Header, Parsed},
    format::Format,
    reducing::{Reducing, SessionState, State},
    sessions::StateSize,
    wire::{Object, Record},
};
use crate::{
    conversation::{DomainEvent, Json, WarningKind, tool_calls::CallResult},
    json,
    transduce::{Batch, Reducer},
};

/// A state whose type is known only to its executor.
trait StoredState: Any + Send + Debug {
    fn to_json(&self) -> Result<Json, json::Error>;
    fn clone_box(&self) -> Box<dyn StoredState>;
    fn is_same(&self, other: &dyn StoredState) -> bool;
    fn size(&self) -> usize;
}

impl<R, M> StoredState for SessionState<R, M>
where
    R: CallResult + Clone + Debug + PartialEq + Serialize + Send + 'static,
    M: Clone + Debug + PartialEq + Serialize + Send + 'static,
{
    fn to_json(&self) -> Result<Json, json::Error> {
        Json::of(self)
    }

    fn clone_box(&self) -> Box<dyn StoredState> {
        Box::new(self.clone())
    }

    fn is_same(&self, other: &dyn StoredState) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref::<Self>().is_some_and(|other| other == self)
    }

    fn size(&self) -> usize {
        StateSize::size(self)
    }
}

/// The state of a [`DynExecutor`]. Stored as what the executor's own state is stored as; whoever
/// stores it stores the format's name beside it, and has it read by the executor of that name.
#[derive(Debug)]
pub struct AnyState(Box<dyn StoredState>);

impl AnyState {
    /// The state itself, if it is of this type.
    pub(super) fn downcast_mut<S: 'static>(&mut self) -> Option<&mut S> {
        let any: &mut dyn Any = &mut *self.0;
        any.downcast_mut()
    }
}

impl Clone for AnyState {
    fn clone(&self) -> Self {
        Self(self.0.clone_box())
    }
}

impl PartialEq for AnyState {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_same(&*other.0)
    }
}

impl Serialize for AnyState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_json().map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl StateSize for AnyState {
    fn size(&self) -> usize {
        self.0.size()
    }
}

/// An executor's object-safe face.
trait AnyExecutor: Send + Sync {
    fn format(&self) -> &'static Format;
    fn of_file(&self, name: &str) -> Option<DynExecutor>;
    fn recognise(&self, object: &Object<'_>) -> Evidence;
    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>>;
    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<()>;
    fn parsed<'a>(&'a self, record: Record<'a>) -> AnyRecord<'a>;
    fn init(&self) -> AnyState;
    fn restore(&self, json: &str) -> serde_json::Result<AnyState>;
    fn owns(&self, state: &AnyState) -> bool;
    fn reduce(&self, state: AnyState, record: Record<'_>) -> (AnyState, Batch<DomainEvent>);
    fn finish(&self, state: AnyState) -> (AnyState, Batch<DomainEvent>);
}

impl<E: Executor> Reducing<E> {
    /// The executor's own state, if it is one.
    fn own(state: AnyState) -> Result<Box<State<E>>, AnyState> {
        let any: &dyn Any = &*state.0;
        if any.type_id() != TypeId::of::<State<E>>() {
            return Err(state);
        }
        let any: Box<dyn Any> = state.0;
        any.downcast().map_err(|_| AnyState(Box::new(State::<E>::default())))
    }
}

impl<E: Executor> AnyExecutor for Reducing<E> {
    fn format(&self) -> &'static Format {
        const { &E::FORMAT }
    }

    fn of_file(&self, name: &str) -> Option<DynExecutor> {
        self.executor.of_file(name).map(DynExecutor::new)
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        self.executor.recognise(object)
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        self.session_of(object)
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<()> {
        match self.executor.parse(object, header) {
            Parsed::Line(_) => Parsed::Line(()),
            Parsed::Ignored => Parsed::Ignored,
            Parsed::Foreign => Parsed::Foreign,
            Parsed::Unknown => Parsed::Unknown,
        }
    }

    fn parsed<'a>(&'a self, record: Record<'a>) -> AnyRecord<'a> {
        AnyRecord::new(self, self.parsed(record))
    }

    fn init(&self) -> AnyState {
        AnyState(Reducer::init(self))
    }

    fn restore(&self, json: &str) -> serde_json::Result<AnyState> {
        Ok(AnyState(Box::new(read::<State<E>>(json)?)))
    }

    fn owns(&self, state: &AnyState) -> bool {
        let any: &dyn Any = &*state.0;
        any.is::<State<E>>()
    }

    fn reduce(&self, state: AnyState, record: Record<'_>) -> (AnyState, Batch<DomainEvent>) {
        match Self::own(state) {
            Ok(state) => {
                let (state, events) = Reducer::reduce(self, state, record);
                (AnyState(state), events)
            }
            Err(state) => (state, Batch::from(foreign_state())),
        }
    }

    fn finish(&self, state: AnyState) -> (AnyState, Batch<DomainEvent>) {
        match Self::own(state) {
            Ok(state) => {
                let (state, events) = Reducer::finish(self, state);
                (AnyState(state), events)
            }
            Err(state) => (state, Batch::from(foreign_state())),
        }
    }
}

fn read<S: DeserializeOwned>(json: &str) -> serde_json::Result<S> {
    serde_json::from_str(json)
}

/// A reducer does not panic, and a state of another executor has no meaning to this one.
pub(super) fn foreign_state() -> DomainEvent {
    let message = "the state belongs to another executor, so the record was not read";
    DomainEvent::warning(WarningKind::ForeignRecord, message)
}

/// Any [`Executor`], behind a pointer: a [`Reducer`] over [`Record`]s whose state is an [`AnyState`].
///
/// ```
/// use foldline::{executors::{DynExecutor, droid::Droid, wire::Record}, transduce::Reducer};
///
/// let executor = DynExecutor::new(Droid);
/// let state = executor.init();
/// let stored = serde_json::to_string(&state)?;
/// assert_eq!(executor.restore(&stored)?, state);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct DynExecutor(Arc<dyn AnyExecutor>);

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
    /// This executor, without its type.
    pub fn new<E: Executor>(executor: E) -> Self {
        Self(Arc::new(Reducing::new(executor)))
    }

    /// The same for a file of this name (without its folder), which may say which session it is of.
    #[must_use]
    pub fn of_file(&self, name: &str) -> Self {
        self.0.of_file(name).unwrap_or_else(|| self.clone())
    }

    /// What its format is called.
    pub fn format(&self) -> &'static Format {
        self.0.format()
    }

    /// A reducer of the same states, which parses records before their turn.
    pub fn preparsed(&self) -> Preparsed {
        Preparsed::new(self.clone())
    }

    /// Parses a record: the half of reducing it that does not depend on the state.
    pub(super) fn parsed<'a>(&'a self, record: Record<'a>) -> AnyRecord<'a> {
        self.0.parsed(record)
    }

    /// How surely a record belongs to its format.
    pub fn recognise(&self, object: &Object<'_>) -> Evidence {
        self.0.recognise(object)
    }

    /// The session that a record belongs to.
    pub fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        self.0.session(object)
    }

    /// Reads a record as the executor does, and says only what kind of record it is.
    pub fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<()> {
        self.0.parse(object, header)
    }

    /// Reads a state that was stored.
    ///
    /// # Errors
    /// The text is no state of this executor.
    pub fn restore(&self, json: &str) -> serde_json::Result<AnyState> {
        self.0.restore(json)
    }

    /// Whether a state is one of this executor's.
    pub fn owns(&self, state: &AnyState) -> bool {
        self.0.owns(state)
    }
}

impl<'a> Reducer<Record<'a>, AnyState, DomainEvent> for DynExecutor {
    fn init(&self) -> AnyState {
        self.0.init()
    }

    fn reduce(&self, state: AnyState, record: Record<'a>) -> (AnyState, Batch<DomainEvent>) {
        self.0.reduce(state, record)
    }

    fn finish(&self, state: AnyState) -> (AnyState, Batch<DomainEvent>) {
        self.0.finish(state)
    }
}
