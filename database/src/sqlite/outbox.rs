//! The outbox: data for files next to a database, in the order of its commits.

use std::collections::BTreeSet;

use foldline::ledger::{Commit, CommitError, Mark, Receipt, SourceName};
use foldline_domain::{Digest, Json};
use rusqlite::{Connection, params};

use super::{
    Database, SqliteError,
    statements::{find, list, run},
};
use crate::{Row, Rows};

/// The longest row of the outbox, in bytes.
const PIECE: usize = 256 << 10;

/// The state of a file next to a database, such as an audit trail, at a commit.
///
/// Data for the file is first committed to the outbox, together with the rows of the same events, and then
/// written to the file ([`Database::outbox`]). So the file contains only committed data, and never has to be
/// truncated: the next run completes a run that was killed in between.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name and its state.
    pub mark: Mark,
    /// The file is synchronized up to this byte; the outbox need not keep earlier data.
    pub written: u64,
    /// The offset of [`bytes`](Self::bytes) in the file: the end of all earlier commits.
    pub offset: u64,
    /// The bytes that the commit appends.
    pub bytes: Vec<u8>,
    /// What of these bytes is not to be appended again when the source is read again.
    pub recorded: BTreeSet<(SourceName, Digest)>,
}

/// A known output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownOutput {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: Json,
    /// The number of the ledger's commits at the last commit of this output. Later commits were made without
    /// this output.
    pub commits: u64,
}

impl Database {
    /// The identity of this ledger: 32 random hexadecimal digits, made with the database. A copy of the
    /// database has the same one.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn id(&self) -> Result<String, SqliteError> {
        self.with(|connection| connection.query_row("SELECT id FROM ledger", [], |row| row.get(0)))
    }

    /// The number of transactions that added data of a source.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn commits(&self) -> Result<u64, SqliteError> {
        let sql = "SELECT commits FROM ledger";
        Ok(self.with(|connection| find(connection, sql, [], |row| row.unsigned(0)))?.unwrap_or(0))
    }

    /// The known outputs, sorted by name.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn outputs(&self) -> Result<Vec<KnownOutput>, SqliteError> {
        let output = |row: &dyn Row| {
            Ok(KnownOutput { name: row.get(0)?, state: row.state(1)?, commits: row.unsigned(2)? })
        };
        let sql = "SELECT name, state, commits FROM outputs ORDER BY name";
        self.with(|connection| list(connection, sql, [], output))
    }

    /// The committed data of an output from byte `offset` of its file, up to the end of one row of the outbox;
    /// `None` if there is none.
    ///
    /// Within a replacement this data is not yet committed, and must not be written to the file.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn outbox(&self, output: &str, offset: u64) -> Result<Option<Vec<u8>>, SqliteError> {
        let sql = "SELECT bytes FROM outbox WHERE output = ?1 AND offset = ?2";
        let place = params![output, offset.cast_signed()];
        self.with(|connection| find(connection, sql, place, |row| row.get(0)))
    }

    /// Whether an output has this of a source: see [`Output::recorded`].
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn is_recorded(
        &self,
        output: &str,
        source: &SourceName,
        record: Digest,
    ) -> Result<bool, SqliteError> {
        let sql = "SELECT 1 FROM recorded WHERE output = ?1 AND source = ?2 AND record = ?3";
        let key = params![output, source.as_str(), record.as_bytes()];
        Ok(self.with(|connection| find(connection, sql, key, |_| Ok(())))?.is_some())
    }

    /// Commits as [`Ledger::commit`](foldline::ledger::Ledger::commit) does, with outputs and the marks `beside`,
    /// if the ledger has exactly `after` commits: if it has more, another program committed without these
    /// outputs. Returns the new number of commits.
    ///
    /// # Errors
    /// As `commit` does, and [`SqliteError::Overtaken`].
    pub fn commit_with(
        &mut self,
        commits: &[Commit<Rows>],
        outputs: &[Output],
        beside: &[Mark],
        after: u64,
    ) -> Result<(Receipt, u64), CommitError<SqliteError>> {
        let path = self.path.clone();
        let mut now = after;
        let receipt = self.commit_and(commits, |transaction, before, commits| {
            if before != after {
                return Err(SqliteError::Overtaken(path));
            }
            now = commits;
            outputs
                .iter()
                .try_for_each(|output| write(transaction, output, commits))
                .and_then(|()| write_marks(transaction, beside, commits))
                .map_err(|error| SqliteError::new(&path, &error))
        })?;
        Ok((receipt, now))
    }
}

fn write(transaction: &Connection, output: &Output, commits: u64) -> rusqlite::Result<()> {
    let Output { mark, written, offset, bytes, recorded } = output;
    write_marks(transaction, std::slice::from_ref(mark), commits)?;
    let sql = "DELETE FROM outbox WHERE output = ?1 AND offset < ?2";
    run(transaction, sql, params![mark.name, written.cast_signed()])?;
    let mut offset = *offset;
    let mut insert = transaction
        .prepare_cached(
        "INSERT INTO outbox (output, offset, bytes, crc32) VALUES (?1, ?2, ?3, row_crc32(?1, ?2, ?3))",
    )?;
    for piece in bytes.chunks(PIECE) {
        insert.execute(params![mark.name, offset.cast_signed(), piece])?;
        offset += piece.len() as u64;
    }
    let sql = "INSERT INTO recorded (output, source, record, crc32) VALUES (?1, ?2, ?3, row_crc32(?1, ?2, ?3))";
    for (source, record) in recorded {
        run(transaction, sql, params![mark.name, source.as_str(), record.as_bytes()])?;
    }
    Ok(())
}

/// Writes the states of outputs, which include the first `commits` commits of the ledger.
pub(super) fn write_marks(
    transaction: &Connection,
    marks: &[Mark],
    commits: u64,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO outputs (name, state, commits, crc32)
               VALUES (?1, ?2, ?3, row_crc32(?1, ?2, ?3))";
    marks.iter().try_for_each(|Mark { name, state }| {
        run(transaction, sql, params![name, state.get(), commits.cast_signed()]).map(drop)
    })
}
