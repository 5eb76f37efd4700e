//! Questions of agents: `POST /mcp`, the Model Context Protocol over HTTP.
//!
//! A request names the project that it is about in the address (`/mcp?project=/code/shop`), or asks about all.

use std::sync::Arc;

use axum::routing::{MethodRouter, any_service};

use super::{app::App, request::SEARCH};
use crate::{answer::Opened, mcp};

pub(super) fn questions(app: &Arc<App>) -> MethodRouter<Arc<App>> {
    let asked = Arc::clone(app);
    let open = move |is_unwanted| {
        let mut database = asked.database()?;
        database.stop_when(SEARCH, is_unwanted)?;
        Ok(Opened::checked(database))
    };
    let defaults = (Arc::clone(&app.prices), app.zone.clone());
    any_service(mcp::service(&app.program, Box::new(open), defaults, Arc::clone(&app.turns)))
}
