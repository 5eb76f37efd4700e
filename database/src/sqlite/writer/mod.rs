//! [`SourceWriter`]: writes rows into their tables, within a transaction.

mod entries;
mod tools;
mod totals;

use foldline::ledger::{Receipt, SourceName};
use foldline_domain::{
    ActiveTime, CorrId, Outcome, SessionId, SessionKey, Text, Timestamp, Warning, WarningKind,
};
use rusqlite::{Connection, Statement, params};

use super::{
    crc::{execute_summed, sum_sessions},
    replace,
    statements::{find, run},
};
use crate::{Change, EntryRow, Fold, NewEntry, Warnings, removal};

/// Writes the rows of one source.
pub(super) struct SourceWriter<'t> {
    transaction: &'t Connection,
    source: i64,
    name: &'t SourceName,
    /// Whether any session was ever forgotten.
    has_forgotten: bool,
    /// The task of new sessions; the default is the session's id.
    task: Option<&'t str>,
    receipt: Receipt,
}

/// A session of the source.
struct StoredSession {
    id: i64,
    /// The number of entries.
    entries: i64,
    /// Entries before this byte were removed.
    pruned_to: Option<i64>,
    /// The active time so far.
    active: ActiveTime,
}

impl StoredSession {
    fn is_pruned(&self, new: &NewEntry) -> bool {
        self.pruned_to.is_some_and(|to| signed(new.position.offset) < to)
    }
}

/// The place of an entry in its session and in the log.
struct Place {
    idx: i64,
    line: i64,
    offset: i64,
}

impl Place {
    /// Writes the row of an entry: a new row, or the row with this id.
    fn write(
        &self,
        statement: &mut Statement<'_>,
        session: i64,
        row: &EntryRow,
        id: Option<i64>,
    ) -> rusqlite::Result<()> {
        let columns = params![
            session,
            self.idx,
            row.type_name,
            row.code,
            row.timestamp,
            self.line,
            self.offset,
            row.parent_corr_id.as_ref().map(CorrId::as_str),
            row.metadata,
            row.content,
            row.output,
        ];
        execute_summed(statement, columns, id).map(drop)
    }
}

impl<'t> SourceWriter<'t> {
    pub(super) fn new(
        transaction: &'t Connection,
        source: i64,
        name: &'t SourceName,
        task: Option<&'t str>,
    ) -> rusqlite::Result<Self> {
        let has_forgotten = removal::any_forgotten(&mut &*transaction)?;
        Ok(Self { transaction, source, name, has_forgotten, task, receipt: Receipt::default() })
    }

    /// Writes the rows of a segment; returns what was added.
    pub(super) fn write(mut self, parts: &[(SessionKey, Fold)]) -> rusqlite::Result<Receipt> {
        parts.iter().try_for_each(|(session, part)| self.write_part(*session, part))?;
        Ok(self.receipt)
    }

