//! The request for the page of what was used.

use std::sync::Arc;

use axum::{extract::State, http::Uri, response::Html};
use jiff::Zoned;

use super::{
    app::App,
    failed::Failed,
    figures::{Dimension, read},
    filter::{Filter, escaped},
    page,
    request::{FIGURES, Query, asking},
    sessions,
};

/// `by` is a parameter of this page; all others are the filter of the list.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Html<String>, Failed> {
    let (by, filter): (Vec<_>, Vec<_>) = asked.into_iter().partition(|(name, _)| name == "by");
    let by = by.last().map_or(Ok(Dimension::Day), |(_, name)| Dimension::named(name))?;
    let filter = filter.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value)));
    let filter = format!("/?{}", filter.collect::<Vec<_>>().join("&"));
    let filter =
        filter.parse::<Uri>().map_err(|wrong| Failed::not_understood(&wrong.to_string()))?;
    let Query(filter) = Query::<Filter>::of(&filter)?;
    let made = asking(&app, FIGURES, move |app, database| {
        let usage =
            read(app, database, &filter, by, &Zoned::now().with_time_zone(app.zone.clone()))?;
        let (agents, projects) = (database.agents()?, sessions::projects(database)?);
        Ok(page::usage(&usage, &filter, &agents, &projects, &app.zone))
    });
    Ok(Html(made.await?))
}
