//! Which raw logs are kept beside the database, and whether they are at all. The files themselves are written by the
//! program.

use foldline::ledger::SourceName;
use foldline_domain::Digest;
use rusqlite::params;

use super::{
    Database, SqliteError,
    statements::{find, list, run},
};
use crate::Row;

/// The name of the setting.
const KEEP: &str = "keep";

/// A source whose log is not kept up to the position that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unkept {
    /// The source.
    pub source: SourceName,
    /// The path of its log.
    pub path: String,
    /// The format of its log.
    pub format: String,
    /// The SHA-256 value of what was read of it.
    pub content: Digest,
    /// The length of that, in bytes.
    pub length: u64,
    /// What is kept of it so far.
    pub before: Option<KeptLog>,
}

/// A log that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptLog {
    /// The source.
    pub source: SourceName,
    /// The path of the copy below the folder of kept logs.
    pub file: String,
    /// The SHA-256 value of the content.
    pub content: Digest,
    /// The length of the content, in bytes.
    pub size: u64,
    /// The length of the copy, in bytes.
    pub stored_size: u64,
}

/// Counts of the kept logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptTotals {
    /// Logs.
    pub logs: u64,
    /// Their length, in bytes.
    pub size: u64,
    /// The length of their copies, in bytes.
    pub stored_size: u64,
}

impl Database {
    /// Whether raw logs are kept.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn keeps_logs(&self) -> Result<bool, SqliteError> {
        let sql = "SELECT value = 'on' FROM settings WHERE name = ?1";
        let found = self.with(|connection| find(connection, sql, [KEEP], |row| row.get(0)))?;
        Ok(found.unwrap_or(false))
    }

    /// Sets whether raw logs are kept.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_keeps_logs(&mut self, keeps: bool) -> Result<(), SqliteError> {
        let value = if keeps { "on" } else { "off" };
        let sql = "INSERT OR REPLACE INTO settings (name, value, crc32)
                   VALUES (?1, ?2, row_crc32(?1, ?2))";
        self.change(|transaction| run(transaction, sql, [KEEP, value]).map(drop))
    }

    /// The sources whose logs are new or have grown since they were kept. A log with a session that was forgotten is
    /// not kept.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn unkept(&self) -> Result<Vec<Unkept>, SqliteError> {
        let sql = "SELECT name, path, format, read_sha256, read_length,
                          kept.file, kept.sha256, kept.size, kept.stored_size
                   FROM sources
                   LEFT JOIN kept ON kept.source = sources.name
                   WHERE read_sha256 IS NOT NULL AND read_length > 0
                     AND kept.sha256 IS NOT read_sha256 AND NOT sources.forgotten
                     AND NOT EXISTS (SELECT 1 FROM forgotten WHERE forgotten.source = sources.name)
                   ORDER BY sources.id";
        let unkept = |row: &dyn Row| {
            let source = SourceName::from(row.get::<String>(0)?);
            let before = match row.get::<Option<String>>(5)? {
                None => None,
                Some(file) => Some(KeptLog {
                    source: source.clone(),
                    file,
                    content: row.get::<[u8; 32]>(6)?.into(),
                    size: row.unsigned(7)?,
                    stored_size: row.unsigned(8)?,
                }),
            };
            Ok(Unkept {
                source,
                before,
                path: row.get(1)?,
                format: row.get(2)?,
                content: row.get::<[u8; 32]>(3)?.into(),
                length: row.unsigned(4)?,
            })
        };
        self.with(|connection| list(connection, sql, [], unkept))
    }

    /// Records the copy of a log, instead of an earlier one of the same source. Returns the file of that, if nothing
    /// else needs it. The source may have been forgotten meanwhile; then the new file is returned.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_kept(&mut self, log: &KeptLog) -> Result<Option<String>, SqliteError> {
        let KeptLog { source, file, content, size, stored_size } = log;
        self.change(|transaction| {
            let sql = "SELECT file FROM kept WHERE source = ?1";
            let before: Option<String> =
                find(transaction, sql, [source.as_str()], |row| row.get(0))?;
            let sql = "INSERT OR REPLACE INTO kept (source, file, sha256, size, stored_size, crc32)
                       SELECT ?1, ?2, ?3, ?4, ?5, row_crc32(?1, ?2, ?3, ?4, ?5)
                       WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE source = ?1)";
            let (size, stored) = (size.cast_signed(), stored_size.cast_signed());
            let row = params![source.as_str(), file, content.as_bytes(), size, stored];
            let left = if run(transaction, sql, row)? > 0 { before } else { Some(file.clone()) };
            let Some(left) = left else { return Ok(None) };
            let sql = "SELECT 1 FROM kept WHERE file = ?1";
            Ok(find(transaction, sql, [&left], |_| Ok(()))?.is_none().then_some(left))
        })
    }

    /// Counts the kept logs.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn kept_totals(&self) -> Result<KeptTotals, SqliteError> {
        let sql =
            "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(stored_size), 0) FROM kept";
        let totals = |row: &dyn Row| {
            let (logs, size, stored_size) = (row.unsigned(0)?, row.unsigned(1)?, row.unsigned(2)?);
            Ok(KeptTotals { logs, size, stored_size })
        };
        Ok(self.with(|connection| find(connection, sql, [], totals))?.unwrap_or_default())
    }
}
