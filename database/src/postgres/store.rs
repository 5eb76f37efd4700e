//! The [`Store`] implementation of [`Postgres`].

use std::{sync::Arc, time::Duration};

use foldline_domain::pricing::Prices;
use postgres::{
    fallible_iterator::FallibleIterator,
    types::{ToSql, Type},
};
use tracing::debug;

use super::{Postgres, error::PostgresFailure, prices, statements::text};
use crate::{Dialect, Parameter, Row, Store, StoreError};

impl Store for Postgres {
    fn name(&self) -> String {
        self.address.name.clone()
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn rows(
        &self,
        sql: &str,
        parameters: &[Parameter],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let fail = |error: postgres::Error| PostgresFailure::from(error).of(&self.address.name);
        let parameters = parameters.iter().map(|value| -> (Box<dyn ToSql + Sync + Send>, Type) {
            match value {
                Parameter::Integer(number) => (Box::new(*number), Type::INT8),
                Parameter::Text(value) => (Box::new(text(value).into_owned()), Type::TEXT),
            }
        });
        let parameters: Vec<_> = parameters.collect();
        let mut session = self.session();
        let mut rows = session.client.query_typed_raw(sql, parameters).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            each(&row)?;
        }
        debug!(sql, "asked");
        Ok(())
    }

    fn in_snapshot(
        &self,
        read: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        let read = read();
        self.batch("COMMIT")?;
        read
    }

    fn estimate_with(&self, prices: Arc<Prices>) -> Result<(), StoreError> {
        self.prices.replace(Some(prices));
        Ok(())
    }

    fn stop_when(
        &mut self,
        longest: Duration,
        _: Box<dyn FnMut() -> bool + Send>,
    ) -> Result<(), StoreError> {
        // Zero would be no limit.
        Ok(self.batch(&format!("SET statement_timeout = {}", longest.as_millis().max(1)))?)
    }

    fn estimated_cost(&self) -> Result<String, StoreError> {
        let mut models: Vec<String> = Vec::new();
        self.rows("SELECT model FROM models", &[], &mut |row| {
            models.push(row.get(0)?);
            Ok(())
        })?;
        let prices = self.prices.borrow();
        let prices = prices.as_deref().unwrap_or_else(|| Prices::builtin());
        Ok(prices::estimated_cost(models.iter().map(String::as_str), prices))
    }
}
