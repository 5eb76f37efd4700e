//! What is answered to which request.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header},
    middleware,
    response::{Html, IntoResponse, Response},
    routing::get,
};
use foldline::{conversation::EntryIdx, emitters::html::SHEET};
use serde::{Deserialize, Serialize};

use super::{
    api,
    app::App,
    events::{self, View},
    explain,
    guard::{Guard, guard},
    list,
    page::{self, SCRIPT, Wanted},
    request::{At, Failed, blocking, live, place},
    sessions,
};

pub(super) fn routes(app: Arc<App>, rules: Guard) -> Router {
    let text = |kind: &'static str, text: &'static str| {
        get(move || async move { ([(header::CONTENT_TYPE, kind)], text) })
    };
    Router::new()
        .route("/", get(list::page))
        .route("/rows", get(list::rows))
        .route("/events", get(list::events))
        .route("/sessions/{name}", get(session))
        .route("/sessions/{name}/fragments", get(fragments))
        .route("/sessions/{name}/entries", get(entries))
        .route("/sessions/{name}/find", get(find))
        .route("/sessions/{name}/explain", get(explanation))
        .route("/api/sessions", get(api::sessions))
        .route("/api/sessions/{name}", get(api::session))
        .route("/api/sessions/{name}/patches", get(api::patches))
        .route("/metrics", get(api::metrics))
        .route("/foldline.css", text("text/css; charset=utf-8", SHEET))
        .route("/page.js", text("text/javascript; charset=utf-8", SCRIPT))
        .fallback(|| async { Failed(StatusCode::NOT_FOUND, "There is no such page.".to_owned()) })
        .layer(middleware::from_fn_with_state(rules, guard))
        .with_state(app)
}

async fn session(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Query(at): Query<At>,
) -> Result<Response, Failed> {
    let (number, live) = live(&app, name).await?;
    let made = blocking(&app, move |_| {
        let document = live.document();
        let place = format!("{}:{}", live.epoch, document.fragments.last());
        let around = at.at.and_then(|at| at.parse().ok());
        let status = events::status(&document, live.grew());
        let failure = document.failure.as_deref();
        Ok(page::session(number, &document.page, status, &place, around, failure))
    });
    Ok(Html(made.await?).into_response())
}

async fn fragments(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Query(at): Query<At>,
    headers: HeaderMap,
) -> Result<Response, Failed> {
    let (_, live) = live(&app, name).await?;
    Ok(events::session(live, View::Page, place(&headers, &at)))
}

/// Which entries of a gap are asked for: `at` is `first`, `last`, or the number of an entry.
#[derive(Debug, Deserialize)]
struct Gap {
    first: usize,
    last: usize,
    at: String,
}

/// Entries for a gap.
#[derive(Serialize)]
struct Entries {
    /// The epoch, and the number of the last change that is in them.
    place: String,
    html: String,
}

async fn entries(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Query(gap): Query<Gap>,
) -> Result<Response, Failed> {
    let wanted = match &*gap.at {
        "first" => Wanted::First,
        "last" => Wanted::Last,
        at => Wanted::Around(at.parse().unwrap_or(gap.first)),
    };
    let (_, live) = live(&app, name).await?;
    let made = blocking(&app, move |_| {
        let document = live.document();
        let place = format!("{}:{}", live.epoch, document.fragments.last());
        let html = page::stretch(&document.page, gap.first, gap.last, wanted);
        Ok(Entries { place, html })
    });
    Ok(Json(made.await?).into_response())
}

#[derive(Debug, Deserialize)]
struct Find {
    q: String,
}

/// The entries that have this text, in any case of letters.
async fn find(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Query(find): Query<Find>,
) -> Result<Json<Vec<EntryIdx>>, Failed> {
    let wanted = find.q.to_lowercase();
    let (_, live) = live(&app, name).await?;
    let entries = live.document().conversation.entries.clone();
    let found = blocking(&app, move |_| {
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let found = entries.iter().enumerate().filter(|(_, entry)| {
            let tool = entry.tool();
            has(&entry.content.decode())
                || tool.is_some_and(|tool| has(&tool.tool_name.decode()))
                || tool
                    .and_then(|tool| tool.action_type.result_text())
                    .is_some_and(|it| has(&it.decode()))
        });
        Ok(found.map(|(index, _)| EntryIdx::new(index)).collect())
    });
    Ok(Json(found.await?))
}

#[derive(Debug, Deserialize)]
struct Explain {
    entry: usize,
}

/// What an entry was made from.
async fn explanation(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Query(Explain { entry }): Query<Explain>,
) -> Result<Html<String>, Failed> {
    let found = blocking(&app, move |app| {
        let Some(source) = sessions::source(&app.database()?, &name)? else { return Ok(None) };
        let causes = explain::explain(&app.program, &source, EntryIdx::new(entry))?;
        Ok(Some(page::explain(source.session, entry, &causes)))
    });
    found.await?.map(Html).ok_or_else(Failed::not_found)
}
