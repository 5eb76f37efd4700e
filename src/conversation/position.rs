//! [`Position`]: a place in a log; [`Located`]: a value with its position.

use std::{borrow::Cow, fmt, marker::PhantomData, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::digest::Digest;
use crate::transduce::{Batch, Reducer, wrapper::access};

/// A position in a log.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Position {
    /// The line, counted from 1; 0 before anything was read.
    pub line: u64,
    /// The byte at which the record starts, counted from 0 at the start of the log.
    pub offset: u64,
}

/// A session of a log, as the number of sessions that began in the log before it. A session has a number before the log
/// names it ([`Session::session_id`](super::Session)), and keeps it whatever the log names it later.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct SessionKey(pub u32);

/// Something with the position of the record that caused it.
///
/// Events of completion (a call that was never answered) have the position of the last record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Located<T> {
    /// The position of the record.
    pub position: Position,
    /// The digest of the record's line, if the processor was asked to compute it. All events of a line
    /// share it.
    #[serde(skip)]
    pub line_sha256: Option<Arc<Digest>>,
    /// The session that the event belongs to: the first one, unless a reducer of several sessions says otherwise. It is
    /// the key of consumers that know one session at a time ([`KeyedEmitter`](crate::transduce::KeyedEmitter)).
    pub session: SessionKey,
    /// The value.
    #[serde(flatten)]
    pub item: T,
}

/// Reads what `Serialize` writes: the position comes first, then the session. The rest is not buffered, as a flattened
/// field would be, so that raw JSON within it can be read.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
            type Value = Located<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object that begins with its position and its session")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Located<T>, A::Error> {
                let position = field(&mut map, "position")?;
                let session = field(&mut map, "session")?;
                let item = T::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Located::new(position, item).in_session(session))
            }
        }

        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

/// The next field, which has this name.
fn field<'de, F: Deserialize<'de>, A: MapAccess<'de>>(
    map: &mut A,
    name: &str,
) -> Result<F, A::Error> {
    match map.next_key::<Cow<'_, str>>()? {
        Some(key) if key == name => map.next_value(),
        _ => Err(A::Error::custom(format_args!("expected the field `{name}`"))),
    }
}

impl<T> Located<T> {
    /// `item`, caused by the record at `position`.
    pub const fn new(position: Position, item: T) -> Self {
        Self { position, line_sha256: None, session: SessionKey(0), item }
    }

    /// The same, in a session.
    #[must_use]
    pub const fn in_session(mut self, session: SessionKey) -> Self {
        self.session = session;
        self
    }

    /// The same, with the digest of the record's line.
    #[must_use]
    pub fn with_line_sha256(mut self, line_sha256: Option<Arc<Digest>>) -> Self {
        self.line_sha256 = line_sha256;
        self
    }
}

/// A reducer whose inputs and events carry their position. Made by [`locating`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Locating<R> {
    reducer: R,
}

access!(Locating<R>, reducer: R);

/// The state of a [`Locating`]: the reducer's own, and the position of the last record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LocatingState<S> {
    /// The state of the inner reducer.
    pub state: S,
    /// The position of the last record.
    pub position: Position,
    /// The digest of the last record's line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_sha256: Option<Arc<Digest>>,
}

impl<S> LocatingState<S> {
    /// The same with the inner state converted.
    ///
    /// # Errors
    /// The error of `f`.
    pub fn try_map<T, E>(self, f: impl FnOnce(S) -> Result<T, E>) -> Result<LocatingState<T>, E> {
        let Self { state, position, line_sha256 } = self;
        Ok(LocatingState { state: f(state)?, position, line_sha256 })
    }

    fn located<E>(&self, events: Batch<E>) -> Batch<Located<E>> {
        events.map(|event| {
            Located::new(self.position, event).with_line_sha256(self.line_sha256.clone())
        })
    }
}

/// Gives every event of `reducer` the position of the record that caused it, so that the reducer
/// itself does not handle positions.
pub fn locating<R>(reducer: R) -> Locating<R> {
    Locating { reducer }
}

impl<R, In, S, E> Reducer<Located<In>, LocatingState<S>, Located<E>> for Locating<R>
where
    R: Reducer<In, S, E>,
{
    fn init(&self) -> LocatingState<S> {
        LocatingState {
            state: self.reducer.init(),
            position: Position::default(),
            line_sha256: None,
        }
    }

    fn reduce(
        &self,
        state: LocatingState<S>,
        input: Located<In>,
    ) -> (LocatingState<S>, Batch<Located<E>>) {
        let Located { position, line_sha256, item, session: _ } = input;
        let (state, events) = self.reducer.reduce(state.state, item);
        let state = LocatingState { state, position, line_sha256 };
        let events = state.located(events);
        (state, events)
    }

    fn finish(&self, state: LocatingState<S>) -> (LocatingState<S>, Batch<Located<E>>) {
        let LocatingState { state, position, line_sha256 } = state;
        let (state, events) = self.reducer.finish(state);
        let state = LocatingState { state, position, line_sha256 };
        let events = state.located(events);
        (state, events)
    }

    fn is_done(&self, state: &LocatingState<S>) -> bool {
        self.reducer.is_done(&state.state)
    }
}
