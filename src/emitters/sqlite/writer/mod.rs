//! [`SourceWriter`]: rows into their tables, within a transaction.

mod entries;
mod tools;
mod totals;

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    crc::{execute_summed, sum_sessions},
    fold::Warnings,
    prepared::{ChangedRow, NewRow, Part},
    row::EntryRow,
};
use crate::{
    conversation::{
        CorrId, Outcome, Session, SessionId, SessionKey, TaskId, Text, Timestamp, Warning,
        WarningKind,
    },
    json,
    ledger::Receipt,
};

/// Writes what one source says.
pub(super) struct SourceWriter<'t> {
    transaction: &'t Connection,
    source: i64,
    /// The task of sessions that begin; without one it is the session's own id.
    task: Option<&'t TaskId>,
    receipt: Receipt,
}

/// A session of the source.
struct StoredSession {
    id: i64,
    /// How many entries it has.
    entries: i64,
    /// Entries before this byte were removed.
    pruned_to: Option<i64>,
}

impl StoredSession {
    fn is_pruned(&self, new: &NewRow) -> bool {
        self.pruned_to.is_some_and(|to| signed(new.position.offset) < to)
    }
}

impl<'t> SourceWriter<'t> {
    pub(super) fn new(transaction: &'t Connection, source: i64, task: Option<&'t TaskId>) -> Self {
        Self { transaction, source, task, receipt: Receipt::default() }
    }

    /// Writes what a segment says; returns what was added.
    pub(super) fn write(mut self, parts: &[Part]) -> rusqlite::Result<Receipt> {
        parts.iter().try_for_each(|part| self.write_part(part))?;
        Ok(self.receipt)
    }

    fn write_part(&mut self, part: &Part) -> rusqlite::Result<()> {
        let stored = self.session(part.session)?;
        // A change to an unknown entry is a warning, which is a row too.
        let mut unknown = Warnings::default();
        for (corr_id, change) in &part.changes {
            let is_known = match &stored {
                Some(session) => {
                    self.change(session.id, corr_id, change)? || session.pruned_to.is_some()
                }
                None => false,
            };
            if !is_known {
                let message = format!("an update for {corr_id}, which nobody knows");
                let warning = Warning::new(WarningKind::UnknownCorrelation, message);
                unknown.add(change.position, warning.call(corr_id.clone()));
                self.receipt.warnings += 1;
            }
        }
        if part.adds_nothing() && unknown.is_empty() {
            return Ok(());
        }
        let mut session = match stored {
            Some(session) => session,
            None => self.begin(part.session)?,
        };
        self.add_entries(&mut session, &part.entries)?;
        self.add_usage(session.id, &part.usage)?;
        for (kind, subject, warned) in part.warnings.iter().chain(unknown.iter()) {
            self.add_warning(session.id, kind, subject, warned)?;
        }
        self.learn(&session, &part.facts, part.span)
    }

    /// The session with this number, if it has begun.
    fn session(&self, key: SessionKey) -> rusqlite::Result<Option<StoredSession>> {
        self.transaction
            .prepare_cached(
                "SELECT id, entries, pruned_to FROM sessions WHERE source = ?1 AND number = ?2",
            )?
            .query_row(params![self.source, key.0], |row| {
                let (id, entries, pruned_to) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(StoredSession { id, entries, pruned_to })
            })
            .optional()
    }

    /// A session begins. Its checksum is that of what it [learns](Self::learn).
    fn begin(&mut self, key: SessionKey) -> rusqlite::Result<StoredSession> {
        self.transaction
            .prepare_cached(
                "INSERT INTO sessions (source, number, task, crc32) VALUES (?1, ?2, ?3, 0)",
            )?
            .execute(params![self.source, key.0, self.task.map(TaskId::as_str)])?;
        let id = self.transaction.last_insert_rowid();
        self.transaction
            .prepare_cached("UPDATE sources SET session = ?2 WHERE id = ?1")?
            .execute(params![self.source, id])?;
        self.receipt.sessions += 1;
        Ok(StoredSession { id, entries: 0, pruned_to: None })
    }

