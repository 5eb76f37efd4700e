//! Common parts of queries: execution, and SQL fragments.

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::{Cell, Row, Store, StoreError, parameters::Parameters};

impl dyn Store + '_ {
    pub(super) fn parameters(&self) -> Parameters {
        Parameters::new(self.dialect())
    }

    /// The answer to a query, whose columns have the names of the fields.
    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        sql: &str,
        parameters: &Parameters,
    ) -> Result<Vec<T>, StoreError> {
        self.answer(sql, parameters, |row| {
            let names = row.names().into_iter().enumerate();
            let cells = names.map(|(at, name)| Ok((name.to_owned(), json(row.cell(at)?))));
            let object = Json::Object(cells.collect::<Result<_, StoreError>>()?);
            serde_json::from_value(object)
                .map_err(|error| StoreError::unexpected(error.to_string()))
        })
    }

    /// Reads each row of the answer to a query.
    pub(super) fn answer<T>(
        &self,
        sql: &str,
        parameters: &Parameters,
        mut read: impl FnMut(&dyn Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut answer = Vec::new();
        self.rows(sql, &parameters.values, &mut |row| {
            answer.push(read(row)?);
            Ok(())
        })?;
        Ok(answer)
    }
}

fn json(cell: Cell<'_>) -> Json {
    match cell {
        Cell::Null => Json::Null,
        Cell::Integer(number) => number.into(),
        Cell::Real(number) => number.into(),
        Cell::Text(text) => text.into(),
        Cell::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
    }
}

/// The moment of the last activity of a session, in SQL. That of a log without moments is the time of its file.
pub(crate) const LATEST: &str = "coalesce(last_at, ended_at, started_at,
    (SELECT modified_at FROM sources WHERE sources.id = sessions.source))";

/// Calls that count as failures.
pub(super) const FAILURES: &str =
    "(status = 'failed' OR status = 'denied' OR status = 'cancelled' OR status = 'unfinished')";

/// Calls that wait for a person: for a permission, or an answer.
pub(super) const WAITING: &str =
    "(status = 'pending_approval' OR (status IN ('created', 'in_progress')
    AND action_name IN ('question', 'plan_presentation')))";

/// The sum of integers. SQLite's own sum fails on overflow: one absurd number of a log would spoil the answer for all
/// sessions. Sums are exact up to 2^53, and end at the largest integer.
pub(crate) fn sum(column: &str) -> String {
    integer(&format!("sum(CAST({column} AS DOUBLE PRECISION))"))
}

/// A fraction as an integer, which ends at the largest one.
pub(super) fn integer(number: &str) -> String {
    format!(
        "CASE WHEN {number} >= 9.2e18 THEN 9223372036854775807
              WHEN {number} <= -9.2e18 THEN -9223372036854775807 ELSE CAST({number} AS BIGINT) END"
    )
}

/// Text as a pattern of `LIKE` without wildcards; the escape is `\`.
pub(super) fn like(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
