//! Sessions that were forgotten, of which nothing is written.

use foldline_domain::{Session, SessionId, SessionKey};
use rusqlite::{Connection, params};

use super::{
    super::{
        forget::remove,
        statements::{find, run},
    },
    SourceWriter, StoredSession,
};

/// Whether any session was ever forgotten.
pub(super) fn any(transaction: &Connection) -> rusqlite::Result<bool> {
    let found = find(transaction, "SELECT 1 FROM forgotten LIMIT 1", [], |_| Ok(()))?;
    Ok(found.is_some())
}

impl SourceWriter<'_> {
    /// Whether the session with this number was forgotten. One that only now states the id of a forgotten session is
    /// removed.
    pub(super) fn is_forgotten(
        &self,
        key: SessionKey,
        stored: Option<&StoredSession>,
        facts: &Session,
    ) -> rusqlite::Result<bool> {
        let (transaction, name) = (self.transaction, self.name.as_str());
        let sql = "SELECT 1 FROM forgotten WHERE source = ?1 AND number = ?2";
        if find(transaction, sql, params![name, key.0], |_| Ok(()))?.is_some() {
            return Ok(true);
        }
        let Some(id) = facts.session_id.as_ref().map(SessionId::as_str) else { return Ok(false) };
        // The id of a stored session does not change, so that one with an id is another session.
        if let Some(session) = stored {
            let sql = "SELECT 1 FROM sessions WHERE id = ?1 AND session_id IS NULL";
            if find(transaction, sql, [session.id], |_| Ok(()))?.is_none() {
                return Ok(false);
            }
        }
        let agent = facts.agent.as_ref().map(|agent| agent.decode().into_owned());
        let sql = "SELECT id, source = ?1 AND number IS NULL FROM forgotten
                   WHERE session_id = ?2 AND (?3 IS NULL OR agent IS NULL OR agent = ?3)
                     AND (anywhere OR source = ?1)
                   ORDER BY 2 DESC LIMIT 1";
        let read = |row: &dyn crate::Row| Ok((row.get::<i64>(0)?, row.get::<bool>(1)?));
        let mark = find(transaction, sql, params![name, id, agent], read)?;
        let Some((mark, is_of_this)) = mark else { return Ok(false) };
        if let Some(session) = stored {
            remove(transaction, session.id)?;
        }
        let sql = match is_of_this {
            true => {
                "UPDATE forgotten SET number = ?3,
                     crc32 = row_crc32(source, ?3, agent, session_id, anywhere)
                 WHERE id = ?1 AND source = ?2"
            }
            false => {
                "INSERT INTO forgotten (source, number, agent, session_id, anywhere, crc32)
                 SELECT ?2, ?3, agent, session_id, anywhere,
                        row_crc32(?2, ?3, agent, session_id, anywhere)
                 FROM forgotten WHERE id = ?1"
            }
        };
        run(transaction, sql, params![mark, name, key.0])?;
        Ok(true)
    }
}