    fn learn(
        &self,
        session: &StoredSession,
        facts: &Session,
        span: Option<(Timestamp, Timestamp)>,
    ) -> rusqlite::Result<()> {
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.decode().into_owned());
        let own_task = facts.session_id.as_ref().filter(|_| self.task.is_none());
        let tools = facts.tools.as_ref().and_then(|tools| json::to_string(tools).ok());
        let (first, last) = span.unzip();
        self.transaction
            .prepare_cached(
                "UPDATE sessions SET
                     session_id = coalesce(?2, session_id), task = coalesce(task, ?3),
                     agent = coalesce(?4, agent), version = coalesce(?5, version),
                     model = coalesce(?6, model),
                     reasoning_effort = coalesce(?7, reasoning_effort), cwd = coalesce(?8, cwd),
                     title = coalesce(?9, title), tools = coalesce(?10, tools),
                     parent_session_id = coalesce(?11, parent_session_id),
                     outcome = coalesce(?12, outcome),
                     outcome_reason = coalesce(?13, outcome_reason),
                     turns = coalesce(?14, turns), duration_ms = coalesce(?15, duration_ms),
                     started_at = coalesce(?16, started_at), ended_at = coalesce(?17, ended_at),
                     first_at = min(coalesce(first_at, ?18), coalesce(?18, first_at)),
                     last_at = max(coalesce(last_at, ?19), coalesce(?19, last_at)),
                     entries = ?20, provider = coalesce(?21, provider),
                     branch = coalesce(?22, branch)
                 WHERE id = ?1",
            )?
            .execute(params![
                session.id,
                facts.session_id.as_ref().map(SessionId::as_str),
                own_task.map(SessionId::as_str),
                text(&facts.agent),
                text(&facts.version),
                text(&facts.model),
                text(&facts.reasoning_effort),
                text(&facts.cwd),
                text(&facts.title),
                tools,
                facts.parent_session_id.as_ref().map(SessionId::as_str),
                facts.outcome.map(Outcome::as_str),
                text(&facts.outcome_reason),
                facts.turns.map(signed),
                facts.duration_ms.map(signed),
                facts.started_at.map(Timestamp::as_millis),
                facts.ended_at.map(Timestamp::as_millis),
                first.map(Timestamp::as_millis),
                last.map(Timestamp::as_millis),
                session.entries,
                text(&facts.provider),
                text(&facts.branch),
            ])?;
        sum_sessions(self.transaction, "id = ?1", [session.id])
    }

    /// Whether there was an entry to be changed.
    fn change(
        &mut self,
        session: i64,
        corr_id: &CorrId,
        change: &ChangedRow,
    ) -> rusqlite::Result<bool> {
        let Some(id) = self.find(session, corr_id)? else { return Ok(false) };
        if let Some(row) = &change.whole {
            self.replace(id, session, corr_id, row)?;
        } else if !change.more.is_empty() {
            self.transaction
                .prepare_cached(
                    "UPDATE entries SET
                         content = content || ?2,
                         crc32 = row_crc32(session, idx, type, code, timestamp, line, offset,
                                           parent_corr_id, metadata, content || ?2, output)
                     WHERE id = ?1",
                )?
                .execute(params![id, change.more])?;
        }
        if change.closed {
            self.close(session, corr_id)?;
        }
        Ok(true)
    }

    /// An entry grows no more.
    fn close(&self, session: i64, corr_id: &CorrId) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached("DELETE FROM open_entries WHERE session = ?1 AND corr_id = ?2")?
            .execute(params![session, corr_id.as_str()])?;
        Ok(())
    }

    fn replace(
        &self,
        id: i64,
        session: i64,
        corr_id: &CorrId,
        row: &EntryRow,
    ) -> rusqlite::Result<()> {
        let stays = |row: &rusqlite::Row<'_>| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
        };
        let (idx, line, offset) = self
            .transaction
            .prepare_cached("SELECT idx, line, offset FROM entries WHERE id = ?1")?
            .query_row([id], stays)?;
        execute_summed(
            &mut *self.transaction.prepare_cached(
                "UPDATE entries SET type = ?3, code = ?4, timestamp = ?5, parent_corr_id = ?8,
                                    metadata = ?9, content = ?10, output = ?11, crc32 = ?12
                 WHERE id = ?13",
            )?,
            params![
                session,
                idx,
                row.type_name,
                row.code,
                row.timestamp,
                line,
                offset,
                row.parent_corr_id.as_ref().map(CorrId::as_str),
                row.metadata,
                row.content,
                row.output,
            ],
            Some(id),
        )?;
        match &row.tool {
            Some(tool) => self.replace_tool(id, session, corr_id, tool),
            None => Ok(()),
        }
    }

    /// The entry that changes under this id update: a text that grows, else the latest call.
    fn find(&self, session: i64, corr_id: &CorrId) -> rusqlite::Result<Option<i64>> {
        let growing = "SELECT entry FROM open_entries WHERE session = ?1 AND corr_id = ?2";
        let call = "SELECT entry FROM tool_calls WHERE session = ?1 AND corr_id = ?2
                    ORDER BY entry DESC LIMIT 1";
        for query in [growing, call] {
            let found = self
                .transaction
                .prepare_cached(query)?
                .query_row(params![session, corr_id.as_str()], |row| row.get(0))
                .optional()?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// SQLite's integers have a sign. What does not fit becomes the largest one.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
