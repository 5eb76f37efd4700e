//! [`Reader`]: reads the database on other threads, so that no key waits for it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, TryRecvError, channel},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use foldline_database::{
    Store,
    query::{SessionFilter, SessionName, SessionOrder, SessionRow},
};
use foldline_domain::pricing::Prices;
use jiff::tz::TimeZone;

use super::state::{Preview, Row};
use crate::{
    error::Error,
    place::DatabasePlace,
    program::Program,
    verbs::{export, ingest},
};

/// The time that a query waits for writers of the database.
const WAIT: Duration = Duration::from_secs(10);

/// The least time between two looks at the logs and the database.
const PAUSE: Duration = Duration::from_secs(2);

/// The time for logs is at most this part of all time.
const SHARE: u32 = 10;

/// What is read.
#[derive(Clone)]
pub(super) struct Reader {
    pub(super) place: DatabasePlace,
    pub(super) filter: SessionFilter,
    pub(super) prices: Arc<Prices>,
    pub(super) zone: TimeZone,
}

/// A request.
pub(super) enum Job {
    Preview(i64),
    Export(Box<SessionRow>),
}

/// What was read.
pub(super) enum News {
    Rows(Vec<Row>),
    Preview(i64, Preview),
    Message(String),
}

impl Reader {
    /// Opens the database.
    pub(super) fn open(&self) -> Result<Box<dyn Store>, Error> {
        let database = self.place.open(WAIT)?;
        database.estimate_with(Arc::clone(&self.prices))?;
        Ok(database)
    }

    /// The sessions, the latest first.
    pub(super) fn rows(
        &self,
        database: &dyn Store,
        limit: Option<usize>,
    ) -> Result<Vec<Row>, Error> {
        let filter = SessionFilter { limit, ..self.filter.clone() };
        Ok(Row::of(database.sessions(&filter, SessionOrder::Latest)?, &self.zone))
    }

    /// Starts the threads, which end when the receiver and the sender are dropped. With `updates`, new logs are read
    /// into the database.
    pub(super) fn start(&self, program: &Program, updates: bool) -> (Sender<Job>, Receiver<News>) {
        let ((jobs, asked), (news, received)) = (channel(), channel());
        let (reader, program, to) = (self.clone(), program.clone(), news.clone());
        thread::spawn(move || reader.watch(&program, updates, &to));
        let reader = self.clone();
        thread::spawn(move || reader.work(&asked, &news));
        (jobs, received)
    }

    /// Reads all sessions, and again whenever the database has changed.
    fn watch(&self, program: &Program, updates: bool, news: &Sender<News>) {
        let mut seen = None;
        let mut is_first = true;
        loop {
            let state = state(&self.place);
            if is_first || state.is_none() || state != seen {
                let read = self.open().and_then(|database| self.rows(&*database, None));
                let read = read.map_or_else(|error| News::Message(error.to_string()), News::Rows);
                if news.send(read).is_err() {
                    return;
                }
                seen = state;
            }
            let begun = Instant::now();
            if let DatabasePlace::File(path) = &self.place
                && updates
                && let Err(error) = ingest::refresh(program, path)
                && news.send(News::Message(error.to_string())).is_err()
            {
                return;
            }
            if !is_first || !updates {
                thread::sleep(PAUSE.max(begun.elapsed() * SHARE));
            }
            is_first = false;
        }
    }

    /// Does what is asked. Of several previews that wait, only the last one is still wanted.
    fn work(&self, asked: &Receiver<Job>, news: &Sender<News>) {
        let mut next = None;
        while let Some(job) = next.take().or_else(|| asked.recv().ok()) {
            if let Job::Preview(_) = job {
                next = match asked.try_recv() {
                    Ok(job) => Some(job),
                    Err(TryRecvError::Empty) => None,
                    Err(TryRecvError::Disconnected) => return,
                };
                if let Some(Job::Preview(_)) = next {
                    continue;
                }
            }
            let done = match job {
                Job::Preview(number) => self.preview(number),
                Job::Export(session) => self.export(&session),
            };
            let done = done.unwrap_or_else(|error| News::Message(error.to_string()));
            if news.send(done).is_err() {
                return;
            }
        }
    }

    fn preview(&self, number: i64) -> Result<News, Error> {
        let database = self.open()?;
        let name = Some(SessionName::from(number));
        let prompts = database.prompts(&SessionFilter { name, ..SessionFilter::default() })?;
        let prompt = prompts.into_iter().next_back().map(|prompt| prompt.text);
        Ok(News::Preview(number, Preview { prompt, answer: database.last_answer(number)? }))
    }

    fn export(&self, session: &SessionRow) -> Result<News, Error> {
        let path = export::page(&*self.open()?, session, &self.prices, &self.zone)?;
        let folder = std::env::current_dir().unwrap_or_default();
        Ok(News::Message(format!("exported: {}", folder.join(path).display())))
    }
}

/// The size and the time of the files of a database; `None` if it is not in files.
fn state(place: &DatabasePlace) -> Option<Vec<Option<(u64, SystemTime)>>> {
    let DatabasePlace::File(path) = place else { return None };
    let mut log = path.clone().into_os_string();
    log.push("-wal");
    let state = |path: &Path| {
        let found = fs::metadata(path).ok()?;
        Some((found.len(), found.modified().ok()?))
    };
    Some(vec![state(path), state(&PathBuf::from(log))])
}
