//! [`RowWriter`]: writes the rows of a transaction.

mod copied;
mod totals;

use foldline::ledger::{Commit, Receipt, SourceName};
use foldline_domain::{
    ActiveTime, CorrId, Outcome, Session, SessionId, SessionKey, Text, Timestamp, Warning,
    WarningKind, title,
};

use self::copied::Copied;
use super::{
    error::PostgresFailure,
    statements::{Connection, signed, text},
};
use crate::{Change, EntryRow, Fold, NewEntry, Rows, ToolRow, Warnings, removal};

/// Writes the rows of a transaction. New rows are collected, and copied table by table.
pub(super) struct RowWriter<'s> {
    pub(super) session: &'s mut Connection,
    copied: Copied,
    /// Whether any session was ever forgotten.
    has_forgotten: bool,
    receipt: Receipt,
}

/// A session of a source.
struct WrittenSession {
    id: i64,
    /// The number of entries.
    entries: i64,
    /// Entries before this byte were removed.
    pruned_to: Option<i64>,
    /// Whether a line of a prompt names it already.
    has_prompt: bool,
    /// The active time so far.
    active: ActiveTime,
}

impl WrittenSession {
    fn is_pruned(&self, new: &NewEntry) -> bool {
        self.pruned_to.is_some_and(|to| signed(new.position.offset) < to)
    }
}

/// The entry that changes under an id.
struct ChangingEntry {
    id: i64,
    is_prompt: bool,
}

impl<'s> RowWriter<'s> {
    /// Reserves the numbers of all new entries.
    pub(super) fn new(
        session: &'s mut Connection,
        commits: &[Commit<Rows>],
    ) -> Result<Self, PostgresFailure> {
        let parts = commits.iter().flat_map(|commit| &commit.output.parts);
        let count: usize = parts.map(|(_, part)| part.entries.len()).sum();
        let sql = "SELECT nextval('entry_ids') FROM generate_series(1, $1::bigint)";
        let ids = match count {
            0 => Vec::new(),
            count => {
                session.list(sql, &[&i64::try_from(count).unwrap_or(i64::MAX)], |row| row.get(0))?
            }
        };
        let has_forgotten = removal::any_forgotten(session)?;
        let (copied, receipt) = (Copied::new(ids), Receipt::default());
        Ok(Self { session, copied, has_forgotten, receipt })
    }

    /// Writes the rows of a source.
    pub(super) fn write(
        &mut self,
        source: i64,
        commit: &Commit<Rows>,
    ) -> Result<(), PostgresFailure> {
        let task = commit.checkpoint.facts.task.as_deref();
        for (key, part) in &commit.output.parts {
            self.write_part((source, &commit.source), task, *key, part)?;
        }
        self.receipt.warnings += commit.output.warnings;
        Ok(())
    }

    /// Copies what was collected; returns what was added.
    pub(super) fn finish(mut self) -> Result<Receipt, PostgresFailure> {
        self.copied.flush(self.session)?;
        Ok(self.receipt)
    }

