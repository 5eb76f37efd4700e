//! What sessions belong to apart from their logs: a task that is set by hand, and the projects of folders.

use foldline_domain::TaskId;
use rusqlite::params;

use super::{Database, SqliteError, crc::sum_sessions};

impl Database {
    /// Assigns the session in row `session` to a task; the default is the session's own id. Returns whether the
    /// session exists.
    ///
    /// The assignment is kept when the log grows, or is read again from its beginning.
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

    /// Records the projects of folders, by folder.
    ///
    /// # Errors
    /// The database cannot be written; then nothing is recorded.
    pub fn set_projects(&mut self, projects: &[(String, String)]) -> Result<(), SqliteError> {
        if projects.is_empty() {
            return Ok(());
        }
        self.change(|transaction| {
            let sql = "INSERT OR REPLACE INTO folders (folder, project, crc32)
                       VALUES (?1, ?2, row_crc32(?1, ?2))";
            let mut insert = transaction.prepare_cached(sql)?;
            projects
                .iter()
                .try_for_each(|project| insert.execute(params![project.0, project.1]).map(drop))
        })
    }
}
