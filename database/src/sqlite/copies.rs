//! Files that are copies of sources, or of their beginnings.

use foldline::ledger::{Identity, SourceName};
use foldline_domain::Digest;
use rusqlite::{Connection, params};

use super::{Database, Known, SqliteError, statements::list};
use crate::Row;

/// A content that is a prefix of the committed part of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The source.
    pub source: SourceName,
    /// The SHA-256 value of the content.
    pub content: Digest,
    /// The file with the content. Its [`size`](Identity::size) is the size of the content.
    pub file: Identity,
}

impl Database {
    /// The source of which this file is a known copy, if the metadata of the file shows that it is unchanged.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn source_of_copy(&self, file: &Identity) -> Result<Option<Known>, SqliteError> {
        let Identity { device: Some(device), inode: Some(inode), changed: Some(changed), .. } =
            file
        else {
            return Ok(None);
        };
        let known = self.known(
            "SELECT name, forgotten FROM copies JOIN sources ON sources.id = copies.source
             WHERE copies.inode = ?1 AND copies.device = ?2 AND copies.size = ?3
               AND copies.changed_ns = ?4",
            params![inode.cast_signed(), device.cast_signed(), file.size.cast_signed(), changed],
        )?;
        Ok(known.into_iter().next())
    }

    /// The contents that are known prefixes of a source.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn copies_of(&self, source: &SourceName) -> Result<Vec<Copy>, SqliteError> {
        self.with(|connection| copies_of(connection, source))
    }

    /// Records copies: their files need not be read again, and their contents add nothing even after the
    /// original was deleted. A content that is longer than the committed part of its source is not recorded.
    ///
    /// # Errors
    /// The database cannot be written; then no copy is recorded.
    pub fn remember_copies(&mut self, copies: &[Copy]) -> Result<(), SqliteError> {
        if copies.is_empty() {
            return Ok(());
        }
        self.change(|transaction| write(transaction, copies))
    }
}

pub(super) fn copies_of(
    connection: &Connection,
    source: &SourceName,
) -> rusqlite::Result<Vec<Copy>> {
    let copy = |row: &dyn Row| {
        let file = Identity {
            size: row.unsigned(1)?,
            device: row.count(2)?,
            inode: row.count(3)?,
            changed: row.get(4)?,
            ..Identity::default()
        };
        Ok(Copy { source: source.clone(), content: row.get::<[u8; 32]>(0)?.into(), file })
    };
    let sql = "SELECT sha256, copies.size, copies.device, copies.inode, copies.changed_ns
               FROM copies JOIN sources ON sources.id = copies.source
               WHERE name = ?1 ORDER BY copies.size";
    list(connection, sql, [source.as_str()], copy)
}

pub(super) fn write(connection: &Connection, copies: &[Copy]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO copies (source, sha256, size, device, inode, changed_ns, crc32)
         SELECT id, ?2, ?3, ?4, ?5, ?6, row_crc32(id, ?2, ?3, ?4, ?5, ?6) FROM sources WHERE name = ?1 AND read_length >= ?3",
    )?;
    for Copy { source, content, file } in copies {
        insert.execute(params![
            source.as_str(),
            content.as_bytes(),
            file.size.cast_signed(),
            file.device.map(u64::cast_signed),
            file.inode.map(u64::cast_signed),
            file.changed,
        ])?;
    }
    Ok(())
}
