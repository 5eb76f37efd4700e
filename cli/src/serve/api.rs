//! Answers for programs.
//!
//! - `GET /api/sessions`: an array of sessions, as `q`, `agent`, `status`, `project`, `time` (`today`, `yesterday`,
//!   `7d`, `30d`) and `page` choose them, the latest first, or as `sort` (`tokens`, `cost`, `duration`, `failures`).
//! - `GET /api/sessions/ID`: the conversation, as `foldline replay --format conversation` gives it.
//! - `GET /api/sessions/ID/patches`: first a `snapshot`, which is that document, then each `patch` (RFC 6902) of
//!   it, as server-sent events. Their ids are `epoch:number`. With `Last-Event-ID` it goes on from there.
//!   An `end` says that the server ends, with the agent that it shows (`foldline run --serve`).
//! - `GET /api/schema.json` and `GET /api/types.d.ts`: the types of all this, as JSON Schema and for TypeScript.
//! - `GET /metrics`: what the database holds, in the text format of Prometheus.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};

use super::{
    app::App,
    events,
    filter::{Filter, PAGE},
    list::now,
    request::{At, Failed, blocking, live, place},
    sessions::{self, Session},
    sse,
};
use crate::verbs::ingest;

pub(super) async fn sessions(
    State(app): State<Arc<App>>,
    Query(filter): Query<Filter>,
) -> Result<Json<Vec<Session>>, Failed> {
    let found =
        blocking(&app, move |app| sessions::sessions(&*app.database()?, &filter, &app.zone, now()));
    let mut found = found.await?;
    found.truncate(PAGE);
    Ok(Json(found))
}

pub(super) async fn session(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, Failed> {
    let (_, live) = live(&app, name).await?;
    // A part of it would be a wrong answer.
    live.current().await;
    let json = blocking(&app, move |_| Ok(sse::json(live.store.snapshot())));
    Ok(([(header::CONTENT_TYPE, "application/json")], json.await?).into_response())
}

pub(super) async fn patches(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Query(at): Query<At>,
    headers: HeaderMap,
) -> Result<Response, Failed> {
    let (_, live) = live(&app, name).await?;
    Ok(events::patches(live, place(&headers, &at)))
}

pub(super) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Failed> {
    let made = blocking(&app, |app| ingest::metrics(&*app.database()?));
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], made.await?).into_response())
}
