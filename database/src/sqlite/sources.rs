//! The sources that a database knows, which a search for new sources needs.

use std::collections::BTreeSet;

use foldline::ledger::{Checkpoint, Identity, SourceName};
use foldline_domain::Digest;
use rusqlite::{Params, params};

use super::{
    Database, SqliteError,
    statements::{find, list},
};
use crate::Row;

/// A known source.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// Its name in the ledger.
    pub name: SourceName,
    /// The read position.
    pub checkpoint: Checkpoint,
    /// All of its sessions were forgotten, so nothing more is read of it.
    pub is_forgotten: bool,
}

/// A file that was read to its end, or was found to be a copy, and what the system said of it then.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// The source, which the file is, or of which it is a copy.
    pub name: SourceName,
    /// The path of the source.
    pub path: String,
    /// The format of the source.
    pub format: String,
    /// Whether the log was said to be complete.
    pub complete: bool,
    /// Whether the file is a copy.
    pub is_copy: bool,
    /// The metadata of the file.
    pub file: Identity,
    /// Whether all sessions of the source were forgotten.
    pub is_forgotten: bool,
}

impl Database {
    /// All files whose later changes the system would show: [`Identity::changed`] is known.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn settled(&self) -> Result<Vec<Settled>, SqliteError> {
        let sql = "SELECT name, path, format, complete, false, device, inode, size, changed_ns, forgotten, first_line
                   FROM sources
                   WHERE changed_ns IS NOT NULL AND inode IS NOT NULL AND read_length > 0
                   UNION ALL
                   SELECT name, path, format, complete, true, copies.device, copies.inode, copies.size, copies.changed_ns,
                          forgotten, first_line
                   FROM copies JOIN sources ON sources.id = copies.source
                   WHERE copies.changed_ns IS NOT NULL AND copies.inode IS NOT NULL";
        let settled = |row: &dyn Row| {
            let file = Identity {
                device: row.count(5)?,
                inode: row.count(6)?,
                size: row.unsigned(7)?,
                changed: row.get(8)?,
                first_line: row.get::<Option<[u8; 32]>>(10)?.map(Digest::from),
                ..Identity::default()
            };
            Ok(Settled {
                name: row.get::<String>(0)?.into(),
                path: row.get(1)?,
                format: row.get(2)?,
                complete: row.get(3)?,
                is_copy: row.get(4)?,
                file,
                is_forgotten: row.get(9)?,
            })
        };
        self.with(|connection| list(connection, sql, [], settled))
    }

    /// Whether a session with entries was read from this file, or from one below this folder.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn has_sessions_at(&self, path: &str) -> Result<bool, SqliteError> {
        let sql =
            "SELECT EXISTS (SELECT 1 FROM sessions JOIN sources ON sources.id = sessions.source
                   WHERE entries > 0 AND (path = ?1 OR substr(path, 1, length(?2)) = ?2))";
        let below = format!("{path}{}", std::path::MAIN_SEPARATOR);
        self.with(|connection| connection.query_row(sql, [path, &below], |row| row.get(0)))
    }

    /// The sources last seen at this path, the latest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn sources_at(&self, path: &str) -> Result<Vec<Known>, SqliteError> {
        self.known(
            "SELECT name, forgotten FROM sources WHERE path = ?1 ORDER BY id DESC",
            params![path],
        )
    }

    /// The sources last seen as this file.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn sources_of_file(&self, device: u64, inode: u64) -> Result<Vec<Known>, SqliteError> {
        self.known(
            "SELECT name, forgotten FROM sources WHERE inode = ?1 AND device = ?2 ORDER BY id DESC",
            params![inode.cast_signed(), device.cast_signed()],
        )
    }

    /// The sources whose first line has this digest: see [`Identity`](foldline::ledger::Identity::first_line).
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn sources_beginning(&self, first_line: Digest) -> Result<Vec<Known>, SqliteError> {
        self.known(
            "SELECT name, forgotten FROM sources WHERE first_line = ?1 ORDER BY id",
            params![first_line.as_bytes()],
        )
    }

    /// A name that is neither used nor reserved: the path, or the path and a number.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn free_name(
        &self,
        path: &str,
        reserved: &BTreeSet<SourceName>,
    ) -> Result<SourceName, SqliteError> {
        let sql = "SELECT 1 FROM sources WHERE name = ?1";
        let stored = |name: &str| self.with(|connection| find(connection, sql, [name], |_| Ok(())));
        let mut name = SourceName::from(path);
        let mut number = 1;
        while reserved.contains(&name) || stored(name.as_str())?.is_some() {
            number += 1;
            name = format!("{path}#{number}").into();
        }
        Ok(name)
    }

    /// The sources whose names, and whether they are forgotten, a query returns.
    pub(super) fn known(
        &self,
        sql: &str,
        parameters: impl Params,
    ) -> Result<Vec<Known>, SqliteError> {
        let named = |row: &dyn Row| Ok((row.get::<String>(0)?.into(), row.get(1)?));
        let names: Vec<(SourceName, bool)> =
            self.with(|connection| list(connection, sql, parameters, named))?;
        let mut known = Vec::new();
        for (name, is_forgotten) in names {
            if let Some(checkpoint) = self.stored(&name)? {
                known.push(Known { name, checkpoint, is_forgotten });
            }
        }
        Ok(known)
    }
}
