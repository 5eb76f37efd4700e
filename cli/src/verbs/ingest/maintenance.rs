//! [`MaintenanceThread`]: frees memory and checkpoints the write-ahead log, off the writing thread.

use std::{
    path::Path,
    sync::mpsc::{SyncSender, sync_channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use foldline::ledger::Commit;
use foldline_database::{
    Rows,
    sqlite::{Database, SqliteError},
};
use tracing::debug;

/// A thread with its own connection. It frees written commits, which other threads allocated, and moves
/// pages from the write-ahead log into the database file, which waits for the disk.
pub(super) struct MaintenanceThread {
    written: Option<SyncSender<Vec<Commit<Rows>>>>,
    thread: Option<JoinHandle<()>>,
}

impl MaintenanceThread {
    pub(super) fn start(path: &Path, wait: Duration) -> Result<Self, SqliteError> {
        let database = Database::open(path, wait)?;
        // Few are kept while it waits for the disk.
        let (written, received) = sync_channel(1);
        let thread = thread::spawn(move || {
            while let Ok(commits) = received.recv() {
                drop::<Vec<Commit<Rows>>>(commits);
                received.try_iter().for_each(drop);
                // Pages that it cannot move now, the writer moves later, and reports errors.
                if let Err(error) = database.checkpoint() {
                    debug!(?error, "no checkpoint");
                }
            }
        });
        Ok(Self { written: Some(written), thread: Some(thread) })
    }

    /// Frees commits that were written, and checkpoints.
    pub(super) fn clear_up(&self, commits: Vec<Commit<Rows>>) {
        // If the thread is busy or gone, they are freed here.
        let _ = self.written.as_ref().map(|written| written.try_send(commits));
    }
}

impl Drop for MaintenanceThread {
    fn drop(&mut self) {
        self.written = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
