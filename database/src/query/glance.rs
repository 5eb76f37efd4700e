//! The state of a session at a glance.

use serde::{Deserialize, Serialize};

use super::sql::WAITING;
use crate::{Store, StoreError};

/// A tool call without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// The name of the tool.
    pub tool: String,
    /// The short title of the call, at most 300 characters.
    pub what: String,
    /// 1 if it waits for a person, else 0.
    pub waiting: i64,
}

impl dyn Store + '_ {
    /// The call that a session or a part of it waits for: one that waits for a person, or else the last one that has any.
    pub fn open_call_of_tree(&self, session: i64) -> Result<Option<OpenCall>, StoreError> {
        let mut found = self.open_call(session)?;
        if found.as_ref().is_some_and(|call| call.waiting > 0) {
            return Ok(found);
        }
        for part in self.tree_of(session)? {
            if part.whole.is_some() && part.outcome.is_none() {
                let call = self.open_call(part.number)?;
                if call.as_ref().is_some_and(|call| call.waiting > 0) {
                    return Ok(call);
                }
                found = call.or(found);
            }
        }
        Ok(found)
    }

    /// The call that a session waits for: one that waits for a person, or else the last open one.
    fn open_call(&self, session: i64) -> Result<Option<OpenCall>, StoreError> {
        let mut parameters = self.parameters();
        let session = parameters.add(session);
        let sql = format!(
            "SELECT tool_name AS tool, text_start(entries.content, 300) AS what,
                 CASE WHEN {WAITING} THEN 1 ELSE 0 END AS waiting
             FROM tool_calls JOIN entries ON entries.id = tool_calls.entry
             WHERE tool_calls.session = {session} AND status IN ('created', 'in_progress', 'pending_approval')
             ORDER BY waiting DESC, entries.idx DESC LIMIT 1"
        );
        Ok(self.ask(&sql, &parameters)?.pop())
    }

    /// The last message of the agent in a session, outside its sub-agents.
    pub fn last_answer(&self, session: i64) -> Result<Option<String>, StoreError> {
        let mut parameters = self.parameters();
        let session = parameters.add(session);
        let sql = format!(
            "SELECT content FROM entries WHERE session = {session} AND type = 'assistant_message'
             AND parent_corr_id IS NULL ORDER BY idx DESC LIMIT 1"
        );
        Ok(self.answer(&sql, &parameters, |row| row.get::<String>(0))?.pop())
    }

    /// The last message of the agent between a prompt and the next one, outside its sub-agents: its place in the session,
    /// and its beginning, at most 1,000 characters.
    pub fn reply(&self, session: i64, prompt: i64) -> Result<Option<(i64, String)>, StoreError> {
        let mut parameters = self.parameters();
        let (session, prompt) = (parameters.add(session), parameters.add(prompt));
        let sql = format!(
            "SELECT idx, text_start(content, 1000) FROM entries
             WHERE session = {session} AND type = 'assistant_message' AND parent_corr_id IS NULL AND idx > {prompt}
             AND NOT EXISTS (
                 SELECT 1 FROM entries AS next
                 WHERE next.session = {session} AND next.type = 'user_message' AND next.parent_corr_id IS NULL
                 AND next.idx > {prompt} AND next.idx < entries.idx)
             ORDER BY idx DESC LIMIT 1"
        );
        Ok(self.answer(&sql, &parameters, |row| Ok((row.get(0)?, row.get(1)?)))?.pop())
    }

    /// The beginning of the first message of the agent, at most 1,000 characters.
    pub fn first_answer(&self, session: i64) -> Result<Option<String>, StoreError> {
        let mut parameters = self.parameters();
        let session = parameters.add(session);
        let sql = format!(
            "SELECT text_start(content, 1000) FROM entries
             WHERE session = {session} AND type = 'assistant_message' ORDER BY idx LIMIT 1"
        );
        Ok(self.answer(&sql, &parameters, |row| row.get::<String>(0))?.pop())
    }
}
