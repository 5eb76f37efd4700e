//! The task that a session belongs to, stated by hand.

use rusqlite::params;

use super::{Database, SqliteError, crc::sum_sessions};
use crate::conversation::TaskId;

impl Database {
    /// Makes the session in row `session` belong to a task; without one, its task is its own id. Says
    /// whether there is such a session.
    ///
    /// It stays so when the log grows, or is read again from its beginning.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_task(&mut self, session: i64, task: Option<&TaskId>) -> Result<bool, SqliteError> {
        self.change(|transaction| {
            let sql = "UPDATE sessions SET task = coalesce(?2, session_id) WHERE id = ?1";
            let changed = transaction.execute(sql, params![session, task.map(TaskId::as_str)])?;
            sum_sessions(transaction, "id = ?1", [session])?;
            Ok(changed > 0)
        })
    }
}
