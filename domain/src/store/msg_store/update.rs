//! [`Update`]: an update for a subscriber.

use std::{fmt, num::ParseIntError, str::FromStr, sync::Arc};

use crate::{conversation::Conversation, patch::ConversationPatch, store::Sequenced};

/// The whole conversation at one moment, with the number of the last change that it contains; 0 before the first
/// change. It shares its entries with the store.
pub type DocumentSnapshot = Sequenced<Conversation>;

/// An update for a subscriber. All subscribers share it and its JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// The whole conversation. It replaces everything received before.
    Snapshot(Arc<DocumentSnapshot>),
    /// A change relative to the previous update, whose number is lower by one.
    Patch(Arc<Sequenced<ConversationPatch>>),
}

impl Update {
    /// The number of the update.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Snapshot(snapshot) => snapshot.seq,
            Self::Patch(patch) => patch.seq,
        }
    }
}

/// The last update that a reader received, as `epoch:seq`. A disconnected reader uses it to continue.
///
/// ```
/// use foldline_domain::store::UpdateId;
///
/// let id: UpdateId = "b9a0:17".parse()?;
/// assert_eq!((&*id.epoch, id.seq), ("b9a0", 17));
/// assert_eq!(id.to_string(), "b9a0:17");
/// assert!("17".parse::<UpdateId>().is_err());
/// # Ok::<(), std::num::ParseIntError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateId {
    /// The epoch of the store: numbers of another store have no meaning here.
    pub epoch: Arc<str>,
    /// The number of the update.
    pub seq: u64,
}

impl fmt::Display for UpdateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.epoch, self.seq)
    }
}

impl FromStr for UpdateId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        // A text without an epoch has no number either.
        let (epoch, seq) = text.split_once(':').unwrap_or_default();
        Ok(Self { epoch: epoch.into(), seq: seq.parse()? })
    }
}
