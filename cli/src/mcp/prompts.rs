//! The prompt `last_time`: what was done here last time.

use foldline_database::query::{SessionFilter, SessionOrder};
use rmcp::model::Prompt;
use serde_json::json;

use super::{
    arguments::{Object, Scope},
    call::Call,
    tools::tools,
};
use crate::error::Error;

/// Its name.
pub(crate) const LAST_TIME: &str = "last_time";

const ABOUT: &str = "What did we do here last time? Brings the prompts and answers of the last session in this project.";

const QUESTION: &str = "What did we do here last time? Sum up what I asked for, what was done, what failed, and what is \
    still open. Below are the prompts and answers of the last session in this project, as its log has them. \
    get_session reads its tool calls, and recent_sessions lists earlier sessions.\n\n";

/// Sessions among which the last one is that is not running.
const LATEST: usize = 10;

/// Its description.
pub(crate) fn last_time() -> Prompt {
    Prompt::new(LAST_TIME, Some(ABOUT), None).with_title("What did we do here last time?")
}

/// The question, with the last session that is not running: the client's own session is.
pub(crate) fn text(call: &Call<'_>) -> Result<String, Error> {
    let scope = Scope::default();
    let filter = SessionFilter { is_listed: true, limit: Some(LATEST), ..call.filter(&scope)? };
    let sessions = call.database.sessions(&filter, SessionOrder::Latest)?;
    let ended = sessions.iter().find(|session| !Call::is_running(session));
    let Some(session) = ended.or(sessions.first()) else {
        return Ok(QUESTION.to_owned() + &call.nothing("There is nothing", &scope, 0));
    };
    let name = call.name(session.number, session.session.as_deref())?;
    let mut arguments = Object::new();
    arguments.insert("session".to_owned(), json!(name));
    arguments.insert("only".to_owned(), json!(["prompts", "answers", "errors"]));
    let asked = "get_session";
    let inner = call.asking(asked, &arguments);
    let tools = tools();
    let tool = tools.iter().find(|tool| tool.tool.name == asked);
    let answer = tool.map(|tool| tool.answer(&inner, &arguments)).transpose()?;
    Ok(QUESTION.to_owned() + &answer.unwrap_or_default())
}
