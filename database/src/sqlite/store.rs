//! The [`Store`] implementation of [`Database`].

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use foldline_domain::pricing::Prices;
use rusqlite::{
    ToSql, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};
use tracing::debug;

use super::{Database, tokens::estimate};
use crate::{Dialect, Parameter, Row, Store, StoreError};

/// The number of steps of a query between two checks whether it is still wanted: less than a millisecond.
const STEPS: i32 = 10_000;

impl Store for Database {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn rows(
        &self,
        sql: &str,
        parameters: &[Parameter],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let fail = |error| StoreError::engine(self.error(&error));
        let mut query = self.connection.prepare_cached(sql).map_err(fail)?;
        {
            let mut rows = query.query(params_from_iter(parameters)).map_err(fail)?;
            while let Some(row) = rows.next().map_err(fail)? {
                each(row)?;
            }
        }
        debug!(sql = query.expanded_sql(), "asked");
        Ok(())
    }

    /// One transaction, unless the caller has one.
    fn in_snapshot(
        &self,
        read: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let is_alone = self.connection.is_autocommit();
        let transaction = is_alone.then(|| self.connection.unchecked_transaction()).transpose();
        let transaction = transaction.map_err(|error| StoreError::engine(self.error(&error)))?;
        let read = read();
        drop(transaction);
        read
    }

    fn estimated_cost(&self) -> Result<String, StoreError> {
        Ok("estimated_cost(message_id, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
                           cache_write_1h_tokens, web_searches, used_at)"
            .to_owned())
    }

    fn estimate_with(&self, prices: Arc<Prices>) -> Result<(), StoreError> {
        estimate(&self.connection, Some(prices))
            .map_err(|error| StoreError::engine(self.error(&error)))
    }

    fn stop_when(
        &mut self,
        longest: Duration,
        mut is_unwanted: Box<dyn FnMut() -> bool + Send>,
    ) -> Result<(), StoreError> {
        let begun = Instant::now();
        let is_over = move || begun.elapsed() >= longest || is_unwanted();
        let set = self.connection.progress_handler(STEPS, Some(is_over));
        set.map_err(|error| StoreError::engine(self.error(&error)))
    }
}

impl ToSql for Parameter {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::DEFAULT_WAIT;

    #[test]
    fn a_query_ends_when_its_time_is_over_or_its_answer_is_not_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let long =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000)
                    SELECT count(*) FROM n";
        let ask = |longest, is_unwanted: bool| {
            let mut database = Database::open(&path, DEFAULT_WAIT).unwrap();
            database.stop_when(longest, Box::new(move || is_unwanted)).unwrap();
            database.rows(long, &[], &mut |_| Ok(())).unwrap_err().to_string()
        };
        assert!(ask(Duration::from_millis(20), false).contains("interrupted"));
        assert!(ask(Duration::from_secs(600), true).contains("interrupted"));
    }
}
