//! Answers for programs.
//!
//! - `GET /api/sessions`: an array of sessions, as `q`, `agent`, `status` (`running`, `waiting`, `failed`, `done`), `project`,
//!   `model`, `branch` and `time` (`today`, `yesterday`, `7d`, `30d`, `90d`), or `since` and `until` as on the command
//!   line, choose them, the latest first, or as `sort` (`tokens`, `cost`, `duration`, `failures`). It has at most `limit` of them (200, or up to 1000), after the first `offset`. The header
//!   `X-Total-Count` is the number of all chosen sessions, and `Link` (RFC 8288) leads to the `first`, the `prev` and
//!   the `next` part.
//! - `GET /api/sessions/ID`: the conversation, as `foldline replay --format conversation` gives it.
//! - `GET /api/sessions/ID/patches`: first a `snapshot`, which is that document, then each `patch` (RFC 6902) of
//!   it, as server-sent events. Their ids are `epoch:number`. With `Last-Event-ID` it goes on from there.
//!   An `end` says that the server ends, with the agent that it shows (`foldline run --serve`).
//! - `GET /api/schema.json` and `GET /api/types.d.ts`: the types of all this, as JSON Schema and for TypeScript.
//! - A refused request is answered with `{"error": ".."}`: 400 if its parameters are wrong, 404 if there is no such
//!   session, 503 if the answer took too long.
//! - `GET /metrics`: what the database holds, in the text format of Prometheus.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderName, header},
    response::{IntoResponse, Response},
};

use super::{
    app::App,
    events,
    failed::Failed,
    filter::Filter,
    request::{At, FIGURES, Path, Query, SEARCH, asking, blocking, live, place},
    sessions, sse,
    status::now,
};
use crate::verbs::ingest;

pub(super) async fn sessions(
    State(app): State<Arc<App>>,
    Query(filter): Query<Filter>,
) -> Result<Response, Failed> {
    let asked = filter.clone();
    let found = asking(&app, SEARCH, move |app, database| {
        sessions::sessions(database, &asked, &app.zone, now())
    });
    let found = found.await?;
    let links = [
        ("first", Some(0)),
        ("prev", (filter.offset > 0).then(|| filter.offset.saturating_sub(filter.limit))),
        ("next", found.next),
    ];
    let link = |(relation, offset): (&str, Option<u32>)| {
        let to = filter.from(offset?).address("/api/sessions");
        Some(format!("<{to}>; rel=\"{relation}\""))
    };
    let links: Vec<_> = links.into_iter().filter_map(link).collect();
    let headers = [
        (HeaderName::from_static("x-total-count"), found.total.to_string()),
        (header::LINK, links.join(", ")),
    ];
    Ok((headers, Json(found.part)).into_response())
}

pub(super) async fn session(
    State(app): State<Arc<App>>,
    Path(name): Path,
) -> Result<Response, Failed> {
    let (_, live) = live(&app, name).await?;
    // A part of it would be a wrong answer.
    live.current().await;
    let json = blocking(&app, move |_| Ok(sse::json(live.store.snapshot())));
    Ok(([(header::CONTENT_TYPE, "application/json")], json.await?).into_response())
}

pub(super) async fn patches(
    State(app): State<Arc<App>>,
    Path(name): Path,
    Query(at): Query<At>,
    headers: HeaderMap,
) -> Result<Response, Failed> {
    let (_, live) = live(&app, name).await?;
    Ok(events::patches(live, place(&headers, &at)))
}

pub(super) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Failed> {
    let made = asking(&app, FIGURES, |app, database| ingest::metrics(database, &app.prices));
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], made.await?).into_response())
}
