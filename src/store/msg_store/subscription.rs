//! [`Subscription`]: one reader of a store.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::shared::Shared;
use crate::{conversation::Conversation, emitters::patch::ConversationPatch};

/// The conversation at one moment. It shares its entries with the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The number of the last patch that is in it; 0 before the first one.
    pub seq: u64,
    /// The whole conversation.
    pub conversation: Conversation,
}

/// What a subscriber receives.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// The whole conversation as it is: in place of everything received before.
    Snapshot(Snapshot),
    /// A change to what was received before.
    Patch {
        /// The patch's number: one more than that of the patch or snapshot before it.
        seq: u64,
        /// The change.
        patch: ConversationPatch,
    },
}

/// One reader of a store: first a snapshot, then patches, and a snapshot again if it was too slow.
///
/// As an iterator it waits for what comes next, and ends when the store is closed.
#[derive(Debug)]
pub struct Subscription {
    shared: Arc<Shared>,
    id: u64,
}

impl Subscription {
    pub(super) fn new(shared: Arc<Shared>, id: u64) -> Self {
        Self { shared, id }
    }

    /// What is there already.
    pub fn try_next(&self) -> Option<Update> {
        self.shared.lock().next_for(self.id)
    }

    /// What comes within `timeout`.
    pub fn next_within(&self, timeout: Duration) -> Option<Update> {
        // A time that no clock reaches is no limit.
        let deadline = Instant::now().checked_add(timeout);
        self.wait(|| deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())))
    }

    fn wait(&self, left: impl Fn() -> Option<Duration>) -> Option<Update> {
        let mut state = self.shared.lock();
        loop {
            if let Some(update) = state.next_for(self.id) {
                return Some(update);
            }
            let left = left();
            if state.is_closed() || left.is_some_and(|left| left.is_zero()) {
                return None;
            }
            state = self.shared.wait(state, left);
        }
    }
}

impl Iterator for Subscription {
    type Item = Update;

    fn next(&mut self) -> Option<Update> {
        self.wait(|| None)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared.lock().unsubscribe(self.id);
    }
}
