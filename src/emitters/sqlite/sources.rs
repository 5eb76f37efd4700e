//! Which sources a database knows, for whoever looks for those that are new.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, Params, Row, params};

use super::{Database, SqliteError};
use crate::{
    conversation::{Digest, Json, TokenUsage},
    ledger::{Checkpoint, SourceName},
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

    /// The sources whose first line has this digest: see [`Identity`](crate::ledger::Identity::first_line).
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn sources_beginning(&self, first_line: Digest) -> Result<Vec<Known>, SqliteError> {
        self.known(
            "SELECT name FROM sources WHERE first_line = ?1 ORDER BY id",
            params![first_line.as_bytes()],
        )
    }

    /// A name that no source has yet, and that is not reserved: the path, or the path and a number.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn free_name(
        &self,
        path: &str,
        reserved: &BTreeSet<SourceName>,
    ) -> Result<SourceName, SqliteError> {
        let stored = |name: &str| {
            self.connection
                .prepare_cached("SELECT 1 FROM sources WHERE name = ?1")?
                .query_row([name], |_| Ok(()))
                .optional()
        };
        let mut name = SourceName::from(path);
        let mut number = 1;
        while reserved.contains(&name)
            || stored(name.as_str()).map_err(|error| self.error(&error))?.is_some()
        {
            number += 1;
            name = format!("{path}#{number}").into();
        }
        Ok(name)
    }

    /// Hands the states that the sources were left in to `each`, one after another, as their owner wrote them, in
    /// the order in which they were first read.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn each_state(&self, mut each: impl FnMut(Json)) -> Result<(), SqliteError> {
        self.connection
            .prepare_cached("SELECT state FROM sources ORDER BY id")
            .and_then(|mut query| {
                let mut rows = query.query([])?;
                while let Some(row) = rows.next()? {
                    each(serde_json::from_str(row.get_ref(0)?.as_str()?).unwrap_or_default());
                }
                Ok(())
            })
            .map_err(|error| self.error(&error))
    }

    /// Gives `each` the tokens that an agent used with a model, each message once, however many sources tell of
    /// it. An agent or a model without a name has an empty one.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn usage(&self, mut each: impl FnMut(&str, &str, &TokenUsage)) -> Result<(), SqliteError> {
        // The sums are the caller's: those of SQLite fail where they overflow.
        let rows = "SELECT coalesce(agent, ''), usage.model, input_tokens, output_tokens, cache_read_tokens,
                cache_write_tokens, reasoning_tokens, cost_usd, cache_write_1h_tokens
            FROM usage JOIN sessions ON sessions.id = usage.session
            ORDER BY session, message_id, usage.model, used_at";
        let mut read = |row: &Row<'_>| {
            let count = |column| {
                Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(i64::cast_unsigned))
            };
            let usage = TokenUsage {
                input_tokens: count(2)?,
                output_tokens: count(3)?,
                cache_read_tokens: count(4)?,
                cache_write_tokens: count(5)?,
                reasoning_tokens: count(6)?,
                cost_usd: row.get(7)?,
                cache_write_1h_tokens: count(8)?,
            };
            each(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?, &usage);
            Ok(())
        };
        self.connection
            .prepare_cached(rows)
            .and_then(|mut query| query.query_map([], &mut read)?.collect())
            .map_err(|error| self.error(&error))
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

    pub(super) fn known(
        &self,
        sql: &str,
        parameters: impl Params,
    ) -> Result<Vec<Known>, SqliteError> {
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
