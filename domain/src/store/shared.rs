//! The shared part of the handles to a store: one state under one lock.

use std::{
    collections::BTreeMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker},
    time::Duration,
};

use super::{
    recent::{Recent, Sequenced},
    subscription::{DocumentSnapshot, Update, UpdateId},
};
use crate::{
    conversation::{Conversation, CorrId, EntryIdx, NormalizedEntry},
    patch::{ConversationPatch, DoesNotFit},
};

#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    /// Every change is complete before anything in it can panic, so the state under a poisoned lock is consistent.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes all waiting threads and tasks.
    pub(super) fn change<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        let (changed, wakers) = {
            let mut state = self.lock();
            let changed = f(&mut state);
            (changed, std::mem::take(&mut state.wakers))
        };
        // Not under the lock: a waker may run any code.
        self.changed.notify_all();
        wakers.into_values().for_each(Waker::wake);
        changed
    }

    /// Waits until something changes, or until `timeout` expires. May wake up early.
    pub(super) fn wait<'s>(
        &self,
        state: MutexGuard<'s, State>,
        timeout: Option<Duration>,
    ) -> MutexGuard<'s, State> {
        match timeout {
            Some(timeout) => {
                let waited = self.changed.wait_timeout(state, timeout);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// The document and its latest changes. Changing the document, recording the change and taking a snapshot happen
/// under one lock, so that there is no gap between them.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) epoch: Arc<str>,
    conversation: Conversation,
    /// The indices of the open tool calls.
    open: BTreeMap<CorrId, EntryIdx>,
    recent: Recent<Arc<Sequenced<ConversationPatch>>>,
    /// Whether a reader has a snapshot. Before that no patch is kept, because no reader can continue with it.
    is_read: bool,
    /// The last snapshot, while a reader holds it.
    snapshot: Weak<DocumentSnapshot>,
    /// The waiting tasks, by subscription.
    wakers: BTreeMap<u64, Waker>,
    next_id: u64,
    closed: bool,
}

/// The progress of a subscription, and how far it may be behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// The number of the last update; `None` if a snapshot is needed.
    pub(super) seq: Option<u64>,
    /// The maximum number of patches that it may be behind before it receives a snapshot instead.
    pub(super) capacity: usize,
}

impl State {
    /// Replaces the document, for all readers.
    pub(super) fn restore(&mut self, conversation: Conversation) {
        (self.open, self.conversation) = (BTreeMap::new(), conversation.closed());
        for (index, entry) in self.conversation.entries.iter().enumerate() {
            note(&mut self.open, EntryIdx::new(index), entry);
        }
        self.recent.skip();
    }

    pub(super) fn push(&mut self, patch: &ConversationPatch) -> Result<(), DoesNotFit> {
        patch.apply_to(&mut self.conversation)?;
        if let Some((index, entry)) = patch.entry() {
            note(&mut self.open, index, entry);
        }
        if self.is_read {
            let sequenced = Sequenced::new(self.recent.last() + 1, patch.clone());
            self.recent.push(Arc::new(sequenced), patch.size());
        } else {
            self.recent.skip();
        }
        Ok(())
    }

    pub(super) fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    pub(super) fn index_of(&self, corr_id: &CorrId) -> Option<EntryIdx> {
        self.open.get(corr_id).copied()
    }

    /// A snapshot of the current document.
    pub(super) fn snapshot(&mut self) -> Arc<DocumentSnapshot> {
        self.snapshot_with(|state, seq| seq == state.recent.last())
    }

    /// The last snapshot if `will_do` accepts it, else a new one.
    fn snapshot_with(&mut self, will_do: impl Fn(&Self, u64) -> bool) -> Arc<DocumentSnapshot> {
        self.is_read = true;
        let last = self.snapshot.upgrade().filter(|snapshot| will_do(self, snapshot.seq));
        last.unwrap_or_else(|| {
            let snapshot = Sequenced::new(self.recent.last(), self.conversation.clone());
            let snapshot = Arc::new(snapshot);
            self.snapshot = Arc::downgrade(&snapshot);
            snapshot
        })
    }

    /// A new subscription of a reader that has this update. Only an update of this store can be continued.
    pub(super) fn subscribe(&mut self, has: Option<&UpdateId>, capacity: usize) -> (u64, Progress) {
        self.next_id += 1;
        let seq = has.filter(|id| id.epoch == self.epoch).map(|id| id.seq);
        (self.next_id, Progress { seq, capacity })
    }

    pub(super) fn unsubscribe(&mut self, id: u64) {
        self.wakers.remove(&id);
    }

    /// The patches after this number, if all of them are kept and they are not too many.
    fn after(
        &self,
        seq: u64,
        capacity: usize,
    ) -> Option<impl ExactSizeIterator<Item = &Arc<Sequenced<ConversationPatch>>>> {
        self.recent.after(seq).filter(|patches| patches.len() <= capacity)
    }

    /// The next update for a subscriber, if there is one; `None` at the end.
    pub(super) fn next_for(&mut self, progress: &mut Progress) -> Poll<Option<Update>> {
        let Progress { seq, capacity } = *progress;
        let next = seq.and_then(|seq| Some(self.after(seq, capacity)?.next().cloned()));
        let next = match next {
            Some(Some(patch)) => Update::Patch(patch),
            Some(None) if self.closed => return Poll::Ready(None),
            Some(None) => return Poll::Pending,
            None => Update::Snapshot(
                self.snapshot_with(|state, seq| state.after(seq, capacity).is_some()),
            ),
        };
        progress.seq = Some(next.seq());
        Poll::Ready(Some(next))
    }

    /// Like `next_for`; if there is no update yet, registers the task to be woken.
    pub(super) fn poll_next(
        &mut self,
        id: u64,
        progress: &mut Progress,
        cx: &Context<'_>,
    ) -> Poll<Option<Update>> {
        let next = self.next_for(progress);
        if next.is_pending() {
            self.wakers.insert(id, cx.waker().clone());
        }
        next
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }
}

/// Records that a call was opened, or has ended.
fn note(open: &mut BTreeMap<CorrId, EntryIdx>, index: EntryIdx, entry: &NormalizedEntry) {
    let (Some(corr_id), Some(tool)) = (entry.corr_id(), entry.tool()) else { return };
    if !tool.status.is_final() {
        open.insert(corr_id.clone(), index);
    } else if open.get(corr_id) == Some(&index) {
        open.remove(corr_id);
    }
}
