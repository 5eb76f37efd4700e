//! [`Updates`]: updates the database on a separate thread.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher, recommended_watcher};
use tokio::sync::watch;
use tracing::debug;

use super::mirror::ReceivedLogs;
use crate::{
    error::Error,
    homes::{existing, tilde},
    place::DatabasePlace,
    program::Program,
    say::say,
    verbs::ingest,
};

/// The shortest time between two checks of the logs.
const LEAST: Duration = Duration::from_millis(500);

/// The time between two checks if the system does not notify of changes.
const POLL: Duration = Duration::from_secs(2);

/// The same if it does, since notifications can be incomplete.
const RARELY: Duration = Duration::from_secs(30);

/// Updates the database from the logs.
pub(super) struct Updates {
    done: watch::Sender<u64>,
    stop: Arc<AtomicBool>,
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Updates {
    /// Reads the logs that were named, or else those in the homes of agents, also in homes that come later: once, and then
    /// whenever they change.
    pub(super) fn start(
        program: &Program,
        named: Vec<PathBuf>,
        database: &DatabasePlace,
    ) -> Result<Self, Error> {
        if let DatabasePlace::File(path) = database
            && !path.exists()
        {
            say(&format!("reading the logs into {}, for the first time", tilde(path)));
        }
        let (done, _) = watch::channel(0);
        let (wake, woken) = sync_channel(1);
        let stop = Arc::<AtomicBool>::default();
        let mut updating = Updating {
            program: program.clone(),
            named,
            watched: Watched::new(database, wake.clone()),
            database: database.clone(),
            done: done.clone(),
            said: String::new(),
        };
        // An unreadable argument is wrong use, and is reported at once.
        updating.first()?;
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            updating.run(&stopped, &woken);
        });
        Ok(Self { done, stop, wake, thread })
    }

    /// The number of updates so far, which changes with each.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.done.subscribe()
    }

    /// Ends after the current read.
    pub(super) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.wake.try_send(());
        let _ = self.thread.join();
    }
}

struct Updating {
    program: Program,
    /// The paths that were named.
    named: Vec<PathBuf>,
    watched: Watched,
    database: DatabasePlace,
    done: watch::Sender<u64>,
    /// The last message, which is not repeated.
    said: String,
}

impl Updating {
    fn first(&mut self) -> Result<(), Error> {
        match self.update() {
            Err(error) if error.is_in_use() && self.exists() => {
                self.say(error.to_string());
                Ok(())
            }
            Err(error) => Err(error),
            Ok(all) => {
                self.conclude(all);
                Ok(())
            }
        }
    }

    fn run(&mut self, stop: &AtomicBool, woken: &Receiver<()>) {
        while !stop.load(Ordering::Relaxed) {
            let begun = Instant::now();
            // A home that comes is not notified.
            while woken.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout)
                && begun.elapsed() < self.watched.interval()
                && self.watched.has(&self.paths())
                && !stop.load(Ordering::Relaxed)
            {}
            // Files that change often are read from time to time.
            while begun.elapsed() < LEAST && !stop.load(Ordering::Relaxed) {
                thread::sleep(LEAST.saturating_sub(begun.elapsed()).min(LEAST / 5));
            }
            let _ = woken.try_recv();
            if stop.load(Ordering::Relaxed) {
                return;
            }
            match self.update() {
                Ok(all) => self.conclude(all),
                Err(error) => self.say(error.to_string()),
            }
        }
    }

    /// Reads the logs. Other programs fill the database of a server, perhaps all the time.
    fn update(&mut self) -> Result<bool, Error> {
        let DatabasePlace::File(path) = &self.database else { return Ok(true) };
        let paths = self.paths();
        self.watched.add(&paths);
        ingest::update(&self.program, &paths, path)
    }

    /// The logs, or the folders of logs.
    fn paths(&self) -> Vec<PathBuf> {
        match (&self.database, &*self.named) {
            (DatabasePlace::File(_), []) => {
                existing(&self.program.registry).into_iter().map(|home| home.folder).collect()
            }
            (_, named) => named.to_vec(),
        }
    }

    fn exists(&self) -> bool {
        matches!(&self.database, DatabasePlace::File(path) if path.exists())
    }

    fn conclude(&mut self, all: bool) {
        match all {
            true => self.said.clear(),
            false => self.say("some logs could not be read; foldline ingest says which".to_owned()),
        }
        self.done.send_modify(|done| *done += 1);
    }

    fn say(&mut self, message: String) {
        if self.said != message {
            say(&message);
            self.said = message;
        }
    }
}

/// The paths whose changes the system notifies of.
struct Watched {
    watcher: Option<RecommendedWatcher>,
    paths: BTreeSet<PathBuf>,
    /// Whether the system notifies of changes in all of them.
    is_complete: bool,
}

impl Watched {
    fn new(database: &DatabasePlace, wake: SyncSender<()>) -> Self {
        let own = match database {
            DatabasePlace::File(path) => std::path::absolute(path).unwrap_or_default(),
            DatabasePlace::Server(_) => PathBuf::new(),
        };
        let received = ReceivedLogs::folder_of(&own);
        let watcher = recommended_watcher(move |event: notify::Result<Event>| {
            let is_news = event.is_ok_and(|event| {
                let is_own = |path: &PathBuf| {
                    path.as_os_str()
                        .as_encoded_bytes()
                        .starts_with(own.as_os_str().as_encoded_bytes())
                        && !path.starts_with(&received)
                };
                // Reads are not changes, and neither are writes to the database.
                !matches!(event.kind, EventKind::Access(_)) && !event.paths.iter().all(is_own)
            });
            if is_news {
                // One message is enough, however much has changed.
                let _ = wake.try_send(());
            }
        });
        let watcher = watcher.ok();
        Self { is_complete: watcher.is_some(), watcher, paths: BTreeSet::new() }
    }

    fn has(&self, paths: &[PathBuf]) -> bool {
        paths.iter().all(|path| self.paths.contains(path))
    }

    fn add(&mut self, paths: &[PathBuf]) {
        for path in paths {
            if let Some(watcher) = &mut self.watcher
                && self.paths.insert(path.clone())
                && let Err(error) = watcher.watch(path, RecursiveMode::Recursive)
            {
                debug!(?error, ?path, "changes are not notified");
                self.is_complete = false;
            }
        }
    }

    /// The time between two checks.
    fn interval(&self) -> Duration {
        if self.is_complete { RARELY } else { POLL }
    }
}
