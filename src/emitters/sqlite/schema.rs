//! The schema, its version, and the way from each version to the next.
//!
//! `PRAGMA user_version` counts the migrations that were applied. A database is only ever migrated
//! forward, each step in a transaction of its own; one that a later version made is refused.
//!
//! Version 1, and what each later version changes:
//!
//! ```sql
#![doc = include_str!("schema.sql")]
#![doc = include_str!("schema_2.sql")]
//! ```
//!
//! Moments are milliseconds since 1970-01-01T00:00:00Z.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::crc;

/// What is wrong with a database's schema.
#[derive(Debug)]
pub(super) enum Unfit {
    /// Another program made it.
    Foreign,
    /// A later version made it.
    Newer { found: i64 },
    /// It was never written to, or not since an earlier version; only said where nothing is written.
    Older { found: i64 },
    /// SQLite failed.
    Failed(rusqlite::Error),
}

impl From<rusqlite::Error> for Unfit {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error)
    }
}

/// `fold`, to tell our databases from others (`PRAGMA application_id`).
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"fold");

/// The step that leads from version 0 to 1, from 1 to 2, and so on. Never changed once released.
const MIGRATIONS: &[&str] = &[include_str!("schema.sql"), include_str!("schema_2.sql")];

/// The tables of a database, in SQL, with comments that say what each column holds, and what later versions change.
pub const SCHEMA: &str = concat!(include_str!("schema.sql"), "\n", include_str!("schema_2.sql"));

/// The version that this program reads and writes.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// The size of a page in bytes. Most entries have more than the usual 4 KiB.
pub(super) const PAGE: i64 = 8 << 10;

/// A database in memory, of the current version and without rows.
pub(super) fn empty() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    crc::register(&connection)?;
    MIGRATIONS.iter().try_for_each(|sql| connection.execute_batch(sql))?;
    Ok(connection)
}

/// Brings a database to the current version.
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
        // Another program may migrate at the same time: what is to be done is asked under the lock.
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

/// All that is asked belongs to one moment: another program may migrate meanwhile.
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

    const STEPS: &[&str] =
        &["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x * 2"];

    #[test]
    fn an_old_database_is_brought_forward_with_its_rows() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate_with(&mut connection, &STEPS[..1]).unwrap();
        connection.execute("INSERT INTO a VALUES (21)", []).unwrap();
        migrate_with(&mut connection, STEPS).unwrap();
        migrate_with(&mut connection, STEPS).unwrap();
        let y: i64 = connection.query_row("SELECT y FROM a", [], |row| row.get(0)).unwrap();
        assert_eq!(y, 42);
        let newer = migrate_with(&mut connection, &STEPS[..1]);
        assert!(matches!(newer, Err(Unfit::Newer { found: 2 })));
    }

    /// Sessions of a database of version 1 are numbered in their order, and what grows goes on to grow.
    #[test]
    fn a_database_of_version_1_has_its_sessions_numbered() {
        let mut connection = Connection::open_in_memory().unwrap();
        crc::register(&connection).unwrap();
        migrate_with(&mut connection, &MIGRATIONS[..1]).unwrap();
        connection
            .execute_batch(
                "PRAGMA foreign_keys = OFF;
                 INSERT INTO sessions (id, source, crc32) VALUES (1, 1, 0), (2, 2, 0), (3, 1, 0);
                 INSERT INTO entries (id, session, idx, type, line, offset, content, crc32)
                 VALUES (7, 3, 0, 'assistant_message', 1, 0, 'hel', 0);
                 INSERT INTO open_entries VALUES (1, 'text', 7);",
            )
            .unwrap();
        migrate(&mut connection).unwrap();
        let rows = |sql: &str| -> Vec<String> {
            let mut query = connection.prepare(sql).unwrap();
            query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let numbers = rows("SELECT concat(source, ' ', number) FROM sessions ORDER BY id");
        assert_eq!(numbers, ["1 0", "2 0", "1 1"]);
        let open = rows("SELECT concat(session, ' ', corr_id, ' ', entry) FROM open_entries");
        assert_eq!(open, ["3 text 7"]);
    }

    #[test]
    fn a_step_that_fails_leaves_nothing_behind() {
        let mut connection = Connection::open_in_memory().unwrap();
        let steps = ["CREATE TABLE a (x); CREATE TABLE a (x)"];
        assert!(matches!(migrate_with(&mut connection, &steps), Err(Unfit::Failed(_))));
        migrate_with(&mut connection, STEPS).unwrap();
    }

    #[test]
    fn a_database_of_another_program_is_left_alone() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert!(matches!(migrate(&mut connection), Err(Unfit::Foreign)));
    }
}
