//! [`Rows`]: a session that is running, in its database.

use std::{
    convert::Infallible,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tracing::debug;

use crate::{error::Error, verbs::ingest::RunLog};

/// The least time between two commits.
const LEAST: Duration = Duration::from_secs(1);

/// How much longer it is than the commit before took: to find where to go on, a long log is read.
const SHARE: u32 = 10;

/// Brings the database up to date with the log while the agent works, on a thread of its own.
///
/// It never holds the agent up, and what fails meanwhile is done in the end, when it is said if it fails again.
pub(super) struct Rows<F> {
    grown: SyncSender<&'static str>,
    ended: Sender<Infallible>,
    thread: JoinHandle<Writing<F>>,
}

impl<F: FnMut() + Send + 'static> Rows<F> {
    /// `updated` is called after each commit, and dropped after the last one.
    pub(super) fn start(log: RunLog, updated: F) -> Self {
        let (grown, is_grown) = sync_channel(1);
        let (ended, has_ended) = channel();
        let mut writing = Writing { log, updated };
        let thread = thread::spawn(move || {
            writing.run(&is_grown, &has_ended);
            writing
        });
        Self { grown, ended, thread }
    }

    /// The log has grown, which is of this format.
    pub(super) fn grew(&self, format: &'static str) {
        // One message is enough, however much has come.
        let _ = self.grown.try_send(format);
    }

    /// The log is complete. Returns the exit code.
    pub(super) fn finish(self, format: &str) -> Result<u8, Error> {
        let Self { grown, ended, thread } = self;
        drop((grown, ended));
        let Writing { log, mut updated } = match thread.join() {
            Ok(writing) => writing,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let code = log.finish(format)?;
        updated();
        Ok(code)
    }
}

/// What the thread has.
struct Writing<F> {
    log: RunLog,
    updated: F,
}

impl<F: FnMut()> Writing<F> {
    fn run(&mut self, grown: &Receiver<&'static str>, ended: &Receiver<Infallible>) {
        while let Ok(format) = grown.recv() {
            let begun = Instant::now();
            match self.log.update(format) {
                Ok(()) => (self.updated)(),
                Err(error) => debug!(%error, "the database is not up to date"),
            }
            let rest = LEAST.max(SHARE * begun.elapsed());
            if ended.recv_timeout(rest) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    }
}
