//! [`Subscription`]: one reader of a store; [`Update`]: what it reads.

use std::{
    fmt,
    future::poll_fn,
    num::ParseIntError,
    str::FromStr,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use super::{
    recent::Sequenced,
    shared::{Progress, Shared},
};
use crate::{conversation::Conversation, patch::ConversationPatch};

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
