//! Removes entries of old sessions, and sessions for good: see [`removal`].

use std::time::Duration;

use postgres::types::ToSql;

use super::{
    Postgres,
    address::Address,
    error::{PostgresError, PostgresFailure},
    ledger::REMOVING,
    schema,
    statements::{Argument, Connection, text},
};
use crate::{
    Dialect, Parameter, Row, StoreError,
    removal::{self, Forgotten, Prune, Pruned, Removal, Size},
};

/// The tables of the schema, and whether the user may rewrite each.
const TABLES: &str = "SELECT quote_ident(relname), pg_has_role(relowner, 'USAGE') FROM pg_class
    WHERE relnamespace = 'foldline'::regnamespace AND relkind = 'r' ORDER BY relname";

/// The bytes that the entries use, with their indices, and those of the other tables. Files of tables do not shrink when
/// rows are deleted: as much of a table counts, and of its indices, as its rows take of its file.
const SIZES: &str = "
    WITH used (name, bytes) AS (
        SELECT 'entries', sum(100 + pg_column_size(content) + coalesce(pg_column_size(output), 0)
                              + coalesce(pg_column_size(metadata), 0)) FROM entries
        UNION ALL SELECT 'tool_calls', sum(150 + pg_column_size(action)) FROM tool_calls
        UNION ALL SELECT 'tool_paths', sum(60 + pg_column_size(path)) FROM tool_paths
        UNION ALL SELECT 'words', sum(40 + pg_column_size(vector)) FROM words
    ), sizes AS (
        SELECT name, pg_total_relation_size(pg_class.oid) AS size,
               least(1, coalesce(bytes, 0)::NUMERIC / greatest(pg_table_size(pg_class.oid), 1)) AS used
        FROM pg_class LEFT JOIN used ON name = relname
        WHERE relnamespace = 'foldline'::regnamespace AND relkind = 'r'
    )
    SELECT CAST(coalesce(sum(size * used) FILTER (WHERE name IS NOT NULL), 0) AS BIGINT),
           CAST(coalesce(sum(size) FILTER (WHERE name IS NULL), 0) AS BIGINT) FROM sizes";

/// Removes the words that no entry has any more.
const UNUSED_TERMS: &str =
    "DELETE FROM terms WHERE term NOT IN (SELECT word FROM ts_stat('SELECT vector FROM words'))";

impl Postgres {
    /// Opens an existing database for writing, and migrates old tables. Waits this long for other programs that write.
    ///
    /// # Errors
    /// As [`open`](Self::open), or it has no tables.
    pub fn open_existing(address: &str, wait: Duration) -> Result<Self, PostgresError> {
        let parsed = Address::parse(address)?;
        let found = schema::version(&mut parsed.connect()?);
        if found.map_err(|error| error.of(&parsed.name))? == 0 {
            return Err(PostgresError::Older { name: parsed.name, found: 0 });
        }
        let database = Self::open(address)?;
        // Zero would be no limit.
        database.batch(&format!("SET lock_timeout = {}", wait.as_millis().max(1)))?;
        Ok(database)
    }

    /// Removes the entries, tool calls and search index of old sessions. The session itself, its tokens, its warnings and
    /// the position in its source are kept, so the next commit does not restore pruned entries.
    ///
    /// No other program commits meanwhile; readers are not blocked. An open transaction is rolled back.
    ///
    /// # Errors
    /// The database cannot be written; then nothing is removed.
    pub fn prune(&mut self, which: Prune, dry_run: bool) -> Result<Pruned, PostgresError> {
        self.removing(dry_run, |session| {
            let pruned = removal::prune(session, which, dry_run)?;
            if !dry_run && pruned.entries > 0 {
                session.run(UNUSED_TERMS, &[])?;
            }
            Ok(pruned)
        })
    }

    /// Removes these sessions and everything that belongs to them, such as their entries, tokens, warnings and words in
    /// the search index, and the logs that state more about them. They do not come back with later commits.
    ///
    /// No other program commits meanwhile; readers are not blocked. An open transaction is rolled back. The files of the
    /// server still contain deleted rows until they are vacuumed and their space is used again:
    /// [`compact`](Self::compact) rewrites them at once. The statistics of the planner, which contain samples of texts,
    /// are replaced if the user may do that.
    ///
    /// # Errors
    /// The database cannot be written; then nothing is removed.
    pub fn forget_sessions(
        &mut self,
        sessions: &[i64],
        dry_run: bool,
    ) -> Result<Forgotten, PostgresError> {
        let forgotten =
            self.removing(dry_run, |session| removal::forget(session, sessions, dry_run))?;
        if !dry_run && forgotten.sessions > 0 {
            let tables = self.tables()?.into_iter().filter(|(_, is_own)| *is_own);
            let tables: Vec<_> = tables.map(|(table, _)| format!("foldline.{table}")).collect();
            if !tables.is_empty() {
                self.batch(&format!("VACUUM (ANALYZE, SKIP_LOCKED) {}", tables.join(", ")))?;
            }
        }
        Ok(forgotten)
    }

