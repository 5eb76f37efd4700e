//! Streams of server-sent events: what changes in a session, and that the list has changed.
//!
//! An event's id is `epoch:number`. A browser that was cut off says the last one that it has, and gets what came
//! after it; if that is not there any more, or the epoch is another, it gets a `snapshot`. So does a reader that
//! is too slow. After an `end` nothing comes any more, and nobody need ask again. What is sent is taken from the session's [`Feed`] when the connection has room for it, so that
//! slow readers cost nothing.

use std::{
    collections::VecDeque,
    convert::Infallible,
    str::FromStr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use axum::{
    body::Bytes,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use foldline::{conversation::Outcome, json};
use futures_util::stream::unfold;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    live::{Document, Feed, LiveSession, Viewer},
    page::Window,
    snapshot::{self, Snapshot},
    sse,
    status::Status,
};

/// About how many bytes are taken from a feed at once: what a reader holds while it is slow.
const MOST: usize = 64 << 10;

/// How long a connection is silent until it says that it is there.
const SILENT: Duration = Duration::from_secs(15);

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

    /// The whole, in a state that will do. `None` if it cannot be made.
    pub(super) async fn snapshot(
        self,
        live: &Arc<LiveSession>,
        will_do: impl Fn(u64) -> bool,
    ) -> Option<Arc<Snapshot>> {
        let snapshots = match self {
            Self::Page => &live.pages,
            Self::Patches => &live.conversations,
        };
        let live = Arc::clone(live);
        snapshots.get(will_do, move || self.make_snapshot(&live)).await
    }

    /// The document is free again while it becomes JSON, which takes a while.
    fn make_snapshot(self, live: &LiveSession) -> Snapshot {
        let document = live.document();
        let number = self.feed(&document).last();
        let json = match self {
            Self::Page => {
                let entries = Window::of(document.shown()).feed(None).concat();
                drop(document);
                json::to_string(&entries)
            }
            Self::Patches => {
                let conversation = document.conversation.clone();
                drop(document);
                json::to_string(&conversation)
            }
        };
        // Strings and entries always have a JSON form.
        Snapshot { number, json: json.unwrap_or_default() }
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
    taken: VecDeque<Bytes>,
    /// When anything was last sent.
    spoke: Instant,
    /// The number of events that the last facts were made of.
    facts: Option<u64>,
    facts_due: Instant,
    status: Option<Status>,
    has_said_end: bool,
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
        spoke: Instant::now(),
        facts: None,
        facts_due: Instant::now(),
        status: None,
        has_said_end: false,
        live,
    };
    sse::answer(unfold(reader, |mut reader| async {
        let bytes = reader.next().await?;
        reader.spoke = Instant::now();
        Some((bytes, reader))
    }))
}

/// What a reader does when it has taken what is there.
enum Then {
    Snapshot,
    WaitUntil(Instant),
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.taken.pop_front() {
                return Some(bytes);
            }
            let is_over = self.live.is_over();
            self.changed.borrow_and_update();
            match self.take(is_over) {
                Then::Snapshot => self.take_snapshot().await?,
                Then::WaitUntil(until) if self.taken.is_empty() => {
                    if is_over {
                        return self.last_word();
                    }
                    if self.spoke.elapsed() >= SILENT {
                        return Some(sse::ALIVE);
                    }
                    tokio::select! {
                        changed = self.changed.changed() => changed.ok()?,
                        () = sleep_until(until) => {}
                    }
                }
                Then::WaitUntil(_) => {}
            }
        }
    }

    /// That the session has ended, once, unless it is only to be read anew.
    fn last_word(&mut self) -> Option<Bytes> {
        let says = !self.has_said_end && self.live.is_over_for_good();
        self.has_said_end = true;
        says.then(|| sse::event("end", ""))
    }

    /// Takes what is there, and at the end everything.
    fn take(&mut self, is_over: bool) -> Then {
        let rarely = Then::WaitUntil(Instant::now() + RARELY);
        let mut document = self.live.document();
        // What is still being read for the first time comes at once, and not in pieces.
        if !document.is_current() {
            return rarely;
        }
        let feed = self.view.feed(&document);
        let Some((at, records)) = self.at.and_then(|at| Some((at, feed.after(at)?))) else {
            return Then::Snapshot;
        };
        let mut bytes = 0;
        for record in records {
            if bytes >= MOST {
                break;
            }
            bytes += record.len();
            self.taken.push_back(record.clone());
        }
        self.at = Some(at + self.taken.len() as u64);
        if self.view == View::Patches {
            return rarely;
        }
        let grew = self.live.grew().filter(|_| !is_over);
        let status = status(&document, grew);
        if self.status != Some(status) {
            self.status = Some(status);
            self.taken.push_back(sse::event("status", status.as_str()));
        }
        let events = document.events();
        if self.facts == Some(events) {
            return rarely;
        }
        if self.facts_due > Instant::now() && !is_over {
            return Then::WaitUntil(self.facts_due);
        }
        self.taken.push_back(sse::event("facts", &document.facts()));
        self.facts = Some(events);
        self.facts_due = Instant::now() + LEAST;
        rarely
    }

    /// Takes the whole, in a state from which it can be gone on.
    async fn take_snapshot(&mut self) -> Option<()> {
        let (live, view) = (&self.live, self.view);
        let can_go_on = |number| view.feed(&live.document()).after(number).is_some();
        let snapshot = view.snapshot(live, can_go_on).await?;
        self.at = Some(snapshot.number);
        self.facts = None;
        let head = sse::head("snapshot", &self.live.epoch, snapshot.number);
        self.taken.extend([head.into(), snapshot::bytes(snapshot), sse::END]);
        Some(())
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

/// That the database was updated, at most once a second, and at once to who begins to listen: what the page shows
/// was read before, and may be of another run of the server.
pub(super) fn updates(mut updates: watch::Receiver<u64>) -> Response {
    updates.mark_changed();
    let stream = unfold((updates, Instant::now()), |(mut updates, due)| async move {
        updates.changed().await.ok()?;
        sleep_until(due).await;
        let number = *updates.borrow_and_update();
        let event = Event::default().event("update").data(number.to_string());
        Some((Ok::<_, Infallible>(event), (updates, Instant::now() + LEAST)))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response()
}
