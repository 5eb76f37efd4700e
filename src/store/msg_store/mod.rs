//! [`MsgStore`]: the live document and its subscribers.

mod shared;
mod subscription;
mod update;

use std::{
    borrow::Borrow,
    sync::{Arc, MutexGuard},
};

use self::shared::{Shared, State};
pub use self::{
    subscription::{Subscription, TryNextError},
    update::{DocumentSnapshot, Update},
};
use crate::{
    conversation::{Conversation, CorrId, EntryIdx},
    emitters::patch::{ConversationPatch, CorrIdResolver, DoesNotFit},
};

/// How many updates wait for a subscriber, unless another number is given.
pub const DEFAULT_CAPACITY: usize = 256;

/// A live conversation, for subscribers that join at any time and read at any speed.
///
/// A new subscriber gets one snapshot and then every patch after it; a slow one gets a fresh snapshot
/// in place of the patches that it did not read in time. A subscriber that applies its updates in order
/// therefore always ends with the whole document. The store keeps the document and not its history;
/// entries are shared, so that a snapshot copies none.
///
/// Clones are handles to the same store. It closes when the last one is dropped, or by
/// [`close`](Self::close); subscribers then read what is there, and end.
///
/// Subscribers wait on a thread or in a task, see [`Subscription`]. The store needs no runtime.
///
/// ```
/// use foldline::{
///     conversation::{EntryIdx, NormalizedEntry, NormalizedEntryType},
///     emitters::patch::ConversationPatch,
///     store::{MsgStore, Update},
/// };
///
/// let store = MsgStore::new();
/// let said = |text| NormalizedEntry::new(NormalizedEntryType::UserMessage, text);
/// store.push(ConversationPatch::add_entry(EntryIdx::new(0), said("hello")))?;
///
/// let subscription = store.subscribe();
/// store.push(ConversationPatch::add_entry(EntryIdx::new(1), said("again")))?;
/// store.close();
///
/// let mut document = serde_json::Value::Null;
/// for update in subscription {
///     match update {
///         Update::Snapshot(snapshot) => document = serde_json::to_value(snapshot.conversation)?,
///         Update::Patch { patch, .. } => json_patch::patch(&mut document, &json_patch::Patch::from(patch))?,
///     }
/// }
/// assert_eq!(document, serde_json::to_value(store.snapshot().conversation)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MsgStore {
    handle: Arc<Handle>,
}

/// The state that handles share. Subscribers hold only the inner `Arc`, which does not keep the store open.
#[derive(Debug, Default)]
struct Handle(Arc<Shared>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.change(State::close);
    }
}

impl MsgStore {
    /// A store of an empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies a patch to the conversation, and sends it to every subscriber. The patch may be borrowed:
    /// cloning it is cheap.
    ///
    /// # Errors
    /// The patch does not fit the conversation. Then nothing changes, and nothing is sent.
    pub fn push(&self, patch: impl Borrow<ConversationPatch>) -> Result<(), DoesNotFit> {
        self.handle.0.change(|state| state.push(patch.borrow()))
    }

    /// A snapshot of the conversation.
    pub fn snapshot(&self) -> DocumentSnapshot {
        self.state().snapshot()
    }

    /// The number of entries, and so the next index for a `PatchEmitter` that continues the conversation.
    pub fn len(&self) -> usize {
        self.state().len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Subscribes. Up to [`DEFAULT_CAPACITY`] patches are queued for the subscriber.
    pub fn subscribe(&self) -> Subscription {
        self.subscribe_with_capacity(DEFAULT_CAPACITY)
    }

    /// Subscribes, with a queue of up to `capacity` patches.
    pub fn subscribe_with_capacity(&self, capacity: usize) -> Subscription {
        let id = self.state().subscribe(capacity);
        Subscription::new(Arc::clone(&self.handle.0), id)
    }

    /// Closes the store: subscribers end once they have read what is queued.
    pub fn close(&self) {
        self.handle.0.change(State::close);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.handle.0.lock()
    }
}

/// A store that continues a stored conversation.
impl From<Conversation> for MsgStore {
    fn from(conversation: Conversation) -> Self {
        let shared = Arc::new(Shared::new(conversation));
        Self { handle: Arc::new(Handle(shared)) }
    }
}

/// Answers from an index, in logarithmic time. Of several calls with one id the latest is found.
impl CorrIdResolver for MsgStore {
    fn resolve_corr_id(&self, corr_id: &CorrId) -> Option<EntryIdx> {
        self.state().index_of(corr_id)
    }
}
