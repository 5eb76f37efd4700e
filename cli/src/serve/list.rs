//! Requests for the list of sessions.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{Html, Response},
};
use foldline_database::Store;

use jiff::Zoned;

use maud::Markup;

use super::{
    app::App,
    counts::Counts,
    events,
    failed::Failed,
    figures,
    filter::{Filter, Known},
    glance, page,
    request::{FIGURES, Query, SEARCH, asking},
    sessions::{self, Sessions},
    status::now,
};
use crate::{error::Error, verbs::today::Today};

/// The number of sessions that the page of one of them lists.
const OTHERS: u32 = 15;

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Query(filter): Query<Filter>,
) -> Result<Html<String>, Failed> {
    let made = asking(&app, SEARCH, move |app, database| {
        let found = found(app, database, &filter)?;
        let counts = sessions::counts(database, &filter, &app.zone, now())?;
        let known =
            Known { agents: database.agents()?, projects: sessions::projects(database)?, counts };
        let now = going_on(app, database, counts)?;
        Ok(page::list(&found, &filter, &known, &now, &app.zone))
    });
    Ok(Html(made.await?))
}

/// Only the table, for a page that is already open.
pub(super) async fn rows(
    State(app): State<Arc<App>>,
    Query(filter): Query<Filter>,
) -> Result<Html<String>, Failed> {
    let made = asking(&app, SEARCH, move |app, database| {
        let found = found(app, database, &filter)?;
        Ok(page::rows(&found, &filter, &app.zone).into_string())
    });
    Ok(Html(made.await?))
}

/// What is going on, for a page that is already open: sums, and the counts of its choices.
pub(super) async fn now_page(
    State(app): State<Arc<App>>,
    Query(filter): Query<Filter>,
) -> Result<Html<String>, Failed> {
    let made = asking(&app, SEARCH, move |app, database| {
        let counts = sessions::counts(database, &filter, &app.zone, now())?;
        Ok(going_on(app, database, counts)?.into_string())
    });
    Ok(Html(made.await?))
}

fn going_on(app: &App, database: &dyn Store, counts: Counts) -> Result<Markup, Error> {
    let now = now();
    let today = Today::of(database, &app.prices, &app.zone, now)?;
    Ok(page::now(&today, counts, now, &app.zone))
}

/// The latest sessions, for the page of one of them.
pub(super) async fn others(State(app): State<Arc<App>>) -> Result<Html<String>, Failed> {
    let made = asking(&app, SEARCH, move |app, database| {
        let filter = Filter { limit: OTHERS, ..Filter::default() };
        let found = found(app, database, &filter)?;
        Ok(page::others(&found.part).into_string())
    });
    Ok(Html(made.await?))
}

/// The sessions with the lines below their titles.
fn found(app: &App, database: &dyn Store, filter: &Filter) -> Result<Sessions, Error> {
    let mut found = sessions::sessions(database, filter, &app.zone, now())?;
    glance::add(database, &mut found.part, filter.q.trim())?;
    Ok(found)
}

/// The charts above the list: the last days with use.
pub(super) async fn charts(State(app): State<Arc<App>>) -> Result<Html<String>, Failed> {
    let made = asking(&app, FIGURES, move |app, database| {
        let now = Zoned::now().with_time_zone(app.zone.clone());
        let (filter, usage) = figures::recent(app, database, &now)?;
        Ok(page::charts(&usage, &filter).into_string())
    });
    Ok(Html(made.await?))
}

/// Notifications that the list may have changed.
pub(super) async fn events(State(app): State<Arc<App>>) -> Response {
    events::updates(app.updates())
}
