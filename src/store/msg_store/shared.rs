//! What the handles to a store share: one state under one lock.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use super::update::{DocumentSnapshot, Update};
use crate::{
    conversation::{Conversation, CorrId, EntryIdx, NormalizedEntry},
    emitters::patch::{ConversationPatch, DoesNotFit},
};

#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    pub(super) fn new(conversation: Conversation) -> Self {
        Self { state: Mutex::new(State::new(conversation)), changed: Condvar::new() }
    }

    /// Every change is complete before anything in it can panic, so a poisoned lock has a sound state.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes all waiting threads and tasks.
    pub(super) fn change<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        let (changed, wakers) = {
            let mut state = self.lock();
            let changed = f(&mut state);
            (changed, state.take_wakers())
        };
        // Not under the lock: a waker may run any code.
        self.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
        changed
    }

    /// Waits until something changes, or for as long as `timeout` says. May wake early.
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

/// The document, its subscribers, and their queues. Changing the document, queueing the change and taking
/// a snapshot happen under one lock, so that there is no gap between them.
#[derive(Debug, Default)]
pub(super) struct State {
    conversation: Conversation,
    /// Where the tool calls are.
    calls: BTreeMap<CorrId, EntryIdx>,
    /// How many patches there were.
    seq: u64,
    queues: BTreeMap<u64, Queue>,
    next_id: u64,
    closed: bool,
}

/// The queue of one subscriber.
#[derive(Debug)]
struct Queue {
    patches: VecDeque<(u64, ConversationPatch)>,
    capacity: usize,
    /// The next update is a snapshot: the subscriber is new, or was too slow.
    needs_snapshot: bool,
    /// The task that waits for it.
    waker: Option<Waker>,
}

impl State {
    fn new(conversation: Conversation) -> Self {
        let mut state = Self::default();
        for (index, entry) in conversation.entries.iter().enumerate() {
            state.note(EntryIdx::new(index), entry);
        }
        state.conversation = conversation;
        state
    }

    pub(super) fn push(&mut self, patch: &ConversationPatch) -> Result<(), DoesNotFit> {
        patch.apply_to(&mut self.conversation)?;
        if let Some((index, entry)) = patch.entry() {
            self.note(index, entry);
        }
        self.seq += 1;
        for queue in self.queues.values_mut().filter(|queue| !queue.needs_snapshot) {
            if queue.patches.len() < queue.capacity {
                queue.patches.push_back((self.seq, patch.clone()));
            } else {
                queue.patches = VecDeque::new();
                queue.needs_snapshot = true;
            }
        }
        Ok(())
    }

    pub(super) fn snapshot(&self) -> DocumentSnapshot {
        DocumentSnapshot { seq: self.seq, conversation: self.conversation.clone() }
    }

    pub(super) fn len(&self) -> usize {
        self.conversation.entries.len()
    }

    pub(super) fn index_of(&self, corr_id: &CorrId) -> Option<EntryIdx> {
        self.calls.get(corr_id).copied()
    }

    pub(super) fn subscribe(&mut self, capacity: usize) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let patches = VecDeque::new();
        let queue = Queue { patches, capacity, needs_snapshot: true, waker: None };
        self.queues.insert(id, queue);
        id
    }

    pub(super) fn unsubscribe(&mut self, id: u64) {
        self.queues.remove(&id);
    }

    /// The next update for a subscriber, if there is one already; `None` at the end.
    pub(super) fn next_for(&mut self, id: u64) -> Poll<Option<Update>> {
        let Some(queue) = self.queues.get_mut(&id) else { return Poll::Ready(None) };
        if std::mem::take(&mut queue.needs_snapshot) {
            return Poll::Ready(Some(Update::Snapshot(self.snapshot())));
        }
        match queue.patches.pop_front() {
            Some((seq, patch)) => Poll::Ready(Some(Update::Patch { seq, patch })),
            None if self.closed => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// The same; if there is no update yet, registers the task to be woken.
    pub(super) fn poll_next(&mut self, id: u64, cx: &Context<'_>) -> Poll<Option<Update>> {
        let next = self.next_for(id);
        if let (Poll::Pending, Some(queue)) = (&next, self.queues.get_mut(&id)) {
            match &mut queue.waker {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
        }
        next
    }

    fn take_wakers(&mut self) -> Vec<Waker> {
        self.queues.values_mut().filter_map(|queue| queue.waker.take()).collect()
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    fn note(&mut self, index: EntryIdx, entry: &NormalizedEntry) {
        if let (Some(corr_id), Some(_)) = (entry.corr_id(), entry.tool()) {
            self.calls.insert(corr_id.clone(), index);
        }
    }
}
