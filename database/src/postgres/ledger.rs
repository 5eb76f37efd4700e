//! The [`Ledger`] implementation of [`Postgres`].

use foldline::ledger::{
    Checkpoint, Commit, CommitError, Ledger, Mark, Receipt, SourceFacts, SourceName,
};
use foldline_domain::{Json, Position, Timestamp};

use super::{
    Postgres,
    error::{PostgresError, PostgresFailure},
    statements::{Connection, text},
    writer,
};
use crate::{Rows, checkpoint};

/// Begins a transaction that writes rows. Several of them run at the same time, but none while something is removed: a
/// commit knows all forgotten sessions, and a removal knows all rows. Each statement sees what was committed before it.
const WRITING: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock_shared(7381237492955311471)";

/// Begins a transaction that removes rows. It waits for the end of those that write rows, and they wait for it.
pub(super) const REMOVING: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(7381237492955311471)";

impl Postgres {
    /// Begins the transaction of the next commit, unless a mark has another state than expected; an expected state of
    /// `null` means that there is no such mark. Until the commit, no other program can change these marks, so a program that
    /// passes the marks of its last commit detects every other program that moves them.
    ///
    /// Returns the first mark with another state, as it is stored; then no transaction is open.
    ///
    /// # Errors
    /// The database cannot be reached or read.
    pub fn begin_after(&mut self, expected: &[Mark]) -> Result<Option<Mark>, PostgresError> {
        self.transact(WRITING, |session| {
            for Mark { name, state: expected } in expected {
                // A mark that is not there yet cannot be locked as a row.
                let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
                session.list(lock, &[&text(name)], |_| Ok(()))?;
                let found = mark(session, name)?.unwrap_or_default();
                if found != *expected {
                    return Ok(Err(Mark { name: name.clone(), state: found }));
                }
            }
            Ok(Ok(()))
        })
        .map(Result::err)
    }

    /// The known marks, sorted by name.
    ///
    /// # Errors
    /// The database cannot be reached or read.
    pub fn marks(&self) -> Result<Vec<Mark>, PostgresError> {
        let sql = "SELECT name, state FROM outputs ORDER BY name";
        let marks = self
            .session()
            .list(sql, &[], |row| Ok(Mark { name: row.get(0)?, state: row.state(1)? }));
        marks.map_err(|error| error.of(&self.address.name))
    }

    /// Writes in the open transaction, or in a new one, which stays open. An error rolls it back, and so does `Err` within
    /// the result.
    pub(super) fn transact<T, E>(
        &mut self,
        begin: &str,
        write: impl FnOnce(&mut Connection) -> Result<Result<T, E>, PostgresFailure>,
    ) -> Result<Result<T, E>, PostgresError> {
        let has_begun = std::mem::replace(&mut self.has_begun, false);
        let mut session = self.session.borrow_mut();
        let fail = |error: PostgresFailure| error.of(&self.address.name);
        let begun = match has_begun {
            true => Ok(()),
            false => session.client.batch_execute(begin).map_err(PostgresFailure::from),
        };
        let written = begun.and_then(|()| write(&mut session));
        if !matches!(written, Ok(Ok(_))) {
            // If the connection is lost, the server rolls back.
            let _ = session.client.batch_execute("ROLLBACK");
        }
        let written = written.map_err(fail)?;
        drop(session);
        self.has_begun = written.is_ok();
        Ok(written)
    }
}

impl Ledger for Postgres {
    type Output = Rows;
    type Receipt = Receipt;
    type Error = PostgresError;

    fn load(&mut self, source: &SourceName) -> Result<Option<Checkpoint>, PostgresError> {
        let sql = format!("SELECT {} FROM sources WHERE name = $1", checkpoint::COLUMNS);
        let found = self.session().find(&sql, &[&text(source.as_str())], checkpoint::read);
        found.map_err(|error| error.of(&self.address.name))
    }

    fn commit(
        &mut self,
        commits: &[Commit<Rows>],
        beside: &[Mark],
    ) -> Result<Receipt, CommitError<PostgresError>> {
        let receipt = self
            .transact(WRITING, |session| {
                let receipt = match write_all(session, commits)? {
                    Ok(receipt) => receipt,
                    Err(moved) => return Ok(Err(moved)),
                };
                write_marks(session, beside)?;
                session.client.batch_execute("COMMIT")?;
                Ok(Ok(receipt))
            })
            .map_err(CommitError::Failed)?;
        self.has_begun = false;
        receipt
    }

    fn mark(&mut self, name: &str) -> Result<Option<Json>, PostgresError> {
        mark(&mut self.session(), name).map_err(|error| error.of(&self.address.name))
    }

    fn forget(&mut self, source: &SourceName) -> Result<bool, PostgresError> {
        let sql = "DELETE FROM sources WHERE name = $1";
        let removed = self.session().run(sql, &[&text(source.as_str())]);
        Ok(removed.map_err(|error| error.of(&self.address.name))? > 0)
    }
}

fn mark(session: &mut Connection, name: &str) -> Result<Option<Json>, PostgresFailure> {
    let sql = "SELECT state FROM outputs WHERE md5(name) = md5($1)";
    session.find(sql, &[&text(name)], |row| row.state(0))
}

