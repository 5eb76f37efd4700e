//! [`Tidier`]: clears up behind the writer, so that the writer has nothing to do but to write.

use std::{
    path::Path,
    sync::mpsc::{Sender, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use tracing::debug;

use foldline::{
    emitters::sqlite::{Database, Rows, SqliteError},
    ledger::Commit,
};

/// A thread with a connection of its own. It frees what was written, which other threads allocated,
/// and moves it from the write-ahead log into the database file, which means to wait for the disk.
pub(super) struct Tidier {
    written: Option<Sender<Vec<Commit<Rows>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Tidier {
    pub(super) fn start(path: &Path, wait: Duration) -> Result<Self, SqliteError> {
        let database = Database::open(path, wait)?;
        let (written, behind) = channel();
        let thread = thread::spawn(move || {
            while let Ok(commits) = behind.recv() {
                drop::<Vec<Commit<Rows>>>(commits);
                behind.try_iter().for_each(drop);
                // What it cannot move now, the writer moves later, and says what is wrong.
                if let Err(error) = database.checkpoint() {
                    debug!(?error, "no checkpoint");
                }
            }
        });
        Ok(Self { written: Some(written), thread: Some(thread) })
    }

    /// These were committed.
    pub(super) fn clear_up(&self, commits: Vec<Commit<Rows>>) {
        // Without the thread they are freed here.
        let _ = self.written.as_ref().map(|written| written.send(commits));
    }
}

impl Drop for Tidier {
    fn drop(&mut self) {
        self.written = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
