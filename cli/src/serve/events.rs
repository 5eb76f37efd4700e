//! Streams of server-sent events: changes of a session, and notifications about changes of the list.
//!
//! An event's id is `epoch:number`. A reconnecting browser states its last event, and receives the events after
//! it; if they were dropped, or if the epoch differs, it receives a `snapshot`. So does a reader that is too
//! slow. `end` is the last event, and readers need not reconnect. Events are taken from the session when the
//! connection has room for them, so slow readers need no buffers.

use std::{
    convert::Infallible,
    future::Future,
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
use foldline_domain::{
    Outcome,
    store::{Subscription, Update, UpdateId},
};
use futures_util::{
    StreamExt,
    stream::{iter, unfold},
};
use serde::Serialize;
use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{Instant, sleep_until},
};

use super::{
    app::App,
    live::LiveSession,
    page::{self, Window},
    request::refresh,
    sse,
    status::Status,
    tree::{Part, Tree},
};

/// The approximate number of bytes taken from a page's changes at once, which is the buffer of a slow reader.
const MOST: usize = 64 << 10;

/// The largest number of later changes for which readers share a snapshot of a page.
const NEAR: usize = 256;

/// The shortest time between two events with the facts of a session, or of the list.
const LEAST: Duration = Duration::from_secs(1);

/// How often to check whether a session is still running.
const RARELY: Duration = Duration::from_secs(5);

/// A reader of a session. It begins after the existing log was read, which is sent at once, not in pieces.
trait Reader: Send + 'static {
    /// The next events; `None` when the session has ended, and the reader has received everything.
    fn next(&mut self) -> impl Future<Output = Option<Vec<Bytes>>> + Send;
}

/// The events of a reader, and finally `end`, unless the session is only to be read again.
fn stream(live: Arc<LiveSession>, reader: impl Reader) -> Response {
    // Keeps the session alive.
    let viewer = live.view();
    let events = unfold(Some((live, viewer, reader)), async |state| {
        let (live, viewer, mut reader) = state?;
        live.current().await;
        match reader.next().await {
            Some(events) => Some((events, Some((live, viewer, reader)))),
            None => live.is_over_for_good().then(|| (vec![sse::event("end", "")], None)),
        }
    });
    sse::answer(events.flat_map(iter))
}

/// JSON Patches of the conversation, after the reader's last one.
pub(super) fn patches(live: Arc<LiveSession>, has: Option<UpdateId>) -> Response {
    let reader = Patches { live: Arc::clone(&live), has, subscription: None };
    stream(live, reader)
}

struct Patches {
    live: Arc<LiveSession>,
    has: Option<UpdateId>,
    /// Begins after the session was read.
    subscription: Option<Subscription>,
}

impl Reader for Patches {
    async fn next(&mut self) -> Option<Vec<Bytes>> {
        let store = &self.live.store;
        let subscription = self.subscription.get_or_insert_with(|| match &self.has {
            Some(has) => store.subscribe_after(has),
            None => store.subscribe(),
        });
        let update = subscription.next_update().await?;
        let id = UpdateId { epoch: store.epoch(), seq: update.seq() };
        Some(match update {
            // A blocking thread serializes the document, which takes a while. Readers that share it wait for it.
            Update::Snapshot(snapshot) => {
                let _alone = self.live.rendering.lock().await;
                let json = spawn_blocking(|| sse::json(snapshot)).await.ok()?;
                sse::parts("snapshot", &id, json)
            }
            Update::Patch(patch) => sse::parts("patch", &id, sse::json(patch)),
        })
    }
}

/// Changes of the page, after the browser's last one, and the facts and the status of the session.
pub(super) fn fragments(
    app: Arc<App>,
    session: i64,
    live: Arc<LiveSession>,
    has: Option<UpdateId>,
) -> Response {
    let has = has.filter(|id| id.epoch == live.store.epoch());
    let reader = Fragments {
        live: Arc::clone(&live),
        changed: live.changed(),
        updates: app.updates(),
        app,
        session,
        tree: Arc::default(),
        tree_due: Some(Instant::now()),
        at: has.map(|id| id.seq),
        facts: None,
        facts_due: Instant::now(),
        status: None,
    };
    stream(live, reader)
}

struct Fragments {
    app: Arc<App>,
    session: i64,
    updates: watch::Receiver<u64>,
    /// The last sessions that belong to it, and when they are read again.
    tree: Arc<Tree>,
    tree_due: Option<Instant>,
    live: Arc<LiveSession>,
    changed: watch::Receiver<u64>,
    /// The number of the last change that was taken; `None` if a snapshot is needed.
    at: Option<u64>,
    /// The number of events in the last facts.
    facts: Option<u64>,
    facts_due: Instant,
    status: Option<Status>,
}

