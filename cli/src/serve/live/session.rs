//! [`LiveSession`]: a session that is open in a browser or a program.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use foldline_domain::store::MsgStore;
use tokio::sync::watch;

use super::{
    document::{Begun, Document, Shown},
    timeline::Timeline,
};
use crate::{
    error::Error,
    random,
    serve::{rendered::Rendered, tree::Tree},
};

/// The time that a session is kept without a viewer or a request.
const LINGER: Duration = Duration::from_secs(60);

/// A session that is open in a browser or a program.
pub(in crate::serve) struct LiveSession {
    /// The conversation, whose patches are sent to programs. Its epoch names this reading of the log.
    pub(in crate::serve) store: MsgStore,
    /// Held while the conversation becomes JSON.
    pub(in crate::serve) rendering: tokio::sync::Mutex<()>,
    document: Mutex<Document>,
    /// The entries of the page.
    pub(in crate::serve) entries: Rendered,
    /// The facts of the page.
    pub(in crate::serve) facts: Rendered,
    /// The sessions that belong to it, how often they changed, and the update of the database that they are of.
    tree: Mutex<(Arc<Tree>, u64, Option<u64>)>,
    changed: watch::Sender<u64>,
    pub(super) stop: Arc<AtomicBool>,
    /// Whether the log is complete: no program writes it.
    is_complete: Arc<AtomicBool>,
    /// Whether the log was read to its end, and is not read any more.
    is_read: AtomicBool,
    viewers: AtomicUsize,
    /// The time of the last request.
    asked: Mutex<Instant>,
    /// The time of the last growth of the log.
    grew: Mutex<Option<SystemTime>>,
}

/// Keeps a session alive.
pub(in crate::serve) struct Viewer(Arc<LiveSession>);

impl LiveSession {
    /// Creates a session that is not read yet. `is_complete` states, now or later, that the log is complete.
    pub(in crate::serve) fn new(
        is_complete: Arc<AtomicBool>,
        begun: &Begun,
    ) -> Result<Self, Error> {
        let store = MsgStore::new().with_epoch(random::digits::<8>()?);
        Ok(Self {
            document: Mutex::new(Document::new(store.clone(), begun)),
            store,
            rendering: tokio::sync::Mutex::default(),
            entries: Rendered::default(),
            facts: Rendered::default(),
            tree: Mutex::default(),
            changed: watch::Sender::new(0),
            stop: Arc::default(),
            is_complete,
            is_read: AtomicBool::new(false),
            viewers: AtomicUsize::new(0),
            asked: Mutex::new(Instant::now()),
            grew: Mutex::new(None),
        })
    }

    /// The current document. The lock is not held during rendering.
    pub(in crate::serve) fn document(&self) -> MutexGuard<'_, Document> {
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A snapshot of the session at the chosen moment, or the current one.
    pub(in crate::serve) fn shown(&self, moment: impl FnOnce(&Timeline) -> Option<usize>) -> Shown {
        let document = self.document();
        let mut shown = document.shown(moment(&document.timeline));
        drop(document);
        shown.add(&self.tree().0);
        shown
    }

    /// The sessions that belong to it, and how often they changed.
    pub(in crate::serve) fn tree(&self) -> (Arc<Tree>, u64) {
        let tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&tree.0), tree.1)
    }

    /// Whether its tree has to be read again after this update of the database.
    pub(in crate::serve) fn is_tree_old(&self, update: u64) -> bool {
        let tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        tree.0.is_running || tree.2 != Some(update)
    }

    /// Replaces its tree by that of an update of the database.
    pub(in crate::serve) fn set_tree(&self, update: u64, read: Tree) {
        let mut tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        tree.2 = Some(update);
        if *tree.0 != read {
            tree.0 = Arc::new(read);
            tree.1 += 1;
        }
    }

    /// Changes whenever the session does.
    pub(in crate::serve) fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Waits until the log was read to its end at the time of opening.
    pub(in crate::serve) async fn current(&self) {
        let mut changed = self.changed();
        while !self.document().is_current() && changed.changed().await.is_ok() {}
    }

    /// The time of the last growth of the log, if there is one.
    pub(in crate::serve) fn grew(&self) -> Option<SystemTime> {
        *self.grew.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the session until the viewer is dropped.
    pub(in crate::serve) fn view(self: &Arc<Self>) -> Viewer {
        self.viewers.fetch_add(1, Ordering::Relaxed);
        Viewer(Arc::clone(self))
    }

    /// Ends the session; the next request begins a new one.
    pub(in crate::serve) fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.store.close();
        self.notify();
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::SeqCst)
    }

    /// Marks the session as read to its end.
    pub(super) fn set_read(&self) {
        self.is_read.store(true, Ordering::SeqCst);
        self.check_over();
    }

    /// Releases the readers if no events follow.
    pub(super) fn check_over(&self) {
        if self.is_over_for_good() {
            self.store.close();
        }
        self.notify();
    }

    /// Whether no events follow, so that readers with all events may end.
    pub(in crate::serve) fn is_over(&self) -> bool {
        self.has_ended() || self.is_over_for_good()
    }

    /// Whether another reading would add no events: the log was complete, and was read to its end.
    pub(in crate::serve) fn is_over_for_good(&self) -> bool {
        self.is_complete() && self.is_read.load(Ordering::SeqCst)
    }

    pub(in crate::serve) fn set_grew(&self, at: Option<SystemTime>) {
        *self.grew.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    pub(in crate::serve) fn notify(&self) {
        self.changed.send_modify(|changes| *changes += 1);
    }

    pub(in crate::serve) fn touch(&self) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub(in crate::serve) fn asked(&self) -> Instant {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::serve) fn viewers(&self) -> usize {
        self.viewers.load(Ordering::Relaxed)
    }

    /// Whether the log is not read any more: there was no request for a while, or it has to be read again.
    pub(in crate::serve) fn has_ended(&self) -> bool {
        let is_forgotten = self.viewers() == 0 && self.asked().elapsed() > LINGER;
        if is_forgotten {
            self.end();
        }
        self.stop.load(Ordering::Relaxed)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.touch();
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}
