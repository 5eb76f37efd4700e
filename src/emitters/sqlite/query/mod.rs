//! Questions about what a database holds, and their answers as typed rows.
//!
//! Each question is a method of [`Database`], and fails only if the database cannot be read; [`SessionFilter`] chooses
//! the sessions, the time and the rows that it is about. All SQL that answers questions is in this module: another
//! engine with the same tables answers them alike. Moments are milliseconds since 1970. A cost is `logged`,
//! `estimated` ([`Database::estimate_with`]) or `mixed`; a total is `None` where no log states a part of it.
//!
//! ```
//! use foldline::emitters::sqlite::{
//!     DEFAULT_WAIT, Database,
//!     query::{SessionFilter, SessionOrder},
//! };
//!
//! let folder = tempfile::tempdir()?;
//! let database = Database::open(&folder.path().join("foldline.db"), DEFAULT_WAIT)?;
//! let filter = SessionFilter { agent: Some("claude".to_owned()), ..SessionFilter::default() };
//! let longest = database.sessions(&filter, SessionOrder::Duration)?;
//! assert!(longest.is_empty(), "nothing was ingested");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![expect(clippy::missing_errors_doc, reason = "every question fails for the same reason")]

mod entries;
mod files;
mod filter;
mod search;
mod sessions;
#[cfg(test)]
mod tests;
mod usage;

use rusqlite::{Row, params_from_iter, types::Value};
use tracing::debug;

pub(super) use self::usage::{estimate, tokens};
pub use self::{
    entries::{EntryRow, WarningRow},
    files::{FileRow, SessionFileRow, ToolTotals},
    filter::{Period, SessionFilter, SessionName, SessionState},
    search::{MATCH, SearchTerms},
    sessions::{SessionOrder, SessionRow, TaskRow},
};
use super::{Database, SqliteError};

/// The parameters of a query, in the order of their numbers.
#[derive(Default)]
struct Parameters(Vec<Value>);

impl Parameters {
    /// Adds one, and returns its name in SQL.
    fn add(&mut self, value: impl Into<Value>) -> String {
        self.0.push(value.into());
        format!("?{}", self.0.len())
    }
}

/// What a row of an answer is read as.
trait Answer: Sized {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self>;
}

/// Defines rows, whose columns have the names of their fields.
macro_rules! rows {
    ($($(#[$meta:meta])* pub struct $name:ident { $($(#[$about:meta])* pub $field:ident: $type:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[non_exhaustive]
        pub struct $name { $($(#[$about])* pub $field: $type,)* }

        impl super::Answer for $name {
            fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                Ok(Self { $($field: row.get(stringify!($field))?,)* })
            }
        }
    )*};
}
use rows;

impl Database {
    /// The answer to a query.
    fn ask<T: Answer>(&self, sql: &str, parameters: Parameters) -> Result<Vec<T>, SqliteError> {
        self.answer(sql, parameters, T::read)
    }

    /// Reads each row of the answer to a query.
    fn answer<T>(
        &self,
        sql: &str,
        Parameters(parameters): Parameters,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, SqliteError> {
        let ask = || {
            let mut query = self.connection.prepare_cached(sql)?;
            let rows: rusqlite::Result<_> =
                query.query_map(params_from_iter(parameters), read)?.collect();
            debug!(sql = query.expanded_sql(), "asked");
            rows
        };
        ask().map_err(|error| self.error(&error))
    }
}
