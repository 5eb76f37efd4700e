//! Removes entries of old sessions, and sessions for good: once, for all engines.

mod forget;
mod forgotten;
mod prune;

pub use self::{
    forget::Forgotten,
    prune::{Prune, Pruned},
};
pub(crate) use self::{
    forget::forget,
    forgotten::{any_forgotten, is_forgotten},
    prune::{Size, prune},
};
use crate::{Dialect, Parameter, Row, StoreError};

/// The transaction of an engine in which something is removed.
pub(crate) trait Removal {
    /// The error of the engine.
    type Error;

    fn dialect(&self) -> Dialect;

    /// Executes a statement.
    fn change(&mut self, sql: &str, parameters: &[Parameter]) -> Result<(), Self::Error>;

    /// The rows of an answer.
    fn select<T>(
        &mut self,
        sql: &str,
        parameters: &[Parameter],
        read: impl FnMut(&dyn Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, Self::Error>;

    /// Recomputes the checksums of sessions, if rows have any.
    fn sum_sessions(&mut self, which: &str, parameters: &[Parameter]) -> Result<(), Self::Error>;

    /// Removes a session and everything that belongs to it, within a commit.
    fn remove_session(&mut self, session: i64) -> Result<(), Self::Error>;

    /// The files of raw logs that are kept only of the sources of these sessions, a JSON array of ids; unless it is a
    /// dry run, they are not known any more.
    fn take_kept(
        &mut self,
        sessions: &Parameter,
        dry_run: bool,
    ) -> Result<Vec<String>, Self::Error>;

    /// Removes rows of this engine that belong to no session.
    fn remove_unused(&mut self) -> Result<(), Self::Error>;

    /// The size of the database.
    fn size(&mut self) -> Result<Size, Self::Error>;

    /// Removes the words of deleted entries from the search index, if they count in the size until then.
    fn merge_words(&mut self) -> Result<(), Self::Error>;
}

/// A parameter that is a list of ids.
fn array(ids: &[i64]) -> Parameter {
    let ids: Vec<_> = ids.iter().map(i64::to_string).collect();
    format!("[{}]", ids.join(",")).into()
}

/// Counts of entries.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sessions: u64,
    entries: u64,
    calls: u64,
    bytes: u64,
}

/// Counts the entries of the sessions that a query returns.
fn count<R: Removal>(
    transaction: &mut R,
    sessions: &str,
    parameters: &[Parameter],
) -> Result<Counts, R::Error> {
    let bytes = |column| transaction.dialect().bytes(column);
    let sql = format!(
        "WITH chosen (id) AS MATERIALIZED ({sessions})
         SELECT (SELECT count(*) FROM chosen), count(*), count(tool_calls.entry),
                coalesce(sum({} + coalesce({}, 0)), 0)
         FROM chosen JOIN entries ON entries.session = chosen.id
         LEFT JOIN tool_calls ON tool_calls.entry = entries.id",
        bytes("content"),
        bytes("output"),
    );
    let counts = transaction.select(&sql, parameters, |row| {
        Ok(Counts {
            sessions: row.unsigned(0)?,
            entries: row.unsigned(1)?,
            calls: row.unsigned(2)?,
            bytes: row.unsigned(3)?,
        })
    })?;
    Ok(counts.into_iter().next().unwrap_or_default())
}
