//! Which sources a database knows, for whoever looks for those that are new.

use rusqlite::{OptionalExtension, Params, params};

use super::{Database, SqliteError};
use crate::{
    conversation::Json,
    ledger::{Checkpoint, Extent, SourceName},
};

/// A source that a database knows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Known {
    /// Its name in the ledger.
    pub name: SourceName,
    /// How far it was read.
    pub checkpoint: Checkpoint,
}

/// What a database holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Sources.
    pub sources: u64,
    /// Sessions.
    pub sessions: u64,
    /// Entries that were not pruned.
    pub entries: u64,
}

impl Database {
    /// The sources that were last seen at this path, the latest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn sources_at(&self, path: &str) -> Result<Vec<Known>, SqliteError> {
        self.known("SELECT name FROM sources WHERE path = ?1 ORDER BY id DESC", params![path])
    }

    /// The sources that were last seen as this file.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn sources_of_file(&self, device: u64, inode: u64) -> Result<Vec<Known>, SqliteError> {
        self.known(
            "SELECT name FROM sources WHERE inode = ?1 AND device = ?2 ORDER BY id DESC",
            params![inode.cast_signed(), device.cast_signed()],
        )
    }

    /// The sources of which exactly this was committed.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn sources_like(&self, read: Extent) -> Result<Vec<Known>, SqliteError> {
        let Extent { length, edges } = read;
        self.known(
            "SELECT name FROM sources WHERE read_edges = ?1 AND read_length = ?2 ORDER BY id",
            params![edges.as_bytes(), length.cast_signed()],
        )
    }

    /// A name that no source has yet: the path, or the path and a number.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn free_name(&self, path: &str) -> Result<SourceName, SqliteError> {
        let taken = |name: &str| {
            self.connection
                .prepare_cached("SELECT 1 FROM sources WHERE name = ?1")?
                .query_row([name], |_| Ok(()))
                .optional()
        };
        let mut name = path.to_owned();
        let mut number = 1;
        while taken(&name).map_err(|error| self.error(&error))?.is_some() {
            number += 1;
            name = format!("{path}#{number}");
        }
        Ok(name.into())
    }

    /// The states that the sources were left in, as their owner wrote them, in the order in which
    /// they were first read.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn states(&self) -> Result<Vec<Json>, SqliteError> {
        let states: Vec<String> = self
            .connection
            .prepare_cached("SELECT state FROM sources ORDER BY id")
            .and_then(|mut query| query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>())
            .map_err(|error| self.error(&error))?;
        Ok(states.iter().map(|state| serde_json::from_str(state).unwrap_or_default()).collect())
    }

    /// What the database holds.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn totals(&self) -> Result<Totals, SqliteError> {
        let count = |table| {
            let sql = format!("SELECT count(*) FROM {table}");
            let count: i64 = self
                .connection
                .query_row(&sql, [], |row| row.get(0))
                .map_err(|error| self.error(&error))?;
            Ok(count.cast_unsigned())
        };
        Ok(Totals {
            sources: count("sources")?,
            sessions: count("sessions")?,
            entries: count("entries")?,
        })
    }

    fn known(&self, sql: &str, parameters: impl Params) -> Result<Vec<Known>, SqliteError> {
        let names: Vec<String> = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut query| {
                query.query_map(parameters, |row| row.get(0))?.collect::<Result<_, _>>()
            })
            .map_err(|error| self.error(&error))?;
        let mut known = Vec::new();
        for name in names.into_iter().map(SourceName::from) {
            if let Some(checkpoint) = self.stored(&name)? {
                known.push(Known { name, checkpoint });
            }
        }
        Ok(known)
    }
}
