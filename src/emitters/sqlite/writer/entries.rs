//! New entries, with their words and calls.

use rusqlite::params;

use super::{
    super::{crc::execute_summed, prepared::NewRow},
    SourceWriter, StoredSession, signed,
};
use crate::conversation::CorrId;

impl SourceWriter<'_> {
    /// Adds entries to a session.
    ///
    /// Table by table, not entry by entry: the statement for a table, and where its indices grow, stay in the
    /// processor's cache meanwhile.
    pub(super) fn add_entries(
        &mut self,
        session: &mut StoredSession,
        entries: &[NewRow],
    ) -> rusqlite::Result<()> {
        let added = self.insert(session, entries)?;
        self.index(&added)?;
        self.open_entries(session.id, &added)?;
        let tools = added.iter().filter_map(|(id, NewRow { row, corr_id, .. })| {
            Some((*id, corr_id.as_ref()?, row.tool.as_ref()?))
        });
        self.receipt.entries += added.len() as u64;
        self.receipt.calls += self.add_tools(session.id, tools)?;
        Ok(())
    }

    /// Adds their rows; gives each with its number.
    fn insert<'e>(
        &self,
        session: &mut StoredSession,
        entries: &'e [NewRow],
    ) -> rusqlite::Result<Vec<(i64, &'e NewRow)>> {
        let mut insert = self.transaction.prepare_cached(
            "INSERT INTO entries (session, idx, type, code, timestamp, line, offset,
                                  parent_corr_id, metadata, content, output, crc32, id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?;
        let mut added = Vec::with_capacity(entries.len());
        for entry in entries {
            let idx = session.entries;
            session.entries += 1;
            // What was held back until now may have been said before the others were removed.
            if session.is_pruned(entry) {
                continue;
            }
            let NewRow { position, row, .. } = entry;
            let row = params![
                session.id,
                idx,
                row.type_name,
                row.code,
                row.timestamp,
                signed(position.line),
                signed(position.offset),
                row.parent_corr_id.as_ref().map(CorrId::as_str),
                row.metadata,
                row.content,
                row.output,
            ];
            execute_summed(&mut insert, row, None)?;
            added.push((self.transaction.last_insert_rowid(), entry));
        }
        Ok(added)
    }

    /// Adds their words.
    fn index(&self, added: &[(i64, &NewRow)]) -> rusqlite::Result<()> {
        // The texts are taken from the row: one that is bound would be copied twice. Not with INSERT .. SELECT,
        // for which SQLite would write the whole index out, in case it has to be undone.
        let mut index = self.transaction.prepare_cached(
            "INSERT INTO search (rowid, content, output)
             VALUES (?1, (SELECT content FROM entries WHERE id = ?1),
                         (SELECT output FROM entries WHERE id = ?1))",
        )?;
        for (id, _) in added {
            index.execute([id])?;
        }
        Ok(())
    }

    /// Notes those that grow.
    fn open_entries(&self, session: i64, added: &[(i64, &NewRow)]) -> rusqlite::Result<()> {
        let growing = added.iter().filter(|(_, entry)| entry.grows);
        for (id, NewRow { corr_id, .. }) in growing {
            let Some(corr_id) = corr_id else { continue };
            // Not with REPLACE, for which SQLite would write the whole search index out, too.
            self.close(session, corr_id)?;
            self.transaction
                .prepare_cached("INSERT INTO open_entries VALUES (?1, ?2, ?3)")?
                .execute(params![session, corr_id.as_str(), id])?;
        }
        Ok(())
    }
}
