//! The schema, its version, and the migrations from each version to the next.
//!
//! `PRAGMA user_version` counts the migrations that were applied. A database is only ever migrated
//! forward, each step in a separate transaction; a database of a later version is rejected.
//!
//! Version 1:
//!
//! ```sql
#![doc = include_str!("schema.sql")]
//! ```
//!
//! Moments are milliseconds since 1970-01-01T00:00:00Z.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::crc;

/// A problem of the schema of a database.
#[derive(Debug)]
pub(super) enum Unfit {
    /// The database belongs to another program.
    Foreign,
    /// A later version created the database.
    Newer { found: i64 },
    /// The database is empty, or an earlier version created it; only reported if the database is not written.
    Older { found: i64 },
    /// SQLite failed.
    Failed(rusqlite::Error),
}

impl From<rusqlite::Error> for Unfit {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error)
    }
}

/// `fold`, which identifies databases of this program (`PRAGMA application_id`).
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"fold");

/// The tables of a database, in SQL, with comments that describe each column.
pub const SCHEMA: &str = include_str!("schema.sql");

/// The migrations from version 0 to 1, from 1 to 2, and so on. Never changed after a release.
const MIGRATIONS: &[&str] = &[SCHEMA];

/// The current version, which this program reads and writes.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// The size of a page in bytes. Most entries exceed SQLite's default of 4 KiB.
pub(super) const PAGE: i64 = 8 << 10;

/// A database in memory, of the current version and without rows.
pub(super) fn empty() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    crc::register(&connection)?;
    MIGRATIONS.iter().try_for_each(|sql| connection.execute_batch(sql))?;
    Ok(connection)
}

/// Migrates a database to the current version.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Unfit> {
    migrate_with(connection, MIGRATIONS)
}

/// Whether a database has the current version, without writing.
pub(super) fn check(connection: &Connection) -> Result<(), Unfit> {
    match version(&connection.unchecked_transaction()?, VERSION)? {
        VERSION => Ok(()),
        found => Err(Unfit::Older { found }),
    }
}

fn migrate_with(connection: &mut Connection, migrations: &[&str]) -> Result<(), Unfit> {
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    while version(&connection.transaction()?, known)? < known {
        // Another program may migrate at the same time, so the version is read under the lock.
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let from = version(&step, known)?;
        let Some(sql) = usize::try_from(from).ok().and_then(|from| migrations.get(from)) else {
            break;
        };
        step.execute_batch(sql)?;
        step.pragma_update(None, "application_id", APPLICATION_ID)?;
        step.pragma_update(None, "user_version", from + 1)?;
        step.commit()?;
    }
    Ok(())
}

/// Reads a snapshot, since another program may migrate meanwhile.
fn version(connection: &Transaction<'_>, known: i64) -> Result<i64, Unfit> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let application: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let is_new = found == 0 && application == 0 && tables == 0;
    if application != APPLICATION_ID && !is_new {
        Err(Unfit::Foreign)
    } else if found > known {
        Err(Unfit::Newer { found })
    } else {
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_fails_leaves_nothing_behind() {
        let mut connection = Connection::open_in_memory().unwrap();
        let steps = ["CREATE TABLE a (x); CREATE TABLE a (x)"];
        assert!(matches!(migrate_with(&mut connection, &steps), Err(Unfit::Failed(_))));
        migrate_with(&mut connection, &["CREATE TABLE a (x)"]).unwrap();
    }
}
