//! The sources of a database, and counts of its contents.

use foldline_domain::Json;

use super::{companions::is_whole, sql::LATEST};
use crate::{Store, StoreError};

/// Counts of the contents of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Sources.
    pub sources: u64,
    /// Sessions.
    pub sessions: u64,
    /// Entries that were not pruned.
    pub entries: u64,
}

impl dyn Store + '_ {
    /// Passes the stored state of each source to `each`, in the order in which the sources were first read.
    pub fn each_state(&self, mut each: impl FnMut(Json)) -> Result<(), StoreError> {
        self.rows("SELECT state FROM sources ORDER BY id", &[], &mut |row| {
            each(row.state(0)?);
            Ok(())
        })
    }

    /// Whether all sessions of the source with this name were forgotten: nothing more is read of it.
    pub fn is_forgotten(&self, source: &str) -> Result<bool, StoreError> {
        let mut parameters = self.parameters();
        let name = parameters.add(source.to_owned());
        let sql = format!("SELECT 1 FROM sources WHERE name = {name} AND forgotten");
        Ok(!self.answer(&sql, &parameters, |_| Ok(()))?.is_empty())
    }

    /// The sessions without activity since a moment, in milliseconds since 1970. If a log has no timestamps, the
    /// modification time of the file is used.
    pub fn inactive_since(&self, before: i64) -> Result<Vec<i64>, StoreError> {
        let mut parameters = self.parameters();
        let before = parameters.add(before);
        let sql = format!("SELECT id FROM sessions WHERE {LATEST} < {before}");
        self.answer(&sql, &parameters, |row| row.get(0))
    }

    /// Counts the contents of the database.
    pub fn totals(&self) -> Result<Totals, StoreError> {
        let count = |table: &str| -> Result<u64, StoreError> {
            let sql = format!("SELECT count(*) FROM {table}");
            let counts = self.answer(&sql, &self.parameters(), |row| row.unsigned(0))?;
            Ok(counts.into_iter().sum())
        };
        Ok(Totals {
            sources: count("sources")?,
            sessions: count(&format!("sessions WHERE {}", is_whole()))?,
            entries: count("entries")?,
        })
    }
}
