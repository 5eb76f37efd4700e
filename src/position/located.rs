//! [`Position`]: a position in a log; [`Located`]: a value with its position and its session; [`Timestamp`]: a moment
//! stated in the log.

use std::{borrow::Cow, fmt, marker::PhantomData, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::digest::Digest;

/// A position in a log.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Position {
    /// The line, counted from 1; 0 before the first line.
    pub line: u64,
    /// The offset of the record in bytes, from 0 at the start of the log.
    pub offset: u64,
}

/// A session of a log, numbered by the sessions that began before it. A session has a number before the log names it,
/// and keeps it if the log renames it later.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionKey(pub u32);

/// A value with the position of the record that caused it.
///
/// Completion events (a call that was never answered) have the position of the last record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Located<T> {
    /// The position of the record.
    pub position: Position,
    /// The digest of the record's line, if the processor computes it. All events of a line share it.
    #[serde(skip)]
    pub line_sha256: Option<Arc<Digest>>,
    /// The session of the event: the first one, unless a reducer with several sessions sets another. It is the key of
    /// consumers that handle one session at a time ([`KeyedEmitter`](crate::transduce::KeyedEmitter)).
    pub session: SessionKey,
    /// The value.
    #[serde(flatten)]
    pub item: T,
}

/// Reads the output of `Serialize`: the position comes first, then the session. The rest is not buffered, as a
/// flattened field would be, so that raw JSON within it can be read.
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

/// The next field, which must have this name.
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

    /// Sets the session.
    #[must_use]
    pub const fn in_session(mut self, session: SessionKey) -> Self {
        self.session = session;
        self
    }

    /// Sets the digest of the record's line.
    #[must_use]
    pub fn with_line_sha256(mut self, line_sha256: Option<Arc<Digest>>) -> Self {
        self.line_sha256 = line_sha256;
        self
    }
}

/// A moment in milliseconds since 1970-01-01T00:00:00Z, as stated in the log. Never taken from a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment `millis` milliseconds after 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to this moment; `None` if this moment is before `earlier`.
    pub fn millis_since(self, earlier: Self) -> Option<u64> {
        self.0.checked_sub(earlier.0)?.try_into().ok()
    }
}
