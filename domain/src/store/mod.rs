//! [`MsgStore`]: the live document and its subscribers.

mod recent;
mod shared;
mod subscription;

use std::{
    borrow::Borrow,
    sync::{Arc, MutexGuard},
};

use self::shared::{Shared, State};
pub use self::{
    recent::{Recent, Sequenced},
    subscription::{DocumentSnapshot, Subscription, TryNextError, Update, UpdateId},
};
use crate::{
    conversation::{Conversation, CorrId, EntryIdx},
    patch::{ConversationPatch, CorrIdResolver, DoesNotFit, EntryIndices, PatchEmitter},
};

/// A live conversation for subscribers that join at any time and read at any speed.
///
/// A new subscriber receives one snapshot and then every later patch; a slow subscriber receives a fresh snapshot
/// instead of the patches that it did not read in time. A subscriber that applies its updates in order therefore
/// always ends with the whole document. The store keeps the document, and only the last part of its history, see
/// [`Recent`]. It keeps no data per subscriber; subscribers share updates and their JSON.
///
/// Updates are numbered. With an [epoch](Self::with_epoch), a disconnected reader [continues](Self::subscribe_after)
/// with the update after the last one that it received.
///
/// `From` or [`restore`](Self::restore) turn a stored conversation into a store again, and the patches of its
/// [`emitter`](Self::emitter) continue it.
///
/// Clones are handles to the same store. It closes when the last handle is dropped, or by [`close`](Self::close);
/// subscribers then read the remaining updates, and end.
///
/// Subscribers wait on a thread or in a task, see [`Subscription`]. The store needs no runtime.
///
/// ```
/// use foldline_domain::{
///     EntryIdx, NormalizedEntry, NormalizedEntryType, patch::ConversationPatch,
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
///         Update::Snapshot(snapshot) => document = serde_json::from_str(snapshot.json())?,
///         Update::Patch(patch) => {
///             json_patch::patch(&mut document, &serde_json::from_str::<json_patch::Patch>(patch.json())?)?;
///         }
///     }
/// }
/// assert_eq!(document, serde_json::from_str::<serde_json::Value>(store.snapshot().json())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MsgStore {
    handle: Arc<Handle>,
}

/// The shared state of the handles. Subscribers hold only the inner `Arc`, which does not keep the store open.
#[derive(Debug, Default)]
struct Handle(Arc<Shared>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.change(State::close);
    }
}

impl MsgStore {
    /// A store with an empty conversation.
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

    /// Sets the epoch: a name that no other store has, not even a later one with the same document.
    #[must_use]
    pub fn with_epoch(self, epoch: impl Into<Arc<str>>) -> Self {
        self.state().epoch = epoch.into();
        self
    }

    /// The epoch of the store; empty unless [it was set](Self::with_epoch).
    pub fn epoch(&self) -> Arc<str> {
        Arc::clone(&self.state().epoch)
    }

    /// Replaces the conversation, for instance by a stored one. Every subscriber receives a snapshot.
    pub fn restore(&self, conversation: Conversation) {
        self.handle.0.change(|state| state.restore(conversation));
    }

    /// An emitter whose patches continue the conversation: it assigns the next index, adds to the facts and totals,
    /// and resolves calls that were opened earlier through the store.
    pub fn emitter(&self) -> PatchEmitter<EntryIndices, Self> {
        PatchEmitter::continuing(self.state().conversation()).with_resolver(self.clone())
    }

    /// A snapshot of the current conversation.
    pub fn snapshot(&self) -> Arc<DocumentSnapshot> {
        self.state().snapshot()
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.state().conversation().entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Subscribes.
    pub fn subscribe(&self) -> Subscription {
        self.subscribe_with_capacity(usize::MAX)
    }

    /// Subscribes with a limit: a subscriber that is more than `capacity` patches behind receives a snapshot instead
    /// of the patches.
    pub fn subscribe_with_capacity(&self, capacity: usize) -> Subscription {
        let subscription = self.state().subscribe(None, capacity);
        Subscription::new(Arc::clone(&self.handle.0), subscription)
    }

    /// Subscribes a reader that already has this update. It receives the later patches, or a snapshot if they are no
    /// longer kept or the update belongs to another store.
    pub fn subscribe_after(&self, has: &UpdateId) -> Subscription {
        let subscription = self.state().subscribe(Some(has), usize::MAX);
        Subscription::new(Arc::clone(&self.handle.0), subscription)
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
        let store = Self::default();
        store.restore(conversation);
        store
    }
}

/// Resolves open calls, in logarithmic time: a call that has ended is not updated. If several calls have one id, the
/// latest is found.
impl CorrIdResolver for MsgStore {
    fn resolve_corr_id(&self, corr_id: &CorrId) -> Option<EntryIdx> {
        self.state().index_of(corr_id)
    }
}
