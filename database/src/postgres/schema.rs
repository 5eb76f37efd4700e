//! The schema `foldline` of a PostgreSQL database, its version, and the migrations from each version to the next.
//!
//! ```sql
#![doc = include_str!("schema.sql")]
//! ```

use postgres::{Client, Transaction, error::SqlState};
use tracing::info;

use super::error::{PostgresError, PostgresFailure};

/// The migrations from version 0 to 1, and so on. Never changed after a release.
const MIGRATIONS: &[&str] = &[include_str!("schema.sql")];

/// Indices of the parts of texts and paths. Without them, a search for what is not a word reads every text.
const TRIGRAMS: &str = "
    CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA foldline;
    DO $$ BEGIN
        EXECUTE format('SET LOCAL search_path = foldline, %s',
                       (SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'pg_trgm'));
    END $$;
    CREATE INDEX entries_by_parts ON entries USING gin (lower(content COLLATE \"C\") gin_trgm_ops,
        lower(output COLLATE \"C\") gin_trgm_ops, lower(metadata COLLATE \"C\") gin_trgm_ops);
    CREATE INDEX tool_calls_by_parts ON tool_calls USING gin (lower(action COLLATE \"C\") gin_trgm_ops,
        lower(reason COLLATE \"C\") gin_trgm_ops)";

/// The number of an advisory lock: only one program migrates at a time.
const LOCK: i64 = i64::from_be_bytes(*b"foldline");

/// The version of the tables; 0 if there are none.
pub(super) fn version(client: &mut Client) -> Result<i64, PostgresFailure> {
    let exists = "SELECT to_regclass('foldline.schema_version') IS NOT NULL";
    if !client.query_one(exists, &[])?.try_get(0)? {
        return Ok(0);
    }
    Ok(client.query_one("SELECT version FROM foldline.schema_version", &[])?.try_get(0)?)
}

/// The version that this program reads and writes.
pub(super) fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Migrates the tables to the current version, all steps in one transaction.
pub(super) fn migrate(client: &mut Client, name: &str) -> Result<(), PostgresError> {
    let fail = |error: PostgresFailure| error.of(name);
    if version(client).map_err(fail)? == known() {
        return Ok(());
    }
    let mut migrate = || -> Result<Option<i64>, PostgresFailure> {
        let mut step = client.transaction()?;
        step.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
        step.batch_execute(
            "CREATE SCHEMA IF NOT EXISTS foldline; SET LOCAL search_path = foldline;
             CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL);
             INSERT INTO schema_version SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM schema_version)",
        )?;
        let found: i64 = step.query_one("SELECT version FROM schema_version", &[])?.try_get(0)?;
        let Some(steps) = usize::try_from(found).ok().and_then(|from| MIGRATIONS.get(from..))
        else {
            return Ok(Some(found));
        };
        if steps.is_empty() {
            // Another program has migrated them meanwhile.
            return Ok(None);
        }
        for sql in steps {
            step.batch_execute(sql)?;
        }
        add_trigrams(&mut step)?;
        step.execute("UPDATE schema_version SET version = $1", &[&known()])?;
        step.commit()?;
        Ok(None)
    };
    match migrate().map_err(fail)? {
        Some(found) => Err(PostgresError::Newer { name: name.to_owned(), found, known: known() }),
        None => Ok(()),
    }
}

/// Adds the indices of trigrams, unless the server does not have the extension, or the user may not create it.
fn add_trigrams(step: &mut Transaction<'_>) -> Result<(), PostgresFailure> {
    let mut part = step.transaction()?;
    let Err(error) = part.batch_execute(TRIGRAMS) else { return Ok(part.commit()?) };
    part.rollback()?;
    let is_missing = [
        SqlState::INSUFFICIENT_PRIVILEGE,
        SqlState::FEATURE_NOT_SUPPORTED,
        SqlState::UNDEFINED_FILE,
    ];
    match error.code() {
        Some(code) if is_missing.contains(code) => {
            info!(%error, "no indices of trigrams");
            Ok(())
        }
        _ => Err(error.into()),
    }
}
