//! Streams of server-sent events: what changes in a session, and that the list has changed.
//!
//! An event's id is `epoch:number`. A browser that was cut off says the last one that it has, and gets what came
//! after it; if that is not there any more, or the epoch is another, it gets a `snapshot`. So does a reader that
//! is too slow. What is sent is taken from the session's [`Feed`] when the connection has room for it, so that
//! slow readers cost nothing.

use std::{
    collections::VecDeque,
    convert::Infallible,
    str::FromStr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use axum::response::{
    IntoResponse, Response,
    sse::{Event, KeepAlive, Sse},
};
use foldline::conversation::Outcome;
use futures_util::stream::unfold;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    live::{Document, Feed, LiveSession, Viewer},
    page::Window,
    status::Status,
};

/// The most events that are taken from a feed at once.
const MOST: usize = 256;

/// The least time between two events with the facts of a session, or of the list.
const LEAST: Duration = Duration::from_secs(1);

/// How often to look whether a session is still running.
const RARELY: Duration = Duration::from_secs(5);

/// A place in a stream: what a reader has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) epoch: String,
    pub(super) number: u64,
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (epoch, number) = text.split_once(':').ok_or(())?;
        Ok(Self { epoch: epoch.to_owned(), number: number.parse().map_err(drop)? })
    }
}

/// What is streamed of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// Fragments of the page, and the facts of the session.
    Page,
    /// JSON Patches of the conversation.
    Patches,
}

impl View {
    fn feed(self, document: &Document) -> &Feed {
        match self {
            Self::Page => &document.fragments,
            Self::Patches => &document.changes,
        }
    }

    fn event(self) -> &'static str {
        match self {
            Self::Page => "fragment",
            Self::Patches => "patch",
        }
    }

    fn snapshot(self, document: &Document) -> String {
        match self {
            Self::Page => serde_json::to_string(&Window::of(document.shown()).feed(None).concat()),
            Self::Patches => serde_json::to_string(&document.conversation),
        }
        // Strings and entries always have a JSON form.
        .unwrap_or_default()
    }
}

/// One reader of a session.
struct Reader {
    live: Arc<LiveSession>,
    /// Keeps the session alive.
    _viewer: Viewer,
    view: View,
    changed: watch::Receiver<u64>,
    /// The number of the last event that was taken; `None` if a snapshot is needed.
    at: Option<u64>,
    taken: VecDeque<Event>,
    /// The number of events that the last facts were made of.
    facts: Option<u64>,
    facts_due: Instant,
    status: Option<Status>,
}

/// What changes in a session, from a place on that the reader has.
pub(super) fn session(live: Arc<LiveSession>, view: View, has: Option<Place>) -> Response {
    let at = has.filter(|place| place.epoch == live.epoch).map(|place| place.number);
    let reader = Reader {
        _viewer: live.view(),
        view,
        changed: live.changed(),
        at,
        taken: VecDeque::new(),
        facts: None,
        facts_due: Instant::now(),
        status: None,
        live,
    };
    let stream = unfold(reader, |mut reader| async {
        let event = reader.next().await?;
        Some((Ok::<_, Infallible>(event), reader))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response()
}

impl Reader {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.taken.pop_front() {
                return Some(event);
            }
            let is_over = self.live.is_over();
            self.changed.borrow_and_update();
            let waits = self.take(is_over);
            if self.taken.is_empty() {
                if is_over {
                    return None;
                }
                tokio::select! {
                    changed = self.changed.changed() => changed.ok()?,
                    () = sleep_until(waits) => {}
                }
            }
        }
    }

    /// Takes what is there, and at the end everything. Returns until when to wait if there is nothing.
    fn take(&mut self, is_over: bool) -> Instant {
        let rarely = Instant::now() + RARELY;
        let mut document = self.live.document();
        // What is still being read for the first time comes at once, and not in pieces.
        if !document.is_current() {
            return rarely;
        }
        let feed = self.view.feed(&document);
        match self.at.and_then(|at| Some((at, feed.after(at)?))) {
            Some((at, records)) => {
                for (number, record) in records.take(MOST) {
                    let id = format!("{}:{number}", self.live.epoch);
                    self.taken
                        .push_back(Event::default().event(self.view.event()).id(id).data(&*record));
                }
                self.at = Some(at + self.taken.len() as u64);
            }
            None => {
                let number = feed.last();
                let id = format!("{}:{number}", self.live.epoch);
                let snapshot = self.view.snapshot(&document);
                self.taken.push_back(Event::default().event("snapshot").id(id).data(snapshot));
                self.at = Some(number);
                self.facts = None;
            }
        }
        if self.view == View::Patches {
            return rarely;
        }
        let grew = self.live.grew().filter(|_| !is_over);
        let status = status(&document, grew);
        if self.status != Some(status) {
            self.status = Some(status);
            self.taken.push_back(Event::default().event("status").data(status.as_str()));
        }
        let events = document.events();
        if self.facts == Some(events) {
            return rarely;
        }
        if self.facts_due > Instant::now() && !is_over {
            return self.facts_due;
        }
        self.taken.push_back(Event::default().event("facts").data(&*document.facts()));
        self.facts = Some(events);
        self.facts_due = Instant::now() + LEAST;
        rarely
    }
}

/// How a session stands that is looked at.
pub(super) fn status(document: &Document, grew: Option<SystemTime>) -> Status {
    let millis = |at: SystemTime| {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    };
    let session = document.conversation.summary.session.as_ref();
    let outcome = session.and_then(|session| session.outcome).map(Outcome::as_str);
    Status::of(outcome, grew.map(millis), false, millis(SystemTime::now()))
}

/// That the database was updated, at most once a second.
pub(super) fn updates(updates: watch::Receiver<u64>) -> Response {
    let stream = unfold((updates, Instant::now()), |(mut updates, due)| async move {
        updates.changed().await.ok()?;
        sleep_until(due).await;
        let number = *updates.borrow_and_update();
        let event = Event::default().event("update").data(number.to_string());
        Some((Ok::<_, Infallible>(event), (updates, Instant::now() + LEAST)))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response()
}
