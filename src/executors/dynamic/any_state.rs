//! [`AnyState`]: the state of any executor.

use std::{any::Any, fmt::Debug};

use serde::{Serialize, Serializer};

use crate::executors::{reducing::SessionState, sessions::StateSize};
use crate::{
    conversation::{DomainEvent, Json, WarningKind, tool_calls::CallResult},
    json,
    transduce::Batch,
};

/// A state whose type is known only to its executor.
pub(in crate::executors) trait StoredState: Any + Send + Debug {
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

/// The state of a [`DynExecutor`](crate::executors::DynExecutor).
///
/// Stored as what the executor's own state is stored as; whoever stores it stores the format's name beside it, and has
/// it read by the executor of that name.
#[derive(Debug)]
pub struct AnyState(Box<dyn StoredState>);

impl AnyState {
    pub(in crate::executors) fn new(state: Box<impl StoredState>) -> Self {
        Self(state)
    }

    pub(in crate::executors) fn is<S: StoredState>(&self) -> bool {
        let any: &dyn Any = &*self.0;
        any.is::<S>()
    }

    /// The state itself, if it is of this type.
    pub(in crate::executors) fn downcast_mut<S: StoredState>(&mut self) -> Option<&mut S> {
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

/// A reducer does not panic, and a state of another executor has no meaning to this one.
pub(in crate::executors) fn foreign_state() -> Batch<DomainEvent> {
    let message = "the state belongs to another executor, so the record was not read";
    Batch::one(DomainEvent::warning(WarningKind::ForeignRecord, message))
}