    fn write_part(&mut self, key: SessionKey, part: &Fold) -> rusqlite::Result<()> {
        let stored = self.session(key)?;
        if self.has_forgotten {
            let (mut transaction, id) = (self.transaction, stored.as_ref().map(|stored| stored.id));
            if removal::is_forgotten(&mut transaction, self.name, key, id, &part.facts)? {
                return Ok(());
            }
        }
        // A change to an unknown entry becomes a warning, which is also a row.
        let mut unknown = Warnings::default();
        for (corr_id, change) in &part.changes {
            let is_known = match &stored {
                Some(session) => {
                    self.change(session.id, corr_id, change)? || session.pruned_to.is_some()
                }
                None => false,
            };
            if !is_known {
                let message = format!("an update for {corr_id}, which is unknown");
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
            None => self.begin(key, part.facts.session_id.as_ref())?,
        };
        self.add_authority(&session, &part.authority)?;
        self.add_entries(&mut session, &part.entries)?;
        self.add_usage(session.id, &part.usage)?;
        for (kind, subject, warned) in part.warnings.iter().chain(unknown.iter()) {
            self.add_warning(session.id, kind, subject, warned)?;
        }
        self.learn(&session, part)?;
        self.add_titles(session.id, part)?;
        self.add_limits(session.id, part.facts.limits.as_deref().unwrap_or_default())
    }

    /// The session with this number, if it has begun.
    fn session(&self, key: SessionKey) -> rusqlite::Result<Option<StoredSession>> {
        let sql = "SELECT id, entries, pruned_to, last_at, active_ms FROM sessions WHERE source = ?1 AND number = ?2";
        find(self.transaction, sql, params![self.source, key.0], |row| {
            let last: Option<i64> = row.get(3)?;
            let millis = row.get::<i64>(4)?.unsigned_abs();
            let active = ActiveTime { last: last.map(Timestamp::from_millis), millis };
            Ok(StoredSession {
                id: row.get(0)?,
                entries: row.get(1)?,
                pruned_to: row.get(2)?,
                active,
            })
        })
    }

    /// Inserts a session. [`learn`](Self::learn) writes its checksum.
    fn begin(
        &mut self,
        key: SessionKey,
        id: Option<&SessionId>,
    ) -> rusqlite::Result<StoredSession> {
        let sql =
            "INSERT INTO sessions (id, source, number, task, crc32) VALUES (?1, ?2, ?3, ?4, 0)";
        let id = replace::reserved(self.transaction, key.0.into(), id.map(SessionId::as_str))?;
        run(self.transaction, sql, params![id, self.source, key.0, self.task])?;
        let id = self.transaction.last_insert_rowid();
        let sql = "UPDATE sources SET session = ?2 WHERE id = ?1";
        run(self.transaction, sql, params![self.source, id])?;
        self.receipt.sessions += 1;
        Ok(StoredSession { id, entries: 0, pruned_to: None, active: ActiveTime::default() })
    }

    fn learn(&self, session: &StoredSession, part: &Fold) -> rusqlite::Result<()> {
        let Fold { facts, span, .. } = part;
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.decode().into_owned());
        let own_task = facts.session_id.as_ref().filter(|_| self.task.is_none());
        let tools = facts.tools.as_ref().and_then(|tools| foldline_json::to_string(tools).ok());
        let (first, last) = span.unzip();
        let sql = "UPDATE sessions SET
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
                       branch = coalesce(?22, branch),
                       parent_relation = coalesce(?23, parent_relation),
                       parent_call = coalesce(?24, parent_call), active_ms = ?25
                   WHERE id = ?1";
        run(
            self.transaction,
            sql,
            params![
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
                facts.parent_session_id().map(SessionId::as_str),
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
                facts.parent.as_ref().map(|parent| parent.relation.as_str()),
                facts.parent.as_ref().and_then(|parent| Some(parent.corr_id.as_ref()?.as_str())),
                signed(part.active(session.active)),
            ],
        )?;
        sum_sessions(self.transaction, "id = ?1", [session.id])
    }

    /// Changes an entry; returns whether it exists.
    fn change(
        &mut self,
        session: i64,
        corr_id: &CorrId,
        change: &Change,
    ) -> rusqlite::Result<bool> {
        let Some(id) = self.find(session, corr_id)? else { return Ok(false) };
        if let Some(row) = &change.whole {
            self.replace(id, session, corr_id, row)?;
        } else if !change.more.is_empty() {
            let sql = "UPDATE entries SET
                           content = content || ?2,
                           crc32 = row_crc32(session, idx, type, code, timestamp, line, offset,
                                             parent_corr_id, metadata, content || ?2, output)
                       WHERE id = ?1";
            run(self.transaction, sql, params![id, change.more.decode()])?;
        }
        if change.closed {
            self.close(session, corr_id)?;
        }
        Ok(true)
    }

    /// Marks an entry as complete.
    fn close(&self, session: i64, corr_id: &CorrId) -> rusqlite::Result<()> {
        let sql = "DELETE FROM open_entries WHERE session = ?1 AND corr_id = ?2";
        run(self.transaction, sql, params![session, corr_id.as_str()]).map(drop)
    }

    fn replace(
        &self,
        id: i64,
        session: i64,
        corr_id: &CorrId,
        row: &EntryRow,
    ) -> rusqlite::Result<()> {
        let sql = "SELECT idx, line, offset FROM entries WHERE id = ?1";
        let place = self.transaction.prepare_cached(sql)?.query_row([id], |row| {
            Ok(Place { idx: row.get(0)?, line: row.get(1)?, offset: row.get(2)? })
        })?;
        let mut update = self.transaction.prepare_cached(
            "UPDATE entries SET type = ?3, code = ?4, timestamp = ?5, parent_corr_id = ?8,
                                metadata = ?9, content = ?10, output = ?11, crc32 = ?12
             WHERE id = ?13",
        )?;
        place.write(&mut update, session, row, Some(id))?;
        match &row.tool {
            Some(tool) => self.replace_tool(id, session, corr_id, tool),
            None => Ok(()),
        }
    }

    /// The entry that changes under this id update: a text that grows, else the latest call.
    fn find(&self, session: i64, corr_id: &CorrId) -> rusqlite::Result<Option<i64>> {
        let sql = "SELECT coalesce(
                       (SELECT entry FROM open_entries WHERE session = ?1 AND corr_id = ?2),
                       (SELECT entry FROM tool_calls WHERE session = ?1 AND corr_id = ?2
                        ORDER BY entry DESC LIMIT 1))";
        let mut query = self.transaction.prepare_cached(sql)?;
        query.query_row(params![session, corr_id.as_str()], |row| row.get(0))
    }
}

/// SQLite's integers are signed. Larger values become the largest one.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
