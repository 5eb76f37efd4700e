//! What logs do not state: a task that is set by hand, the projects of folders, and prices.

use foldline_domain::{
    TaskId, Timestamp,
    pricing::{ModelRates, Prices},
};
use rusqlite::params;

use super::{Database, SqliteError, crc::sum_sessions, statements::list};
use crate::query::FolderRow;

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

    /// Records the prices of models that have none yet, for the view `cost`.
    ///
    /// # Errors
    /// The database cannot be written; then nothing is recorded.
    pub fn add_prices(&mut self, prices: &Prices) -> Result<(), SqliteError> {
        let sql = "SELECT DISTINCT model FROM message_usage
                   WHERE model <> '' AND model NOT IN (SELECT model FROM prices)";
        let models: Vec<String> =
            self.with(|connection| list(connection, sql, [], |row| row.get(0)))?;
        let models: Vec<_> = models
            .into_iter()
            .map(|model| (prices.rates_of(&model), model))
            .filter(|(rates, _)| !rates.is_empty())
            .collect();
        if models.is_empty() {
            return Ok(());
        }
        self.change(|transaction| {
            let sql = "INSERT INTO prices VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, row_crc32(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8))";
            let mut insert = transaction.prepare_cached(sql)?;
            for (rates, model) in &models {
                for ModelRates { until, more_than, rates } in rates {
                    let until = until.map_or(-1, Timestamp::as_millis);
                    let over = more_than.map_or(-1, |over| i64::try_from(over).unwrap_or(i64::MAX));
                    let [input, output, read, write, write_1h] = rates;
                    insert.execute(params![
                        model, until, over, input, output, read, write, write_1h
                    ])?;
                }
            }
            Ok(())
        })
    }

    /// Records the projects of folders.
    ///
    /// # Errors
    /// The database cannot be written; then nothing is recorded.
    pub fn set_projects(&mut self, projects: &[FolderRow]) -> Result<(), SqliteError> {
        if projects.is_empty() {
            return Ok(());
        }
        self.change(|transaction| {
            let sql = "INSERT OR REPLACE INTO folders (folder, project, tree, crc32)
                       VALUES (?1, ?2, ?3, row_crc32(?1, ?2, ?3))";
            let mut insert = transaction.prepare_cached(sql)?;
            projects.iter().try_for_each(|FolderRow { folder, project, tree }| {
                insert.execute(params![folder, project, tree]).map(drop)
            })
        })
    }
}
