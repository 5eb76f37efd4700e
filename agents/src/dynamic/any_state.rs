//! [`AnyState`]: the state of any executor.

use std::{any::Any, fmt::Debug};

use foldline::{processor::HeapSize, transduce::Batch};
use foldline_domain::{CorrId, DomainEvent, Json, WarningKind, tool_calls::CallResult};
use serde::{
    Deserialize, Serialize, Serializer,
    de::{DeserializeOwned, Error as _},
};

use crate::reducing::SessionState;

/// A state whose type is known only to its executor.
pub(crate) trait StoredState: Any + Send + Debug + HeapSize {
    fn to_json(&self) -> Result<Json, foldline_json::Error>;
    fn clone_box(&self) -> Box<dyn StoredState>;
    fn as_any(&self) -> &dyn Any;
    fn is_same(&self, other: &dyn StoredState) -> bool;
    /// The id of a result that awaits its call, counted from the latest one.
    fn held(&self, nth: usize) -> Option<&CorrId>;
}

impl<R, M> StoredState for SessionState<R, M>
where
    R: CallResult + Clone + Debug + PartialEq + Serialize + Send + 'static,
    M: Clone + Debug + PartialEq + Serialize + Send + 'static,
{
    fn to_json(&self) -> Result<Json, foldline_json::Error> {
        Json::of(self)
    }

    fn clone_box(&self) -> Box<dyn StoredState> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_same(&self, other: &dyn StoredState) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| other == self)
    }

    fn held(&self, nth: usize) -> Option<&CorrId> {
        self.calls().latest_held(nth)
    }
}

/// The state of a [`DynExecutor`](crate::DynExecutor).
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
    pub(crate) fn new(format: &'static str, state: Box<impl StoredState>) -> Self {
        Self { format, state }
    }

    /// Restores a stored state of this format.
    pub(crate) fn restore<S>(format: &'static str, json: &str) -> serde_json::Result<Self>
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

    pub(crate) fn is<S: StoredState>(&self) -> bool {
        let any: &dyn Any = &*self.state;
        any.is::<S>()
    }

    /// The state itself, if it is of this type.
    pub(crate) fn downcast_mut<S: StoredState>(&mut self) -> Option<&mut S> {
        let any: &mut dyn Any = &mut *self.state;
        any.downcast_mut()
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

/// The events for a state of another executor: a warning, since a reducer does not panic.
pub(crate) fn foreign_state() -> Batch<DomainEvent> {
    let message = "the state belongs to another executor, so the record was not read";
    Batch::one(DomainEvent::warning(WarningKind::ForeignRecord, message))
}