fn write_marks(session: &mut Connection, marks: &[Mark]) -> Result<(), PostgresFailure> {
    let sql = "INSERT INTO outputs (name, state) VALUES ($1, $2)
               ON CONFLICT (md5(name)) DO UPDATE SET state = excluded.state";
    marks.iter().try_for_each(|Mark { name, state }| {
        session.run(sql, &[&text(name), &text(state.get())]).map(drop)
    })
}

fn write_all(
    session: &mut Connection,
    commits: &[Commit<Rows>],
) -> Result<Result<Receipt, CommitError<PostgresError>>, PostgresFailure> {
    let mut writer = writer::RowWriter::new(session, commits)?;
    for commit in commits {
        let sql = "SELECT id, forgotten, line, \"offset\" FROM sources WHERE name = $1 FOR UPDATE";
        let name = commit.source.as_str();
        let stored = writer.session.find(sql, &[&text(name)], |row| {
            Ok(((row.get::<i64>(0)?, row.get::<bool>(1)?), row.position(2)?))
        })?;
        let (row, stored) = stored.unzip();
        let (id, is_forgotten) = row.unzip();
        // Nothing more is stored of a forgotten source.
        if stored != commit.expected || is_forgotten == Some(true) {
            let (source_name, expected) = (commit.source.clone(), commit.expected);
            return Ok(Err(CommitError::Moved { source_name, expected, stored }));
        }
        if let Some(id) = id {
            leave_file(writer.session, id, commit)?;
        }
        let id = write_source(writer.session, id, commit)?;
        writer.write(id, commit)?;
    }
    Ok(Ok(writer.finish()?))
}

/// Forgets up to which byte the sessions of a source were pruned, unless the commit certainly continues the same file:
/// in the next file of a rotated log, positions restart, and its entries were not pruned.
fn leave_file(
    session: &mut Connection,
    id: i64,
    commit: &Commit<Rows>,
) -> Result<(), PostgresFailure> {
    let Checkpoint { facts, position, .. } = &commit.checkpoint;
    let first_line = facts.identity.first_line.map(|digest| digest.as_bytes().to_vec());
    // No offset is less than 0. The session is marked as pruned nevertheless.
    let sql =
        "UPDATE sessions SET pruned_to = 0 WHERE source = $1 AND pruned_to > 0 AND NOT EXISTS (
                   SELECT 1 FROM sources WHERE id = $1 AND first_line = $2 AND \"offset\" <= $3)";
    session.run(sql, &[&id, &first_line, &position.offset.cast_signed()]).map(drop)
}

/// Writes the row of the source of a commit; returns its number.
fn write_source(
    session: &mut Connection,
    id: Option<i64>,
    commit: &Commit<Rows>,
) -> Result<i64, PostgresFailure> {
    let Commit { source, checkpoint, .. } = commit;
    let Checkpoint { facts, position, state, complete } = checkpoint;
    let SourceFacts { path, format, task: _, host, user, identity } = facts;
    let sql = match id {
        None => {
            "INSERT INTO sources (name, path, format, device, inode, size, modified_at, changed_ns, read_length,
                                  read_edges, read_sha256, first_line, line, \"offset\", state, complete, host, user_name)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) RETURNING id"
        }
        Some(_) => {
            "UPDATE sources SET
                 name = $1, path = $2, format = $3, device = $4, inode = $5, size = $6, modified_at = $7,
                 changed_ns = $8, read_length = $9, read_edges = $10, read_sha256 = $11, first_line = $12, line = $13,
                 \"offset\" = $14, state = $15, complete = $16, host = $17, user_name = $18
             WHERE id = $19 RETURNING id"
        }
    };
    let Position { line, offset } = *position;
    let (name, path, format, state) =
        (text(source.as_str()), text(path), text(format), text(state.get()));
    let (device, inode) =
        (identity.device.map(u64::cast_signed), identity.inode.map(u64::cast_signed));
    let (size, length) = (identity.size.cast_signed(), identity.read.length.cast_signed());
    let modified = identity.modified.map(Timestamp::as_millis);
    let edges = identity.read.edges.as_bytes().as_slice();
    let content = identity.content.map(|digest| digest.as_bytes().to_vec());
    let first_line = identity.first_line.map(|digest| digest.as_bytes().to_vec());
    let (line, offset) = (line.cast_signed(), offset.cast_signed());
    let (host, user) = (host.as_deref().map(text), user.as_deref().map(text));
    let row: [super::statements::Argument<'_>; 18] = [
        &name,
        &path,
        &format,
        &device,
        &inode,
        &size,
        &modified,
        &identity.changed,
        &length,
        &edges,
        &content,
        &first_line,
        &line,
        &offset,
        &state,
        complete,
        &host,
        &user,
    ];
    let written = match &id {
        None => session.find(sql, &row, |row| row.get::<i64>(0))?,
        Some(id) => {
            session.find(sql, &[row.as_slice(), &[id]].concat(), |row| row.get::<i64>(0))?
        }
    };
    Ok(written.or(id).unwrap_or_default())
}
