//! [`Update`]: what a subscriber receives.

use crate::{conversation::Conversation, emitters::patch::ConversationPatch};

/// The conversation at one moment. It shares its entries with the store.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DocumentSnapshot {
    /// The number of the last patch that it contains; 0 before the first one.
    pub seq: u64,
    /// The whole conversation.
    pub conversation: Conversation,
}

/// What a subscriber receives.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// The whole conversation. It replaces everything received before.
    Snapshot(DocumentSnapshot),
    /// A change to what was received before.
    Patch {
        /// The patch's number: one more than that of the patch or snapshot before it.
        seq: u64,
        /// The change.
        patch: ConversationPatch,
    },
}
