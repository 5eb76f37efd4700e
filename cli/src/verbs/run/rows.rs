//! [`Rows`]: writes a running session to its database.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use foldline::ledger::{Commit, Identity, SourceFacts, SourceName};
use tracing::debug;

use super::consumers::RunSegments;
use crate::{
    error::Error,
    verbs::ingest::{self, Fan, RunLog},
};

/// The shortest time between two commits.
const LEAST: Duration = Duration::from_secs(1);

/// The factor of this time relative to the duration of the previous commit.
const SHARE: u32 = 10;

/// The largest number of commits that wait for the database. Later rows are then read from the log.
const MOST: usize = 4;

/// Commits the rows of a session to the database while the agent works, on a separate thread.
///
/// It never blocks the agent. Rows that cannot be committed because another program writes are read from the
/// log later, and at the end, when a further failure is reported.
pub(super) struct Rows {
    log: Arc<RunLog>,
    collected: Sender<Collected>,
    /// The number of waiting commits.
    waiting: Arc<AtomicUsize>,
    /// Whether the next commit is due before its segment is full.
    is_due: Arc<AtomicBool>,
    ended: Sender<Infallible>,
    thread: JoinHandle<Box<dyn FnMut() + Send>>,
}

/// The rows of a number of bytes of the log.
struct Collected {
    commit: Commit<ingest::Collected>,
    bytes: u64,
}

impl Rows {
    /// `updated` is called after each commit, and dropped after the last one.
    pub(super) fn start(log: RunLog, updated: Box<dyn FnMut() + Send>) -> Self {
        let log = Arc::new(log);
        let (collected, receiver) = channel();
        let (ended, has_ended) = channel();
        let (waiting, is_due) = (Arc::default(), Arc::new(AtomicBool::new(true)));
        let mut writing = Writing {
            log: Arc::clone(&log),
            updated,
            waiting: Arc::clone(&waiting),
            is_due: Arc::clone(&is_due),
            is_behind: false,
        };
        let thread = thread::spawn(move || {
            writing.run(&receiver, &has_ended);
            writing.updated
        });
        Self { log, collected, waiting, is_due, ended, thread }
    }

    /// The emitters of the rows.
    pub(super) fn fan(&self) -> Fan {
        self.log.fan()
    }

    /// The log as a source of the database.
    pub(super) fn source(&self, format: &str) -> (SourceName, SourceFacts) {
        self.log.source(format)
    }

    /// Takes the collected rows, if they are due.
    pub(super) fn collect(&self, segments: &mut RunSegments) {
        if segments.is_due() || self.is_due.load(Ordering::Acquire) {
            self.collect_all(segments);
        }
    }

    /// Takes the collected rows.
    pub(super) fn collect_all(&self, segments: &mut RunSegments) {
        if !segments.has_news() {
            return;
        }
        let bytes = segments.pending_bytes();
        let Ok(commit) = segments.commit(Identity::default()) else { return };
        // The next commit detects the omitted rows, and then the log is read.
        if self.waiting.load(Ordering::Acquire) < MOST {
            self.waiting.fetch_add(1, Ordering::AcqRel);
            self.is_due.store(false, Ordering::Release);
            let _ = self.collected.send(Collected { commit, bytes });
        }
    }

    /// Handles the end of the log. Returns the exit code.
    pub(super) fn finish(self, format: &str) -> Result<u8, Error> {
        let Self { log, collected, ended, thread, .. } = self;
        drop((collected, ended));
        let mut updated = match thread.join() {
            Ok(updated) => updated,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let code = log.finish(format)?;
        updated();
        Ok(code)
    }
}

/// The state of the thread.
struct Writing {
    log: Arc<RunLog>,
    updated: Box<dyn FnMut() + Send>,
    waiting: Arc<AtomicUsize>,
    is_due: Arc<AtomicBool>,
    /// Whether a commit failed, so that the log is read from its stored position.
    is_behind: bool,
}

impl Writing {
    fn run(&mut self, collected: &Receiver<Collected>, ended: &Receiver<Infallible>) {
        while let Ok(Collected { commit, bytes }) = collected.recv() {
            let begun = Instant::now();
            let stored = match self.is_behind {
                true => self.log.update(&commit.checkpoint.facts.format),
                false => self.log.commit(commit, bytes),
            };
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            match stored {
                Ok(()) => (self.updated)(),
                Err(error) => {
                    self.is_behind = true;
                    debug!(%error, "the database is not up to date");
                }
            }
            let rest = LEAST.max(SHARE * begun.elapsed());
            if ended.recv_timeout(rest) == Err(RecvTimeoutError::Disconnected) {
                // The rest is read at the end if it is not committed now.
                continue;
            }
            self.is_due.store(true, Ordering::Release);
        }
    }
}
