//! The request for the page of what was used.

use std::sync::Arc;

use axum::{extract::State, response::Html};
use jiff::Zoned;

use super::{
    app::App,
    failed::Failed,
    figures::{Asked, read},
    page,
    request::{FIGURES, Query, asking},
};

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Query(asked): Query<Asked>,
) -> Result<Html<String>, Failed> {
    let made = asking(&app, FIGURES, move |app, database| {
        let usage = read(app, database, asked, &Zoned::now().with_time_zone(app.zone.clone()))?;
        Ok(page::usage(&usage, asked))
    });
    Ok(Html(made.await?))
}
