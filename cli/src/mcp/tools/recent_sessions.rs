//! `recent_sessions`: the latest sessions.

use foldline_database::query::{SessionFilter, SessionOrder, StateFilter};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{session_head::session_head, tool_arguments::ToolArguments};
use crate::{
    error::Error,
    mcp::{
        arguments::{Bounds, Origin, Scope},
        call::Call,
        listing::{Results, after},
    },
};

/// The arguments of `recent_sessions`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct RecentSessions {
    /// Only those without success.
    failed: bool,
    #[serde(flatten)]
    scope: Scope,
    #[serde(flatten)]
    origin: Origin,
    /// Results to skip.
    offset: u32,
    #[serde(flatten)]
    bounds: Bounds,
}

impl ToolArguments for RecentSessions {
    const NAME: &'static str = "recent_sessions";
    const TITLE: &'static str = "Recent sessions";
    const ABOUT: &'static str = "Lists past sessions in this project, the latest first.";

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn answer(&self, call: &Call<'_>) -> Result<String, Error> {
        let filter = SessionFilter {
            state: self.failed.then_some(StateFilter::Failed),
            is_listed: true,
            ..after(call, self.offset, self.origin.of(call.filter(&self.scope)?))
        };
        let sessions = call.database.sessions(&filter, SessionOrder::Latest)?;
        if sessions.is_empty() {
            let what = format!("There is nothing{}", self.origin.stated());
            return Ok(call.nothing(&what, &self.scope, self.offset));
        }
        let results = Results { head: String::new(), rows: &sessions, offset: self.offset };
        results.answer(call, |session| {
            let name = call.name(session.number, session.session.as_deref())?;
            Ok(session_head(call, session, &name))
        })
    }
}
