//! [`AnyState`]: the state of any executor.

use std::{any::Any, fmt::Debug};

use serde::{
    Deserialize, Serialize, Serializer,
    de::{DeserializeOwned, Error as _},
};

use crate::executors::{reducing::SessionState, sessions::StateSize};
use crate::{
    conversation::{CorrId, DomainEvent, Json, WarningKind, tool_calls::CallResult},
    json,
    transduce::Batch,
};

/// A state whose type is known only to its executor.
pub(in crate::executors) trait StoredState: Any + Send + Debug {
    fn to_json(&self) -> Result<Json, json::Error>;
    fn clone_box(&self) -> Box<dyn StoredState>;
    fn as_any(&self) -> &dyn Any;
    fn is_same(&self, other: &dyn StoredState) -> bool;
    fn size(&self) -> usize;
    /// The id of a result that awaits its call, counted from the latest one.
    fn held(&self, nth: usize) -> Option<&CorrId>;
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

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_same(&self, other: &dyn StoredState) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| other == self)
    }

    fn size(&self) -> usize {
        StateSize::size(self)
    }

    fn held(&self, nth: usize) -> Option<&CorrId> {
        self.calls().latest_held(nth)
    }
}

/// The state of a [`DynExecutor`](crate::executors::DynExecutor).
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
    pub(in crate::executors) fn new(format: &'static str, state: Box<impl StoredState>) -> Self {
        Self { format, state }
    }

    /// Restores a stored state of this format.
    pub(in crate::executors) fn restore<S>(
        format: &'static str,
        json: &str,
    ) -> serde_json::Result<Self>
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
    pub(in crate::executors) fn held(&self, nth: usize) -> Option<&CorrId> {
        self.state.held(nth)
    }

    pub(in crate::executors) fn is<S: StoredState>(&self) -> bool {
        let any: &dyn Any = &*self.state;
        any.is::<S>()
    }

    /// The state itself, if it is of this type.
    pub(in crate::executors) fn downcast_mut<S: StoredState>(&mut self) -> Option<&mut S> {
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

impl StateSize for AnyState {
    fn size(&self) -> usize {
        self.state.size()
    }
}

/// The events for a state of another executor: a warning, since a reducer does not panic.
pub(in crate::executors) fn foreign_state() -> Batch<DomainEvent> {
    let message = "the state belongs to another executor, so the record was not read";
    Batch::one(DomainEvent::warning(WarningKind::ForeignRecord, message))
}
