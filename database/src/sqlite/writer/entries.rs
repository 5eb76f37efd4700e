//! Inserts new entries, with their words and calls.

use rusqlite::params;

use super::super::statements::run;
use super::{Place, SourceWriter, StoredSession, signed};
use crate::NewEntry;

impl SourceWriter<'_> {
    /// Adds entries to a session.
    ///
    /// Works table by table, not entry by entry, so that the statement of a table and the ends of its indices
    /// stay in the CPU cache.
    pub(super) fn add_entries(
        &mut self,
        session: &mut StoredSession,
        entries: &[NewEntry],
    ) -> rusqlite::Result<()> {
        let added = self.insert(session, entries)?;
        self.open_entries(session.id, &added)?;
        let tools = added.iter().filter_map(|(id, NewEntry { entry, corr_id, .. })| {
            Some((*id, corr_id.as_ref()?, entry.tool.as_ref()?))
        });
        self.receipt.entries += added.len() as u64;
        self.receipt.calls += self.add_tools(session.id, tools)?;
        self.index(added.iter().map(|(id, _)| *id))
    }

    /// Inserts the rows; returns each entry with its number.
    fn insert<'e>(
        &self,
        session: &mut StoredSession,
        entries: &'e [NewEntry],
    ) -> rusqlite::Result<Vec<(i64, &'e NewEntry)>> {
        let mut insert = self.transaction.prepare_cached(
            "INSERT INTO entries (session, idx, type, code, timestamp, line, offset,
                                  parent_corr_id, metadata, content, output, crc32, id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?;
        let mut added = Vec::with_capacity(entries.len());
        for new in entries {
            let (line, offset) = (signed(new.position.line), signed(new.position.offset));
            let place = Place { idx: session.entries, line, offset };
            session.entries += 1;
            // A delayed entry may be older than the pruned entries.
            if session.is_pruned(new) {
                continue;
            }
            place.write(&mut insert, session.id, &new.entry, None)?;
            added.push((self.transaction.last_insert_rowid(), new));
        }
        Ok(added)
    }

    /// Adds the words of entries to the search index, of which the calls are in their table.
    pub(super) fn index(&self, mut entries: impl Iterator<Item = i64>) -> rusqlite::Result<()> {
        // The texts are read from the rows, since a bound text would be copied twice. For INSERT .. SELECT,
        // SQLite would flush the whole index to be able to undo it.
        let mut index = self.transaction.prepare_cached(
            "INSERT INTO search (rowid, content, arguments, output)
             VALUES (?1, (SELECT content FROM searched WHERE id = ?1),
                         (SELECT arguments FROM searched WHERE id = ?1),
                         (SELECT output FROM searched WHERE id = ?1))",
        )?;
        entries.try_for_each(|id| index.execute([id]).map(drop))
    }

    /// Records the entries that grow.
    fn open_entries(&self, session: i64, added: &[(i64, &NewEntry)]) -> rusqlite::Result<()> {
        let growing = added.iter().filter(|(_, entry)| entry.grows);
        for (id, NewEntry { corr_id, .. }) in growing {
            let Some(corr_id) = corr_id else { continue };
            // Not with REPLACE, for which SQLite would also flush the whole search index.
            self.close(session, corr_id)?;
            let sql = "INSERT INTO open_entries VALUES (?1, ?2, ?3)";
            run(self.transaction, sql, params![session, corr_id.as_str(), id])?;
        }
        Ok(())
    }
}
