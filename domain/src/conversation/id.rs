//! Newtypes for identifiers that must not be confused.

use std::{
    borrow::{Borrow, Cow},
    fmt,
    sync::Arc,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Opaque, compared byte for byte, cheap to clone (the text is shared).
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The identifier, exactly as in the log.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Cow::Borrowed(id).into()
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Cow::<str>::Owned(id).into()
            }
        }

        impl From<Cow<'_, str>> for $name {
            fn from(id: Cow<'_, str>) -> Self {
                Self(id.into())
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

string_id! {
    /// A correlation id: links a tool result, or more text, to its entry.
    CorrId
}

string_id! {
    /// The agent's id of a session (Codex calls it a thread).
    SessionId
}

string_id! {
    /// The id of the task of a session. It is not in any agent's log, but assigned at ingestion.
    TaskId
}

/// The index of an entry in a conversation: 0, 1, 2, ... without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryIdx(usize);

impl EntryIdx {
    /// The entry at `index`, counted from 0.
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// The index, counted from 0.
    pub const fn get(self) -> usize {
        self.0
    }
}

impl fmt::Display for EntryIdx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
