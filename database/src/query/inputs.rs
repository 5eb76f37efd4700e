//! Prompts that a person wrote, and commands that agents ran.

use foldline_domain::{ActionType, Metadata};
use serde::{Deserialize, Serialize};

use super::{SessionFilter, companions::fact, project::project, sql::FAILURES};
use crate::{Store, StoreError};

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRow {
    /// When it was written.
    pub at: Option<i64>,
    /// The number of the session.
    pub session: i64,
    /// The agent's id of the session.
    pub session_id: Option<String>,
    /// The project of the session.
    pub project: Option<String>,
    /// Its place in the session.
    pub index: i64,
    /// The whole text.
    pub text: String,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandRow {
    /// When it was started.
    pub at: Option<i64>,
    /// The number of the session.
    pub session: i64,
    /// The agent's id of the session.
    pub session_id: Option<String>,
    /// The project of the session.
    pub project: Option<String>,
    /// Its place in the session.
    pub index: i64,
    /// The command line.
    pub command: String,
    /// The status of the call.
    pub status: String,
    /// Whether the call counts as a failure.
    pub is_failure: bool,
    /// The exit code.
    pub exit_code: Option<i64>,
    /// How long it took.
    pub duration_ms: Option<i64>,
    /// Further fields of the call.
    #[serde(skip)]
    pub metadata: Metadata,
}

impl dyn Store + '_ {
    /// The prompts of a person, the latest first. Those of sub-agents are written by an agent.
    pub fn prompts(&self, filter: &SessionFilter) -> Result<Vec<PromptRow>, StoreError> {
        let mut parameters = self.parameters();
        let sql = format!(
            "SELECT timestamp AS at, sessions.id AS session, session_id, {project} AS project, idx AS \"index\",
                    content AS text
             FROM entries JOIN sessions ON sessions.id = entries.session
             WHERE type = 'user_message' AND parent_corr_id IS NULL AND coalesce({relation}, '') <> 'sub_agent'
             AND {condition} ORDER BY timestamp DESC NULLS LAST, entries.id DESC {rows}",
            project = project(),
            relation = fact("parent_relation"),
            condition = filter.entries(&mut parameters),
            rows = filter.rows(&mut parameters),
        );
        self.ask(&sql, &parameters)
    }

    /// Passes the commands to `each`, the latest first. The limit of the filter is not applied.
    pub fn commands(
        &self,
        filter: &SessionFilter,
        mut each: impl FnMut(CommandRow),
    ) -> Result<(), StoreError> {
        let mut parameters = self.parameters();
        let sql = format!(
            "SELECT timestamp, sessions.id, session_id, {project}, idx, action, status, exit_code,
                    tool_calls.duration_ms, metadata, {FAILURES}, content
             FROM tool_calls JOIN entries ON entries.id = tool_calls.entry
             JOIN sessions ON sessions.id = entries.session
             WHERE action_name = 'command_run' AND {condition}
             ORDER BY timestamp DESC NULLS LAST, entries.id DESC",
            project = project(),
            condition = filter.entries(&mut parameters),
        );
        self.rows(&sql, &parameters.values, &mut |row| {
            let action: String = row.get(5)?;
            let command = match serde_json::from_str(&action) {
                Ok(ActionType::CommandRun { command, .. }) => command.decode().into_owned(),
                // An action that a later version wrote.
                _ => row.get(11)?,
            };
            let metadata: Option<String> = row.get(9)?;
            each(CommandRow {
                at: row.get(0)?,
                session: row.get(1)?,
                session_id: row.get(2)?,
                project: row.get(3)?,
                index: row.get(4)?,
                command,
                status: row.get(6)?,
                exit_code: row.get(7)?,
                duration_ms: row.get(8)?,
                metadata: metadata
                    .and_then(|text| serde_json::from_str(&text).ok())
                    .unwrap_or_default(),
                is_failure: row.get(10)?,
            });
            Ok(())
        })
    }
}
