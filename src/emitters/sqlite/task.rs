//! The task that a session belongs to, stated by hand.

use rusqlite::params;

use super::{Database, SqliteError};
use crate::conversation::TaskId;

impl Database {
    /// Makes the session in row `session` belong to a task; without one, its task is its own id. Says
    /// whether there is such a session.
    ///
    /// It stays so when the log grows. A log that is read again from its beginning begins its sessions
    /// anew.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_task(&mut self, session: i64, task: Option<&TaskId>) -> Result<bool, SqliteError> {
        self.connection
            .execute(
                "UPDATE sessions SET task = coalesce(?2, session_id) WHERE id = ?1",
                params![session, task.map(TaskId::as_str)],
            )
            .map(|changed| changed > 0)
            .map_err(|error| self.error(&error))
    }
}
