//! [`Rows`]: a session that is running, in its database.

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

use foldline::{
    ledger::{Commit, Identity, SourceFacts, SourceName},
    transduce::Gather,
};
use tracing::debug;

use super::consumers::RunSegments;
use crate::{
    error::Error,
    verbs::ingest::{Fan, RunLog},
};

/// The least time between two commits.
const LEAST: Duration = Duration::from_secs(1);

/// How much longer it is than the commit before took.
const SHARE: u32 = 10;

/// The most commits that wait for the database. What comes then is read from the log later.
const MOST: usize = 4;

/// Commits the rows of a session to the database while the agent works, on a thread of its own.
///
/// It never holds the agent up. What cannot be committed, since another program writes, is read from the log: in a
/// while, and in the end, when it is reported if it fails again.
pub(super) struct Rows {
    log: Arc<RunLog>,
    collected: Sender<Collected>,
    /// How many commits wait.
    waiting: Arc<AtomicUsize>,
    /// Whether the next commit is wanted before its segment is full.
    is_due: Arc<AtomicBool>,
    ended: Sender<Infallible>,
    thread: JoinHandle<Box<dyn FnMut() + Send>>,
}

/// What was collected of so many bytes of the log.
struct Collected {
    commit: Commit<<Fan as Gather>::Segment>,
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

    /// What collects the rows.
    pub(super) fn fan(&self) -> Fan {
        self.log.fan()
    }

    /// The log as a source of the database.
    pub(super) fn source(&self, format: &str) -> (SourceName, SourceFacts) {
        self.log.source(format)
    }

    /// Takes what was collected, if that is due.
    pub(super) fn collect(&self, segments: &mut RunSegments) {
        if segments.is_due() || self.is_due.load(Ordering::Acquire) {
            self.collect_all(segments);
        }
    }

    /// Takes what was collected.
    pub(super) fn collect_all(&self, segments: &mut RunSegments) {
        if !segments.has_news() {
            return;
        }
        let bytes = segments.pending_bytes();
        let Ok(commit) = segments.commit(Identity::default()) else { return };
        let mut rows = None;
        let commit = commit.map(|output| rows = output);
        // What is left out is missed by the next commit, after which the log is read.
        if let Some(rows) = rows
            && self.waiting.load(Ordering::Acquire) < MOST
        {
            self.waiting.fetch_add(1, Ordering::AcqRel);
            self.is_due.store(false, Ordering::Release);
            let commit = commit.map(|()| rows);
            let _ = self.collected.send(Collected { commit, bytes });
        }
    }

    /// The log is complete. Returns the exit code.
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

/// What the thread has.
struct Writing {
    log: Arc<RunLog>,
    updated: Box<dyn FnMut() + Send>,
    waiting: Arc<AtomicUsize>,
    is_due: Arc<AtomicBool>,
    /// A commit failed: the log is read from what is stored of it on.
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
                // The rest is read in the end if it is not committed now.
                continue;
            }
            self.is_due.store(true, Ordering::Release);
        }
    }
}
