//! The tools: a file each, and the list of them.

mod failures;
mod files_touched;
mod get_session;
mod likeness;
mod outline;
mod reason;
mod recent_sessions;
mod search_sessions;
mod session_head;
mod tool_arguments;
mod usage;

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};

use self::{
    failures::Failures, files_touched::FilesTouched, get_session::GetSession,
    recent_sessions::RecentSessions, search_sessions::SearchSessions,
    tool_arguments::ToolArguments, usage::UsageTotals,
};
use super::{
    arguments::{self, Object},
    call::Call,
};
use crate::error::Error;

/// A tool: its description for clients, and how it answers.
pub(super) struct Answering {
    pub(super) tool: Tool,
    check: fn(&Object, &Object) -> Result<(), Error>,
    answer: fn(&Call<'_>, &Object, &Object) -> Result<String, Error>,
}

/// The tools, the usual first one first.
pub(super) fn tools() -> Vec<Answering> {
    vec![
        Answering::of::<RecentSessions>(),
        Answering::of::<SearchSessions>(),
        Answering::of::<GetSession>(),
        Answering::of::<Failures>(),
        Answering::of::<FilesTouched>(),
        Answering::of::<UsageTotals>(),
    ]
}

impl Answering {
    fn of<Q: ToolArguments>() -> Self {
        // The other hints are for tools that change something.
        let annotations = ToolAnnotations::new().read_only(true);
        let schema = Arc::new(arguments::schema::<Q>());
        let tool = Tool::new(Q::NAME, Q::ABOUT, schema).with_title(Q::TITLE);
        let check = |schema: &Object, arguments: &Object| {
            let question: Q = arguments::read(Q::NAME, schema, arguments)?;
            question.bounds().budget().map(|_| ())
        };
        let answer = |call: &Call<'_>, schema: &Object, arguments: &Object| {
            let question: Q = arguments::read(Q::NAME, schema, arguments)?;
            call.bound(question.bounds())?;
            question.answer(call)
        };
        Self { tool: tool.with_annotations(annotations), check, answer }
    }

    /// Fails if the arguments are not those that the description states.
    pub(super) fn check(&self, arguments: &Object) -> Result<(), Error> {
        (self.check)(&self.tool.input_schema, arguments)
    }

    /// The answer to a call with these arguments.
    pub(super) fn answer(&self, call: &Call<'_>, arguments: &Object) -> Result<String, Error> {
        (self.answer)(call, &self.tool.input_schema, arguments)
    }
}
