//! Requests for the list of sessions.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{Html, Response},
};

use super::{
    app::App,
    events,
    failed::Failed,
    filter::{Filter, Known},
    page,
    request::{Query, SEARCH, asking},
    sessions,
};

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Query(filter): Query<Filter>,
) -> Result<Html<String>, Failed> {
    let made = asking(&app, SEARCH, move |app, database| {
        let sessions = sessions::sessions(database, &filter, &app.zone, now())?;
        let known = Known { agents: database.agents()?, projects: sessions::projects(database)? };
        Ok(page::list(&sessions, &filter, &known, &app.zone))
    });
    Ok(Html(made.await?))
}

/// Only the table, for a page that is already open.
pub(super) async fn rows(
    State(app): State<Arc<App>>,
    Query(filter): Query<Filter>,
) -> Result<Html<String>, Failed> {
    let made = asking(&app, SEARCH, move |app, database| {
        let sessions = sessions::sessions(database, &filter, &app.zone, now())?;
        Ok(page::rows(&sessions, &filter, &app.zone).into_string())
    });
    Ok(Html(made.await?))
}

/// Notifications that the list may have changed.
pub(super) async fn events(State(app): State<Arc<App>>) -> Response {
    events::updates(app.updates())
}

/// In milliseconds since 1970.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
