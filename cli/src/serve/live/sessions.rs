//! [`LiveSessions`]: all sessions that are open.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use foldline_database::query::SessionLog;
use foldline_domain::SessionKey;

use super::{
    document::Begun,
    reading::{self, Open},
    session::LiveSession,
};
use crate::{error::Error, program::Program};

/// The largest number of sessions that are read at once.
const MOST: usize = 64;

/// The time that an answer waits for the reading of a log. A page then shows the part that was read, and adds
/// the rest later.
const PATIENCE: Duration = Duration::from_secs(5);

/// The sessions that are open in a browser or a program.
pub(in crate::serve) struct LiveSessions {
    program: Program,
    begun: Begun,
    /// By their number in the database.
    sessions: Mutex<BTreeMap<i64, Arc<LiveSession>>>,
    /// The sessions of a log that this program writes, by its path and their number in it.
    running: Mutex<BTreeMap<(PathBuf, SessionKey), Arc<LiveSession>>>,
    are_complete: Arc<AtomicBool>,
}

impl LiveSessions {
    pub(in crate::serve) fn new(program: &Program, begun: Begun) -> Self {
        let program = program.clone();
        let (sessions, running) = (Mutex::default(), Mutex::default());
        Self { program, begun, sessions, running, are_complete: Arc::default() }
    }

    /// The session with this number, which is read to its end now or soon. The database is opened if its log was
    /// deleted.
    pub(in crate::serve) async fn get(
        &self,
        source: SessionLog,
        open: Open,
    ) -> Result<Arc<LiveSession>, Error> {
        let live = {
            let mut sessions = self.sessions();
            sessions.retain(|_, live| !live.has_ended());
            match sessions.get(&source.number) {
                Some(live) => Arc::clone(live),
                None => {
                    make_room(&mut sessions)?;
                    let key = (PathBuf::from(&source.path), SessionKey(source.key));
                    let running = self.running().get(&key).cloned();
                    let live = running.map_or_else(|| self.new_session(), Ok)?;
                    sessions.insert(source.number, Arc::clone(&live));
                    if !live.document().is_current() {
                        reading::start(&self.program, Arc::clone(&live), source, open);
                    }
                    live
                }
            }
        };
        live.touch();
        let _ = tokio::time::timeout(PATIENCE, live.current()).await;
        Ok(live)
    }

    /// Begins a session of a log that this program writes: nothing else reads it.
    pub(super) fn begin(&self, path: &Path, key: SessionKey) -> Result<Arc<LiveSession>, Error> {
        let live = self.new_session()?;
        live.document().set_current();
        self.running().insert((path.to_owned(), key), Arc::clone(&live));
        Ok(live)
    }

    fn new_session(&self) -> Result<Arc<LiveSession>, Error> {
        LiveSession::new(Arc::clone(&self.are_complete), &self.begun).map(Arc::new)
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<(PathBuf, SessionKey), Arc<LiveSession>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks all logs as complete. Their sessions end with them, and readers end after the last event.
    pub(in crate::serve) fn complete(&self) {
        self.are_complete.store(true, Ordering::SeqCst);
        self.sessions().values().for_each(|live| live.check_over());
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<i64, Arc<LiveSession>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the session with the oldest request, unless it has a viewer.
fn make_room(sessions: &mut BTreeMap<i64, Arc<LiveSession>>) -> Result<(), Error> {
    while sessions.len() >= MOST {
        let unseen = sessions.iter().filter(|(_, live)| live.viewers() == 0);
        let Some((&number, live)) = unseen.min_by_key(|(_, live)| live.asked()) else {
            return Err(Error::WrongUse(format!("{MOST} sessions are open; close some pages")));
        };
        live.end();
        sessions.remove(&number);
    }
    Ok(())
}
