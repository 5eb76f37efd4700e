//! The request for the page of what was used.

use std::sync::Arc;

use axum::{
    extract::{Query, State},
    response::Html,
};
use jiff::Zoned;

use super::{
    app::App,
    figures::{Asked, read},
    page,
    request::{Failed, blocking},
};

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Query(asked): Query<Asked>,
) -> Result<Html<String>, Failed> {
    let made = blocking(&app, move |app| {
        let usage = read(app, asked, &Zoned::now().with_time_zone(app.zone.clone()))?;
        Ok(page::usage(&usage, asked))
    });
    Ok(Html(made.await?))
}