impl Reader for Fragments {
    async fn next(&mut self) -> Option<Vec<Bytes>> {
        loop {
            let is_over = self.live.is_over();
            self.changed.borrow_and_update();
            let Some((mut events, number, outcome)) = self.take() else {
                return self.snapshot().await;
            };
            let status =
                status(outcome, self.live.grew().filter(|_| !is_over), self.tree.is_waiting);
            if self.status.replace(status) != Some(status) {
                events.push(sse::event("status", status.as_str()));
            }
            if self.tree_due.is_some_and(|due| due <= Instant::now()) {
                events.extend(self.tree().await);
            }
            let number = number + self.live.tree().1;
            let mut until = Instant::now() + RARELY;
            until = self.tree_due.map_or(until, |due| due.min(until));
            if self.facts != Some(number) {
                if is_over || self.facts_due <= Instant::now() {
                    events.extend(self.facts(number).await?);
                } else {
                    until = self.facts_due;
                }
            }
            if !events.is_empty() {
                return Some(events);
            }
            if is_over {
                return None;
            }
            tokio::select! {
                changed = self.changed.changed() => changed.ok()?,
                Ok(()) = self.updates.changed() => {
                    self.tree_due.get_or_insert_with(|| Instant::now() + LEAST);
                }
                () = sleep_until(until) => {}
            }
        }
    }
}

impl Fragments {
    /// The sessions that belong to it, if they have changed.
    async fn tree(&mut self) -> Option<Bytes> {
        refresh(&self.app, self.session, &self.live).await;
        let (tree, _) = self.live.tree();
        self.tree_due = tree.is_running.then(|| Instant::now() + RARELY);
        if *tree == *self.tree {
            return None;
        }
        let related = Related { whole: tree.whole.as_deref(), parts: &tree.parts };
        let related = foldline_json::to_string(&related).unwrap_or_default();
        self.tree = tree;
        Some(sse::event("parts", &related))
    }

    /// Takes the next changes; `None` if they were dropped. The number of events for the following facts and
    /// the outcome are from the same moment.
    fn take(&mut self) -> Option<(Vec<Bytes>, u64, Option<Outcome>)> {
        let at = self.at?;
        let document = self.live.document();
        let mut room = MOST;
        let has_room = |event: &&Bytes| {
            let has_room = room > 0;
            room = room.saturating_sub(event.len());
            has_room
        };
        let events: Vec<_> = document.fragments_after(at)?.take_while(has_room).cloned().collect();
        self.at = Some(at + events.len() as u64);
        Some((events, document.events(), document.outcome()))
    }

    /// Takes a snapshot from which the changes can be continued.
    async fn snapshot(&mut self) -> Option<Vec<Bytes>> {
        let live = Arc::clone(&self.live);
        let is_near = |number| {
            self.live.document().fragments_after(number).is_some_and(|after| after.len() <= NEAR)
        };
        let render = move || {
            let shown = live.shown(|_| None);
            let entries = Window::of(&shown.snapshot).feed(None).concat();
            // Strings always have a JSON form.
            (shown.place.seq, foldline_json::to_string(&entries).unwrap_or_default())
        };
        let (seq, entries) = self.live.entries.get(is_near, render).await?;
        (self.at, self.facts) = (Some(seq), None);
        Some(sse::parts("snapshot", &UpdateId { epoch: self.live.store.epoch(), seq }, entries))
    }

    /// The facts of the session after at least this number of events.
    async fn facts(&mut self, number: u64) -> Option<Vec<Bytes>> {
        let live = Arc::clone(&self.live);
        let will_do = |made| made >= number;
        let (_, facts) = self.live.facts.get(will_do, move || facts(&live)).await?;
        // Facts that are newer than the changes are sent again after them.
        (self.facts, self.facts_due) = (Some(number), Instant::now() + LEAST);
        Some(sse::shared("facts", facts))
    }
}

/// The sessions that belong to one.
#[derive(Serialize)]
struct Related<'t> {
    whole: Option<&'t str>,
    parts: &'t [Part],
}

/// The facts of a session.
#[derive(Serialize)]
struct Facts<'f> {
    title: &'f str,
    about: &'f str,
    side: &'f str,
    /// The map of the session, and its length.
    map: &'f str,
    length: u64,
}

/// The facts of the session as JSON, and the number of events in them.
fn facts(live: &LiveSession) -> (u64, String) {
    let (_, changes) = live.tree();
    let shown = live.shown(|_| None);
    let (snapshot, timeline) = (&shown.snapshot, &shown.timeline);
    let (title, about, side) = (snapshot.title(), snapshot.about(), snapshot.side());
    let (map, length) = (page::map(timeline).0, timeline.length());
    let facts = Facts { title: &title, about: &about, side: &side, map, length };
    (timeline.last() as u64 + changes, foldline_json::to_string(&facts).unwrap_or_default())
}

/// The status of a session that is open in a page.
pub(super) fn status(
    outcome: Option<Outcome>,
    grew: Option<SystemTime>,
    is_waiting: bool,
) -> Status {
    let millis = |at: SystemTime| {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    };
    let outcome = outcome.map(Outcome::as_str);
    Status::of(outcome, grew.map(millis), is_waiting, millis(SystemTime::now()))
}

/// Updates of the database: one on subscribe, then at most one a second. The first tells a page to read again what it
/// shows, which may be of another run of the server.
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
