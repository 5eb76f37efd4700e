//! [`Updates`]: updates the database on a separate thread.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher, recommended_watcher};
use tokio::sync::watch;
use tracing::debug;

use crate::{
    error::Error, homes::tilde, place::DatabasePlace, program::Program, say::say, verbs::ingest,
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
    /// Reads the logs once, and then whenever they change.
    pub(super) fn start(
        program: &Program,
        paths: Vec<PathBuf>,
        database: &DatabasePlace,
    ) -> Result<Self, Error> {
        if let DatabasePlace::File(path) = database
            && !path.exists()
        {
            say(&format!("reading the logs into {}, for the first time", tilde(path)));
        }
        let (done, _) = watch::channel(0);
        let (wake, woken) = sync_channel(1);
        let (watcher, interval) = watch_files(&paths, database, wake.clone());
        let stop = Arc::<AtomicBool>::default();
        let mut updating = Updating {
            program: program.clone(),
            paths,
            database: database.clone(),
            done: done.clone(),
            said: String::new(),
        };
        // An unreadable argument is wrong use, and is reported at once.
        updating.first()?;
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let _watcher = watcher;
            updating.run(&stopped, &woken, interval);
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
    paths: Vec<PathBuf>,
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

    fn run(&mut self, stop: &AtomicBool, woken: &Receiver<()>, interval: Duration) {
        while !stop.load(Ordering::Relaxed) {
            let begun = Instant::now();
            let _ = woken.recv_timeout(interval);
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
    fn update(&self) -> Result<bool, Error> {
        match &self.database {
            DatabasePlace::File(path) => ingest::update(&self.program, &self.paths, path),
            DatabasePlace::Server(_) => Ok(true),
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

/// Watches the logs; returns the interval of additional checks.
fn watch_files(
    paths: &[PathBuf],
    database: &DatabasePlace,
    wake: SyncSender<()>,
) -> (Option<RecommendedWatcher>, Duration) {
    let own = match database {
        DatabasePlace::File(path) => std::path::absolute(path).unwrap_or_default(),
        DatabasePlace::Server(_) => PathBuf::new(),
    };
    let watcher = recommended_watcher(move |event: notify::Result<Event>| {
        let is_news = event.is_ok_and(|event| {
            let is_own = |path: &PathBuf| {
                path.as_os_str().as_encoded_bytes().starts_with(own.as_os_str().as_encoded_bytes())
            };
            // Reads are not changes, and neither are writes to the database.
            !matches!(event.kind, EventKind::Access(_)) && !event.paths.iter().all(is_own)
        });
        if is_news {
            // One message is enough, however much has changed.
            let _ = wake.try_send(());
        }
    });
    let Ok(mut watcher) = watcher else { return (None, POLL) };
    let mut are_watched = true;
    for path in paths {
        if let Err(error) = watcher.watch(path, RecursiveMode::Recursive) {
            debug!(?error, ?path, "changes are not notified");
            are_watched = false;
        }
    }
    (Some(watcher), if are_watched { RARELY } else { POLL })
}