    /// Returns the freed space to the file system. Rewrites all tables, each of which is locked meanwhile.
    ///
    /// # Errors
    /// The user does not own the tables, or they cannot be rewritten, for example because the disk is full.
    pub fn compact(&mut self) -> Result<(), PostgresError> {
        let tables = self.tables()?;
        // The server would only warn.
        if let Some((table, _)) = tables.iter().find(|(_, is_own)| !is_own) {
            let reason = format!("only the owner of the table {table} can rewrite it");
            return Err(PostgresError::Rejected { name: self.address.name.clone(), reason });
        }
        tables.iter().try_for_each(|(table, _)| {
            self.batch(&format!("VACUUM (FULL, ANALYZE) foldline.{table}"))
        })
    }

    fn tables(&self) -> Result<Vec<(String, bool)>, PostgresError> {
        let tables = self.session().list(TABLES, &[], |row| Ok((row.get(0)?, row.get(1)?)));
        tables.map_err(|error| error.of(&self.address.name))
    }

    /// Removes rows in a separate transaction.
    fn removing<T>(
        &mut self,
        dry_run: bool,
        remove: impl FnOnce(&mut Connection) -> Result<T, PostgresFailure>,
    ) -> Result<T, PostgresError> {
        if std::mem::take(&mut self.has_begun) {
            self.batch("ROLLBACK")?;
        }
        let begin = match dry_run {
            true => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            false => REMOVING,
        };
        let removed = self.transact(begin, |session| {
            let removed = remove(session)?;
            session.client.batch_execute("COMMIT")?;
            Ok(Ok::<_, std::convert::Infallible>(removed))
        })?;
        self.has_begun = false;
        let Ok(removed) = removed;
        Ok(removed)
    }
}

/// Calls `run` with the parameters of a statement.
fn with<T>(parameters: &[Parameter], run: impl FnOnce(&[Argument<'_>]) -> T) -> T {
    let owned = parameters.iter().map(|parameter| -> Box<dyn ToSql + Sync> {
        match parameter {
            Parameter::Integer(number) => Box::new(*number),
            Parameter::Text(value) => Box::new(text(value).into_owned()),
        }
    });
    let owned: Vec<_> = owned.collect();
    run(&owned.iter().map(|value| &**value).collect::<Vec<Argument<'_>>>())
}

impl Removal for Connection {
    type Error = PostgresFailure;

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn change(&mut self, sql: &str, parameters: &[Parameter]) -> Result<(), PostgresFailure> {
        with(parameters, |parameters| self.run(sql, parameters)).map(drop)
    }

    fn select<T>(
        &mut self,
        sql: &str,
        parameters: &[Parameter],
        read: impl FnMut(&dyn Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, PostgresFailure> {
        with(parameters, |parameters| self.list(sql, parameters, read))
    }

    fn sum_sessions(&mut self, _: &str, _: &[Parameter]) -> Result<(), PostgresFailure> {
        Ok(())
    }

    fn remove_session(&mut self, session: i64) -> Result<(), PostgresFailure> {
        let terms = "
            WITH gone AS MATERIALIZED (
                SELECT DISTINCT lexeme FROM entries JOIN words ON words.entry = entries.id, unnest(vector)
                WHERE session = $1
            ) DELETE FROM terms USING gone WHERE term = lexeme AND NOT EXISTS (
                SELECT 1 FROM words JOIN entries ON entries.id = words.entry
                WHERE session <> $1 AND vector @@ CAST(quote_literal(lexeme) AS tsquery)
            )";
        self.run(terms, &[&session])?;
        self.run("UPDATE sources SET session = NULL WHERE session = $1", &[&session])?;
        self.run("DELETE FROM sessions WHERE id = $1", &[&session]).map(drop)
    }

    /// Raw logs are kept next to files only.
    fn take_kept(&mut self, _: &Parameter, _: bool) -> Result<Vec<String>, PostgresFailure> {
        Ok(Vec::new())
    }

    fn remove_unused(&mut self) -> Result<(), PostgresFailure> {
        let sql = "DELETE FROM models WHERE NOT EXISTS (
                       SELECT 1 FROM message_usage AS used WHERE used.model = models.model)";
        self.run(sql, &[])?;
        let sql = "DELETE FROM prices WHERE NOT EXISTS (
                       SELECT 1 FROM models WHERE md5(models.model) = md5(prices.model))";
        self.run(sql, &[])?;
        self.run(UNUSED_TERMS, &[]).map(drop)
    }

    fn size(&mut self) -> Result<Size, PostgresFailure> {
        let sizes = self.list(SIZES, &[], |row| {
            Ok(Size { entries: row.unsigned(0)?, rest: row.unsigned(1)? })
        })?;
        Ok(sizes.into_iter().next().unwrap_or_default())
    }

    /// Deleted rows do not count in the size.
    fn merge_words(&mut self) -> Result<(), PostgresFailure> {
        Ok(())
    }
}
