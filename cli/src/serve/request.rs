//! Common parts of requests: the requested session, the position of a reader, and errors.

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

/// The reason for an error response, human-readable.
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

/// The requested session, read up to its current end; and its number.
pub(super) async fn live(app: &Arc<App>, name: String) -> Result<(i64, Arc<LiveSession>), Failed> {
    let found = blocking(app, move |app| {
        let database = app.database()?;
        Ok(sessions::source(&*database, &name)?.map(|source| (source, database)))
    });
    let (source, database) = found.await?.ok_or_else(Failed::not_found)?;
    Ok((source.number, app.live.get(source, database).await?))
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
