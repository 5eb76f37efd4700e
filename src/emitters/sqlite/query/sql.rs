//! Common parts of queries: execution, and SQL fragments.

use rusqlite::{
    Row, params_from_iter,
    types::{Type, Value, ValueRef},
};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tracing::debug;

use crate::emitters::sqlite::{Database, SqliteError};

/// The parameters of a query, in the order of their numbers.
#[derive(Default)]
pub(super) struct Parameters(Vec<Value>);

impl Parameters {
    /// Adds a parameter, and returns its name in SQL.
    pub(super) fn add(&mut self, value: impl Into<Value>) -> String {
        self.0.push(value.into());
        format!("?{}", self.0.len())
    }
}

impl Database {
    /// The answer to a query, whose columns have the names of the fields.
    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        sql: &str,
        parameters: Parameters,
    ) -> Result<Vec<T>, SqliteError> {
        self.answer(sql, parameters, |row| {
            let names = row.as_ref().column_names().enumerate();
            let cells = names.map(|(at, name)| Ok((name.to_owned(), json(row.get_ref(at)?))));
            serde_json::from_value(Json::Object(cells.collect::<rusqlite::Result<_>>()?)).map_err(
                |error| rusqlite::Error::FromSqlConversionFailure(0, Type::Null, error.into()),
            )
        })
    }

    /// Reads each row of the answer to a query.
    pub(super) fn answer<T>(
        &self,
        sql: &str,
        Parameters(parameters): Parameters,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, SqliteError> {
        self.with(|connection| {
            let mut query = connection.prepare_cached(sql)?;
            let rows: rusqlite::Result<_> =
                query.query_map(params_from_iter(parameters), read)?.collect();
            debug!(sql = query.expanded_sql(), "asked");
            rows
        })
    }
}

fn json(cell: ValueRef<'_>) -> Json {
    match cell {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into(),
    }
}

/// Calls that count as failures.
pub(super) const FAILURES: &str =
    "(status = 'failed' OR status = 'denied' OR status = 'cancelled' OR status = 'unfinished')";

/// The name of a session in SQL: its title, or else the first meaningful line of a prompt.
pub(super) fn title(session: &str) -> String {
    let prompts = |line: &str, is_any: bool| {
        format!(
            "(SELECT {line} FROM entries AS said WHERE said.session = {session}.id AND said.type = 'user_message'
                  AND title_line(said.content, {is_any}) IS NOT NULL ORDER BY said.idx LIMIT 1)"
        )
    };
    format!(
        "coalesce(title_line({session}.title, true), {}, {})",
        prompts("title_line(said.content, false)", false),
        prompts("title_line(said.content, true)", true)
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
