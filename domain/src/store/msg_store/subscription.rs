//! [`Subscription`]: one reader of a store.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use super::{
    shared::{Progress, Shared},
    update::Update,
};

/// The reason why there is no update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TryNextError {
    /// There is no update yet.
    #[error("there is no update yet")]
    Empty,
    /// There will be no more updates: the store is closed, and everything was read.
    #[error("the store is closed, and all updates were read")]
    Closed,
}

/// One reader of a store: receives a snapshot first, then patches, and a snapshot again if it was too slow.
///
/// A thread waits with [`Iterator::next`] or [`next_within`](Self::next_within), a task with
/// [`next_update`](Self::next_update) or [`poll_next`](Self::poll_next), on any runtime; [`try_next`](Self::try_next)
/// does not wait. All of them end when the store is closed and everything was read.
///
/// ```
/// use foldline_domain::store::{MsgStore, TryNextError, Update};
///
/// let store = MsgStore::new();
/// let mut subscription = store.subscribe();
/// assert!(matches!(subscription.try_next(), Ok(Update::Snapshot(_))));
/// assert_eq!(subscription.try_next(), Err(TryNextError::Empty));
/// store.close();
/// assert_eq!(subscription.try_next(), Err(TryNextError::Closed));
/// assert_eq!(subscription.next(), None);
/// ```
#[derive(Debug)]
pub struct Subscription {
    shared: Arc<Shared>,
    id: u64,
    progress: Progress,
}

impl Subscription {
    pub(super) fn new(shared: Arc<Shared>, (id, progress): (u64, Progress)) -> Self {
        Self { shared, id, progress }
    }

    /// The next update, if it is already available.
    ///
    /// # Errors
    /// There is none: [`Empty`](TryNextError::Empty) if more may come, else [`Closed`](TryNextError::Closed).
    pub fn try_next(&mut self) -> Result<Update, TryNextError> {
        match self.shared.lock().next_for(&mut self.progress) {
            Poll::Ready(next) => next.ok_or(TryNextError::Closed),
            Poll::Pending => Err(TryNextError::Empty),
        }
    }

    /// The next update, if it arrives within `timeout`. Blocks the thread until then.
    ///
    /// # Errors
    /// As for [`try_next`](Self::try_next).
    pub fn next_within(&mut self, timeout: Duration) -> Result<Update, TryNextError> {
        // A timeout that overflows the clock means no limit.
        let deadline = Instant::now().checked_add(timeout);
        self.wait(|| deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())))
    }

    /// Polls for the next update, like `Stream::poll_next`: the task that polled last is woken when there is one.
    /// `Ready(None)` is the end.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Update>> {
        self.shared.lock().poll_next(self.id, &mut self.progress, cx)
    }

    /// Waits for the next update; `None` is the end. Cancel-safe: no update is lost if the future is dropped.
    pub async fn next_update(&mut self) -> Option<Update> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn wait(&mut self, left: impl Fn() -> Option<Duration>) -> Result<Update, TryNextError> {
        let mut state = self.shared.lock();
        loop {
            if let Poll::Ready(next) = state.next_for(&mut self.progress) {
                return next.ok_or(TryNextError::Closed);
            }
            let left = left();
            if left.is_some_and(|left| left.is_zero()) {
                return Err(TryNextError::Empty);
            }
            state = self.shared.wait(state, left);
        }
    }
}

/// Blocks the thread until the next update; `None` is the end.
impl Iterator for Subscription {
    type Item = Update;

    fn next(&mut self) -> Option<Update> {
        self.wait(|| None).ok()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared.lock().unsubscribe(self.id);
    }
}
