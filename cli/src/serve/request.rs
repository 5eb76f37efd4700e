//! What requests have in common: the session that is meant, where a reader is, and why there is no answer.

use std::sync::Arc;

use axum::{
    http::{HeaderMap, StatusCode},
    response::{Html, IntoResponse, Response},
};
use foldline::store::UpdateId;
use serde::Deserialize;
use tokio::{sync::oneshot, task::spawn_blocking};

use super::{app::App, live::LiveSession, page, sessions};
use crate::error::Error;

/// Why there is no answer, for a person.
pub(super) struct Failed(pub(super) StatusCode, pub(super) String);

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let Self(status, what) = self;
        let title = status.canonical_reason().unwrap_or("Failed");
        (status, Html(page::failure(title, &what))).into_response()
    }
}

impl Failed {
    pub(super) fn not_found() -> Self {
        Self(StatusCode::NOT_FOUND, "There is no such session.".to_owned())
    }

    pub(super) fn unreadable() -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, "It could not be read.".to_owned())
    }
}

/// The session that is meant, read as far as it goes; and its number.
pub(super) async fn live(app: &Arc<App>, name: String) -> Result<(i64, Arc<LiveSession>), Failed> {
    let found = blocking(app, move |app| {
        let database = app.database()?;
        Ok(sessions::source(&database, &name)?.map(|source| (source, database)))
    });
    let (source, database) = found.await?.ok_or_else(Failed::not_found)?;
    Ok((source.number, app.live.get(source, database).await?))
}

/// Does what waits for the disk on a thread for that.
pub(super) async fn blocking<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, Error> + Send + 'static,
) -> Result<T, Failed> {
    let app = Arc::clone(app);
    let (answer, answered) = oneshot::channel();
    // A box, so that `tokio`'s side of it is compiled once, and not for each kind of work.
    let work: Box<dyn FnOnce() + Send> = Box::new(move || drop(answer.send(work(&app))));
    spawn_blocking(work);
    Ok(answered.await.map_err(|_| Failed::unreadable())??)
}

/// What a browser has of a stream: its last event, or else what the page said.
pub(super) fn place(headers: &HeaderMap, at: &At) -> Option<UpdateId> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    last.or(at.at.as_deref())?.parse().ok()
}

/// A place in a session.
#[derive(Debug, Deserialize)]
pub(super) struct At {
    pub(super) at: Option<String>,
}
