//! Common parts of requests: parameters, the requested session, the position of a reader, and work for an answer.

use std::{error::Error as _, sync::Arc, time::Duration};

use axum::{
    extract::{self, FromRequestParts},
    http::{HeaderMap, Uri, request::Parts},
};
use foldline_database::Store;
use foldline_domain::store::UpdateId;
use serde::{Deserialize, de::DeserializeOwned};
use tokio::{sync::oneshot, task::spawn_blocking};

use super::{
    app::App, deadline::Deadline, failed::Failed, live::LiveSession, sessions, tree::Tree,
};
use crate::error::Error;

/// The longest time for a search, and for the list of sessions.
pub(super) const SEARCH: Duration = Duration::from_secs(10);

/// The longest time for figures of the whole database.
pub(super) const FIGURES: Duration = Duration::from_secs(60);

/// The parameters of a request. Wrong ones are refused with the reason.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Failed;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failed> {
        Self::of(&parts.uri)
    }
}

impl<T: DeserializeOwned> Query<T> {
    /// The parameters in an address.
    pub(super) fn of(address: &Uri) -> Result<Self, Failed> {
        match extract::Query::try_from_uri(address) {
            Ok(extract::Query(asked)) => Ok(Self(asked)),
            Err(wrong) => {
                let why = wrong.source().map_or_else(|| wrong.to_string(), ToString::to_string);
                Err(Failed::not_understood(&why))
            }
        }
    }
}

/// The name of a session in the path of a request. What is not text names none.
pub(super) struct Path(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Path {
    type Rejection = Failed;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failed> {
        let name = extract::Path::from_request_parts(parts, state).await;
        name.map(|extract::Path(name)| Self(name)).map_err(|_| Failed::not_found())
    }
}

/// The requested session, read up to its current end; and its number.
pub(super) async fn live(app: &Arc<App>, name: String) -> Result<(i64, Arc<LiveSession>), Failed> {
    let found = blocking(app, move |app| sessions::source(&*app.database()?, &name));
    let source = found.await?.ok_or_else(Failed::not_found)?;
    let (number, later) = (source.number, Arc::clone(app));
    Ok((number, app.live.get(source, Box::new(move || later.database())).await?))
}

/// Runs work that waits for the disk on a blocking thread.
pub(super) async fn blocking<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, Error> + Send + 'static,
) -> Result<T, Failed> {
    let app = Arc::clone(app);
    let (answer, answered) = oneshot::channel();
    // The box lets `tokio`'s generic code be compiled once, not for each kind of work.
    let work: Box<dyn FnOnce() + Send> = Box::new(move || drop(answer.send(work(&app))));
    spawn_blocking(work);
    Ok(answered.await.map_err(|_| Failed::unreadable())??)
}

/// Runs work that may take long, in its turn. It has to stop when its time is over, and then fails.
pub(super) async fn patiently<T: Send + 'static>(
    app: &Arc<App>,
    longest: Duration,
    work: impl FnOnce(&App, &Deadline) -> Result<T, Error> + Send + 'static,
) -> Result<T, Failed> {
    let client = Arc::new(());
    let turn = Arc::clone(&app.turns).acquire_owned().await.map_err(|_| Failed::unreadable())?;
    let patience = Deadline::new(longest, &client);
    let ours = patience.clone();
    let done = blocking(app, move |app| {
        let done = work(app, &ours);
        // The next one begins when this work has ended, not when its client has gone.
        drop(turn);
        done
    });
    let done = done.await;
    if patience.is_over() { Err(Failed::too_slow()) } else { done }
}

/// Asks the database, for at most this time.
pub(super) async fn asking<T: Send + 'static>(
    app: &Arc<App>,
    longest: Duration,
    work: impl FnOnce(&App, &dyn Store) -> Result<T, Error> + Send + 'static,
) -> Result<T, Failed> {
    let asked = patiently(app, longest, move |app, patience| {
        let mut database = app.database()?;
        let unwanted = patience.clone();
        database.stop_when(patience.rest(), Box::new(move || unwanted.is_over()))?;
        work(app, &*database)
    });
    asked.await
}

/// The position of a browser in a stream: its last event, or else the position in the page.
pub(super) fn place(headers: &HeaderMap, at: &At) -> Option<UpdateId> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    last.or(at.at.as_deref())?.parse().ok()
}

/// A place in a session.
#[derive(Debug, Deserialize)]
pub(super) struct At {
    pub(super) at: Option<String>,
}

/// Reads what belongs to an open session, unless nothing has changed since it was read.
pub(super) async fn refresh(app: &Arc<App>, session: i64, live: &Arc<LiveSession>) {
    let update = *app.updates().borrow();
    if !live.is_tree_old(update) {
        return;
    }
    let later = Arc::clone(live);
    let read = blocking(app, move |app| {
        // Of a database in use, what is known stays.
        later.set_tree(update, Tree::read(&*app.database()?, session)?);
        Ok(())
    });
    let _ = read.await;
}
