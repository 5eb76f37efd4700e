//! [`Watch`]: waits until a file changes.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::Duration,
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher, recommended_watcher};
use tracing::debug;

/// Waits until the system notifies of a change of a file, but never longer than requested: some file systems do not
/// notify.
#[derive(Debug)]
pub(super) struct Watch {
    watcher: Option<RecommendedWatcher>,
    changed: Receiver<()>,
    watched: Option<PathBuf>,
}

impl Watch {
    pub(super) fn new() -> Self {
        // One message is enough to wake up, regardless of the number of changes.
        let (sender, changed) = sync_channel(1);
        let watcher = recommended_watcher(move |_| {
            let _ = sender.try_send(());
        });
        let watcher =
            watcher.inspect_err(|error| debug!(?error, "changes of the file are not notified"));
        Self { watcher: watcher.ok(), changed, watched: None }
    }

    /// Watches this file instead of the previous one.
    pub(super) fn watch(&mut self, path: &Path) {
        let Some(watcher) = &mut self.watcher else { return };
        if let Some(before) = self.watched.take() {
            // The file may be gone, and its watch with it.
            let _ = watcher.unwatch(&before);
        }
        match watcher.watch(path, RecursiveMode::NonRecursive) {
            Ok(()) => self.watched = Some(path.to_owned()),
            Err(error) => debug!(?error, "changes of the file are not notified"),
        }
    }

    /// Returns at a change, including a change since the last wait; at the latest after this time.
    pub(super) fn wait(&self, longest: Duration) {
        match &self.watched {
            Some(_) => {
                let _ = self.changed.recv_timeout(longest);
            }
            None => thread::sleep(longest),
        }
    }
}