    fn write_part(
        &mut self,
        (source, name): (i64, &SourceName),
        task: Option<&str>,
        key: SessionKey,
        part: &Fold,
    ) -> Result<(), PostgresFailure> {
        let number = i64::from(key.0);
        let sql = "SELECT id, entries, prompt_line IS NOT NULL, last_at, active_ms, pruned_to FROM sessions
                   WHERE source = $1 AND number = $2";
        let stored = self.session.find(sql, &[&source, &number], |row| {
            let last: Option<i64> = row.get(3)?;
            let millis = row.get::<i64>(4)?.unsigned_abs();
            let active = ActiveTime { last: last.map(Timestamp::from_millis), millis };
            Ok(WrittenSession {
                id: row.get(0)?,
                entries: row.get(1)?,
                pruned_to: row.get(5)?,
                has_prompt: row.get(2)?,
                active,
            })
        })?;
        if self.has_forgotten {
            let id = stored.as_ref().map(|stored| stored.id);
            if id.is_some() && part.facts.session_id.is_some() {
                // The session may be removed, whose new rows would then refer to nothing.
                self.copied.flush(self.session)?;
            }
            if removal::is_forgotten(self.session, name, key, id, &part.facts)? {
                return Ok(());
            }
        }
        // A change to an unknown entry becomes a warning, which is also a row.
        let mut unknown = Warnings::default();
        if !part.changes.is_empty() {
            self.copied.flush(self.session)?;
        }
        for (corr_id, change) in &part.changes {
            let is_known = match &stored {
                Some(session) => {
                    self.change(session, corr_id, change)? || session.pruned_to.is_some()
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
            None => self.begin(source, number, task)?,
        };
        self.add_authority(&session, &part.authority)?;
        let added = self.add_entries(&mut session, &part.entries);
        self.add_usage(session.id, &part.usage)?;
        self.add_warnings(session.id, part.warnings.iter().chain(unknown.iter()))?;
        self.learn(&session, task, part, &added)?;
        self.add_titles(session.id, part)?;
        self.add_limits(session.id, part.facts.limits.as_deref().unwrap_or_default())
    }

    fn begin(
        &mut self,
        source: i64,
        number: i64,
        task: Option<&str>,
    ) -> Result<WrittenSession, PostgresFailure> {
        let sql = "WITH begun AS (
                       INSERT INTO sessions (source, number, task) VALUES ($1, $2, $3) RETURNING id
                   ) UPDATE sources SET session = begun.id FROM begun WHERE sources.id = $1 RETURNING begun.id";
        let task = task.map(text);
        let id = self.session.find(sql, &[&source, &number, &task], |row| row.get(0))?;
        self.receipt.sessions += 1;
        let active = ActiveTime::default();
        let id = id.unwrap_or_default();
        Ok(WrittenSession { id, entries: 0, pruned_to: None, has_prompt: false, active })
    }

    /// Collects the rows of new entries; returns them.
    fn add_entries<'e>(
        &mut self,
        session: &mut WrittenSession,
        entries: &'e [NewEntry],
    ) -> Vec<&'e NewEntry> {
        let mut added = Vec::with_capacity(entries.len());
        for new in entries {
            let place = (session.id, session.entries);
            session.entries += 1;
            // A delayed entry may be older than the pruned entries.
            if session.is_pruned(new) {
                continue;
            }
            self.receipt.entries += 1;
            self.receipt.calls += u64::from(new.entry.tool.is_some() && new.corr_id.is_some());
            self.copied.add(place, new);
            added.push(new);
        }
        added
    }

    fn learn(
        &mut self,
        session: &WrittenSession,
        task: Option<&str>,
        part: &Fold,
        added: &[&NewEntry],
    ) -> Result<(), PostgresFailure> {
        let stated =
            |stated: &Option<Text>| stated.as_ref().map(|it| text(&it.decode()).into_owned());
        let Session { session_id, parent, .. } = &part.facts;
        let facts = &part.facts;
        let call = parent.as_ref().and_then(|parent| parent.corr_id.as_ref());
        let id_text = |id: &Option<SessionId>| id.as_ref().map(|id| text(id.as_str()).into_owned());
        let own_task = session_id.clone().filter(|_| task.is_none());
        let tools = facts.tools.as_ref().and_then(|tools| foldline_json::to_string(tools).ok());
        let (first, last) = part.span.unzip();
        let moment = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
        let title_line = facts.title.as_ref().and_then(|it| title::line(&it.decode(), true));
        let prompts = added.iter().filter(|_| !session.has_prompt).map(|new| &new.entry);
        let prompts: Vec<&EntryRow> = prompts.filter(|it| it.type_name == "user_message").collect();
        let line = |is_any| prompts.iter().find_map(|it| title::line(&it.content, is_any));
        let encoded = |line: Option<String>| line.map(|line| text(&line).into_owned());
        let sql = "UPDATE sessions SET
                       session_id = coalesce($2, session_id), task = coalesce(task, $3),
                       agent = coalesce($4, agent), version = coalesce($5, version), model = coalesce($6, model),
                       reasoning_effort = coalesce($7, reasoning_effort), cwd = coalesce($8, cwd),
                       title = coalesce($9, title), tools = coalesce($10, tools),
                       parent_session_id = coalesce($11, parent_session_id), outcome = coalesce($12, outcome),
                       outcome_reason = coalesce($13, outcome_reason), turns = coalesce($14, turns),
                       duration_ms = coalesce($15, duration_ms), started_at = coalesce($16, started_at),
                       ended_at = coalesce($17, ended_at), first_at = least(first_at, $18),
                       last_at = greatest(last_at, $19), entries = $20, provider = coalesce($21, provider),
                       branch = coalesce($22, branch), title_line = coalesce($23, title_line),
                       prompt_line = coalesce(prompt_line, $24),
                       any_prompt_line = coalesce(any_prompt_line, $25),
                       parent_relation = coalesce($26, parent_relation),
                       parent_call = coalesce($27, parent_call), active_ms = $28
                   WHERE id = $1";
        self.session.run(
            sql,
            &[
                &session.id,
                &id_text(session_id),
                &id_text(&own_task),
                &stated(&facts.agent),
                &stated(&facts.version),
                &stated(&facts.model),
                &stated(&facts.reasoning_effort),
                &stated(&facts.cwd),
                &stated(&facts.title),
                &encoded(tools),
                &facts.parent_session_id().map(|id| text(id.as_str())),
                &facts.outcome.map(Outcome::as_str),
                &stated(&facts.outcome_reason),
                &facts.turns.map(signed),
                &facts.duration_ms.map(signed),
                &moment(facts.started_at),
                &moment(facts.ended_at),
                &moment(first),
                &moment(last),
                &session.entries,
                &stated(&facts.provider),
                &stated(&facts.branch),
                &encoded(title_line),
                &encoded(line(false)),
                &encoded(line(true)),
                &parent.as_ref().map(|parent| parent.relation.as_str()),
                &call.map(|call| text(call.as_str())),
                &signed(part.active(session.active)),
            ],
        )?;
        Ok(())
    }

    /// Changes an entry; returns whether it exists.
    fn change(
        &mut self,
        session: &WrittenSession,
        corr_id: &CorrId,
        change: &Change,
    ) -> Result<bool, PostgresFailure> {
        // A text that grows, else the latest call.
        let sql = "SELECT id, type = 'user_message' FROM entries WHERE id = coalesce(
                       (SELECT entry FROM open_entries WHERE session = $1 AND md5(corr_id) = md5($2)),
                       (SELECT entry FROM tool_calls WHERE session = $1 AND md5(corr_id) = md5($2)
                        ORDER BY entry DESC LIMIT 1))";
        let id_text = text(corr_id.as_str());
        let found = self.session.find(sql, &[&session.id, &id_text], |row| {
            Ok(ChangingEntry { id: row.get(0)?, is_prompt: row.get(1)? })
        })?;
        let Some(ChangingEntry { id, is_prompt }) = found else { return Ok(false) };
        if let Some(row) = &change.whole {
            self.replace(id, session.id, corr_id, row)?;
        } else if !change.more.is_empty() {
            let sql = "UPDATE entries SET content = content || $2 WHERE id = $1 RETURNING content, output";
            let more = change.more.decode();
            let texts = self.session.find(sql, &[&id, &text(&more)], |row| {
                Ok((row.get::<String>(0)?, row.get::<Option<String>>(1)?))
            })?;
            let (content, output) = texts.unwrap_or_default();
            self.index(id, &content, output.as_deref(), None)?;
        }
        if change.closed {
            let sql = "DELETE FROM open_entries WHERE session = $1 AND md5(corr_id) = md5($2)";
            self.session.run(sql, &[&session.id, &id_text])?;
        }
        if is_prompt {
            self.name_again(session.id)?;
        }
        Ok(true)
    }

    fn replace(
        &mut self,
        id: i64,
        session: i64,
        corr_id: &CorrId,
        row: &EntryRow,
    ) -> Result<(), PostgresFailure> {
        let sql = "UPDATE entries SET type = $2, code = $3, timestamp = $4, parent_corr_id = $5, metadata = $6,
                                      content = $7, output = $8
                   WHERE id = $1";
        self.session.run(
            sql,
            &[
                &id,
                &row.type_name,
                &row.code.as_deref().map(text),
                &row.timestamp,
                &row.parent_corr_id.as_ref().map(|id| text(id.as_str())),
                &row.metadata.as_deref().map(text),
                &text(&row.content),
                &row.output.as_deref().map(text),
            ],
        )?;
        let call = row.tool.as_ref().map(|tool| (tool, row.metadata.as_deref()));
        self.index(id, &row.content, row.output.as_deref(), call)?;
        if let Some(tool) = &row.tool {
            self.session.run("DELETE FROM tool_calls WHERE entry = $1", &[&id])?;
            self.copied.add_tool(id, session, corr_id, tool);
        }
        Ok(())
    }

    /// Replaces the words of an entry.
    fn index(
        &mut self,
        id: i64,
        content: &str,
        output: Option<&str>,
        call: Option<(&ToolRow, Option<&str>)>,
    ) -> Result<(), PostgresFailure> {
        self.session.run("DELETE FROM words WHERE entry = $1", &[&id])?;
        self.copied.add_words(id, content, output, call);
        Ok(())
    }

    /// Determines the name again, after a prompt has grown.
    fn name_again(&mut self, session: i64) -> Result<(), PostgresFailure> {
        let sql = "SELECT content FROM entries WHERE session = $1 AND type = 'user_message' ORDER BY idx LIMIT 100";
        let prompts: Vec<String> = self.session.list(sql, &[&session], |row| row.get(0))?;
        let line = |is_any| prompts.iter().find_map(|prompt| title::line(prompt, is_any));
        let sql = "UPDATE sessions SET prompt_line = $2, any_prompt_line = $3 WHERE id = $1";
        let encoded = |line: Option<String>| line.map(|line| text(&line).into_owned());
        self.session.run(sql, &[&session, &encoded(line(false)), &encoded(line(true))]).map(drop)
    }
}
