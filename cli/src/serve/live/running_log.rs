//! [`RunningLog`]: the sessions of a log that this program writes. Their documents are built directly from the
//! events.

use std::{collections::BTreeMap, convert::Infallible, path::PathBuf, sync::Arc, time::SystemTime};

use foldline::transduce::{Batch, Emitter};
use foldline_domain::{DomainEvent, Located, SessionKey};

use super::{
    session::{LiveSession, Viewer},
    sessions::LiveSessions,
};

/// The largest number of kept sessions of a log; pages of other sessions are built from the log.
const MOST: usize = 16;

/// The sessions of a log that this program writes.
pub(crate) struct RunningLog {
    live: Arc<LiveSessions>,
    /// The path of the log as stored in the database.
    path: PathBuf,
    /// The sessions, which are kept with or without readers.
    sessions: BTreeMap<SessionKey, (Arc<LiveSession>, Viewer)>,
}

impl RunningLog {
    pub(in crate::serve) fn new(live: Arc<LiveSessions>, path: PathBuf) -> Self {
        Self { live, path, sessions: BTreeMap::new() }
    }

    /// Publishes the events so far.
    pub(crate) fn flush(&self) {
        for (live, _) in self.sessions.values() {
            live.set_grew(Some(SystemTime::now()));
            live.notify();
        }
    }

    fn begin(&mut self, key: SessionKey) {
        // Without random numbers, pages are built from the log.
        if self.sessions.len() < MOST
            && !self.sessions.contains_key(&key)
            && let Ok(live) = self.live.begin(&self.path, key)
        {
            let viewer = live.view();
            self.sessions.insert(key, (live, viewer));
        }
    }
}

impl Emitter<Located<DomainEvent>, Infallible> for RunningLog {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        self.begin(event.session);
        if let Some((live, _)) = self.sessions.get(&event.session) {
            live.document().apply(&event.item);
        }
        Batch::EMPTY
    }

    fn finish(&mut self) -> Batch<Infallible> {
        for (live, _) in self.sessions.values() {
            live.document().end();
            live.set_read();
        }
        Batch::EMPTY
    }
}
