//! [`Store`]: a database that answers queries.

use std::{sync::Arc, time::Duration};

use foldline_domain::pricing::Prices;

use super::{dialect::Dialect, error::StoreError, row::Row};

/// A database that answers queries, of whichever engine. The queries are methods of `dyn Store`, in
/// [`query`](super::query).
pub trait Store: Send {
    /// What messages call the database: its path, or its address without the password.
    fn name(&self) -> String;

    /// The SQL that the engine understands.
    fn dialect(&self) -> Dialect;

    /// Passes each row of the answer to `each`, until that fails.
    ///
    /// # Errors
    /// The database cannot be read, or `each` failed.
    fn rows(
        &self,
        sql: &str,
        parameters: &[Parameter],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Calls `read`, all of whose queries see one state of the database.
    ///
    /// # Errors
    /// The database cannot be read, or `read` failed.
    fn in_snapshot(
        &self,
        read: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// An SQL expression for the estimated cost of a row of `message_usage`, in US dollars; `NULL` if the model has no
    /// price, or nothing was used.
    ///
    /// # Errors
    /// The database cannot be read.
    fn estimated_cost(&self) -> Result<String, StoreError>;

    /// Sets the prices that estimate unlogged costs, instead of the built-in prices.
    ///
    /// # Errors
    /// The database cannot be read.
    fn estimate_with(&self, prices: Arc<Prices>) -> Result<(), StoreError>;

    /// Makes all later queries fail that run at the end of this time, or when `is_unwanted` becomes true. A file is
    /// checked often; a server only keeps the time.
    ///
    /// # Errors
    /// The engine refused.
    fn stop_when(
        &mut self,
        longest: Duration,
        is_unwanted: Box<dyn FnMut() -> bool + Send>,
    ) -> Result<(), StoreError>;
}

/// A parameter of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// An integer.
    Integer(i64),
    /// A text.
    Text(String),
}

impl From<i64> for Parameter {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<String> for Parameter {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
