//! Prepared statements, and the rows of their answers.

use std::{borrow::Cow, collections::HashMap, fmt};

use postgres::{
    Client, Row, Statement,
    types::{FromSql, ToSql, Type},
};

use super::{error::PostgresFailure, texts};
use crate::{Cell, StoreError};

/// A parameter of a statement.
pub(super) type Argument<'p> = &'p (dyn ToSql + Sync);

/// A connection, and the statements that it has prepared.
pub(super) struct Connection {
    pub(super) client: Client,
    prepared: HashMap<String, Statement>,
}

impl Connection {
    pub(super) fn new(client: Client) -> Self {
        Self { client, prepared: HashMap::new() }
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement, PostgresFailure> {
        if let Some(prepared) = self.prepared.get(sql) {
            return Ok(prepared.clone());
        }
        let prepared = self.client.prepare(sql)?;
        self.prepared.insert(sql.to_owned(), prepared.clone());
        Ok(prepared)
    }

    /// Executes a statement; returns the number of changed rows.
    pub(super) fn run(
        &mut self,
        sql: &str,
        parameters: &[Argument<'_>],
    ) -> Result<u64, PostgresFailure> {
        let statement = self.prepare(sql)?;
        Ok(self.client.execute(&statement, parameters)?)
    }

    /// The rows of an answer.
    pub(super) fn list<T>(
        &mut self,
        sql: &str,
        parameters: &[Argument<'_>],
        mut read: impl FnMut(&dyn crate::Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, PostgresFailure> {
        let statement = self.prepare(sql)?;
        let rows = self.client.query(&statement, parameters)?;
        Ok(rows.iter().map(|row| read(row)).collect::<Result<_, _>>()?)
    }

    /// The first row of an answer, if it has one.
    pub(super) fn find<T>(
        &mut self,
        sql: &str,
        parameters: &[Argument<'_>],
        read: impl FnMut(&dyn crate::Row) -> Result<T, StoreError>,
    ) -> Result<Option<T>, PostgresFailure> {
        Ok(self.list(sql, parameters, read)?.into_iter().next())
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("prepared", &self.prepared.len()).finish_non_exhaustive()
    }
}

impl crate::Row for Row {
    fn cell(&self, column: usize) -> Result<Cell<'_>, StoreError> {
        let Some(of) = self.columns().get(column) else { return Ok(Cell::Null) };
        let cell = match *of.type_() {
            Type::BOOL => value::<bool>(self, column)?.map(|is| Cell::Integer(is.into())),
            Type::INT4 => value::<i32>(self, column)?.map(|number| Cell::Integer(number.into())),
            Type::INT8 => value(self, column)?.map(Cell::Integer),
            Type::FLOAT8 => value(self, column)?.map(Cell::Real),
            Type::BYTEA => value(self, column)?.map(Cell::Blob),
            _ => value(self, column)?.map(|stored| Cell::Text(texts::decode(stored))),
        };
        Ok(cell.unwrap_or(Cell::Null))
    }

    fn names(&self) -> Vec<&str> {
        self.columns().iter().map(postgres::Column::name).collect()
    }
}

fn value<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<Option<T>, StoreError> {
    row.try_get(column).map_err(StoreError::engine)
}

/// A text as a parameter.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    texts::encode(text)
}

/// PostgreSQL's integers are signed. Larger values become the largest one.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
