//! Reads a stored session back as domain events.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use foldline_domain::{
    Authority, CorrId, DomainEvent, EntryIdx, Limit, NormalizedEntry, Parent, Position,
    RecordTitle, Session, Text, TokenUsage, Warning,
};

use super::{
    Parameter, Row, Store, StoreError, StoredEntry, Warned,
    query::{counts, sum, with_companions},
    read::warning_kind,
};

/// A stored session as domain events: the first read returns all events, each later read returns the new ones.
///
/// A consumer ends with the same result as from the log; intermediate states, such as the growth of a message,
/// are not stored. Pruned entries are missing. Warnings of one kind about one subject are stored as a number and the
/// first of them, which is repeated where it was.
#[derive(Debug)]
pub struct SessionEvents {
    session: i64,
    facts: Option<Session>,
    /// The index of the next entry, and the row of the last entry.
    next: i64,
    last: Option<(i64, i64)>,
    /// The last known state of entries that may still change.
    open: BTreeMap<EntryIdx, Arc<NormalizedEntry>>,
    /// The tokens by model.
    usage: BTreeMap<String, TokenUsage>,
    /// The numbers of warnings, by the keys of their rows.
    warned: BTreeMap<WarningKey, u64>,
    /// The warnings of entries that were not read yet.
    untold: VecDeque<Warned>,
}

/// The key of a row of warnings: its session, which may be a companion, its kind and its subject.
type WarningKey = (i64, String, String);

impl SessionEvents {
    /// Creates a reader of the session with this row id. Reads nothing yet.
    pub fn new(session: i64) -> Self {
        Self {
            session,
            facts: None,
            next: 0,
            last: None,
            open: BTreeMap::new(),
            usage: BTreeMap::new(),
            warned: BTreeMap::new(),
            untold: VecDeque::new(),
        }
    }

    /// Passes the events since the last read to `each`. Returns `false`, and passes nothing, if the rows do not
    /// continue the rows that were read: the log was replaced or pruned, or an incomplete message has grown.
    ///
    /// # Errors
    /// The database cannot be read, or the session is not there.
    pub fn read(
        &mut self,
        database: &dyn Store,
        each: impl FnMut(DomainEvent),
    ) -> Result<bool, StoreError> {
        self.read_until(database, i64::MAX, each)
    }

    /// Reads only the entries before this index; the tokens are told with the last one.
    pub(crate) fn read_until(
        &mut self,
        database: &dyn Store,
        end: i64,
        mut each: impl FnMut(DomainEvent),
    ) -> Result<bool, StoreError> {
        let mut is_continued = false;
        database.in_snapshot(&mut || {
            is_continued = self.read_rows(database, end, &mut each)?;
            Ok(())
        })?;
        Ok(is_continued)
    }

    fn read_rows(
        &mut self,
        database: &dyn Store,
        end: i64,
        each: &mut impl FnMut(DomainEvent),
    ) -> Result<bool, StoreError> {
        let facts = database.session(self.session)?;
        let usage = database.usage_of(self.session)?;
        let growing = database.growing(self.session)?;
        let Some(changed) = self.changed(database)? else { return Ok(false) };
        let is_smaller =
            |(model, old)| usage.get(model).is_none_or(|new: &TokenUsage| new.max(old) != *new);
        if self.usage.iter().any(is_smaller) {
            return Ok(false);
        }
        let Some(new) = self.new_warnings(database)? else { return Ok(false) };
        let mut warnings = std::mem::take(&mut self.untold);
        warnings.extend(new);
        let mut warn_to = |position: Position, each: &mut dyn FnMut(DomainEvent)| {
            while warnings.front().is_some_and(|new| new.position <= position)
                && let Some(Warned { count, first, .. }) = warnings.pop_front()
            {
                (0..count).for_each(|_| each(first.clone().into()));
            }
        };
        let is_growing = |index| growing.contains(&index);
        if self.facts.as_ref() != Some(&facts) {
            each(DomainEvent::Session(Box::new(facts.clone())));
            self.facts = Some(facts);
        }
        self.open.retain(|index, entry| entry.tool().is_some() || is_growing(*index));
        for StoredEntry { index, entry, .. } in changed {
            let Some(corr_id) = entry.corr_id().cloned() else { continue };
            let entry = Arc::new(entry);
            self.note(index, &entry, false);
            each(DomainEvent::UpdateToolCall { corr_id, entry });
        }
        database.entries(self.session, self.next..end, |stored| {
            warn_to(stored.position, each);
            let (index, entry) = (stored.index, Arc::new(stored.entry));
            self.next = i64::try_from(index.get()).unwrap_or(i64::MAX).saturating_add(1);
            self.note(index, &entry, is_growing(index));
            let Some((corr_id, tool)) = entry.corr_id().cloned().zip(entry.tool()) else {
                return each(DomainEvent::entry(entry));
            };
            let has_ended = tool.status.is_final();
            each(DomainEvent::NewToolCall { corr_id: corr_id.clone(), entry: entry.clone() });
            if has_ended {
                each(DomainEvent::UpdateToolCall { corr_id, entry });
            }
        })?;
        self.last = database.row(self.session, self.next - 1)?;
        if end != i64::MAX {
            self.untold = warnings;
            return Ok(true);
        }
        warn_to(Position { line: u64::MAX, offset: u64::MAX }, each);
        for (model, now) in &usage {
            let before = self.usage.get(model);
            if before != Some(now) {
                let usage = Box::new(now.since(&before.copied().unwrap_or_default()));
                let model = (!model.is_empty()).then(|| model.as_str().into());
                each(DomainEvent::Usage { usage, model, message_id: None, timestamp: None });
            }
        }
        self.usage = usage;
        Ok(true)
    }

    /// The open calls that have changed; `None` if rows that were read are missing or changed.
    fn changed(&self, database: &dyn Store) -> Result<Option<Vec<StoredEntry>>, StoreError> {
        if self.last != database.row(self.session, self.next - 1)? {
            return Ok(None);
        }
        let mut changed = Vec::new();
        for (index, known) in &self.open {
            let at = i64::try_from(index.get()).unwrap_or(i64::MAX);
            let mut found = None;
            database.entries(self.session, at..at.saturating_add(1), |it| found = Some(it))?;
            match found {
                Some(now) if now.entry == **known => {}
                Some(now) if known.tool().is_some() && now.entry.corr_id() == known.corr_id() => {
                    changed.push(now);
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(changed))
    }

    /// The warnings since the last read, in the order of the log; `None` if there are fewer than before.
    fn new_warnings(
        &mut self,
        database: &dyn Store,
    ) -> Result<Option<VecDeque<Warned>>, StoreError> {
        let (mut new, mut now) = (VecDeque::new(), BTreeMap::new());
        for (key, mut warned) in database.warnings_of(self.session)? {
            now.insert(key.clone(), warned.count);
            let before = self.warned.remove(&key).unwrap_or(0);
            let Some(more) = warned.count.checked_sub(before) else { return Ok(None) };
            warned.count = more;
            new.push_back(warned);
        }
        let is_continued = self.warned.is_empty();
        self.warned = now;
        Ok(is_continued.then_some(new))
    }

    /// Notes whether an entry may still change.
    fn note(&mut self, index: EntryIdx, entry: &Arc<NormalizedEntry>, is_growing: bool) {
        if is_growing || entry.tool().is_some_and(|tool| !tool.status.is_final()) {
            self.open.insert(index, Arc::clone(entry));
        } else {
            self.open.remove(&index);
        }
    }
}

impl dyn Store + '_ {
    /// Passes the domain events of the session with this row id to `each`; see [`SessionEvents`].
    ///
    /// # Errors
    /// The database cannot be read, or the session is not there.
    pub fn events(&self, session: i64, each: impl FnMut(DomainEvent)) -> Result<(), StoreError> {
        SessionEvents::new(session).read(self, each).map(drop)
    }

    /// The facts of the session with this row id, and those that only a companion of it states.
    ///
    /// # Errors
    /// There is no such session, or the database cannot be read.
    pub fn session(&self, session: i64) -> Result<Session, StoreError> {
        let columns = "session_id, agent, version, model, provider, reasoning_effort, cwd, title, tools,
                       parent_session_id, outcome, outcome_reason, turns, duration_ms, started_at, ended_at, branch,
                       parent_relation, parent_call";
        // The session itself is the last one.
        let parameter = self.dialect().parameter(1);
        let sql = format!(
            "SELECT {columns} FROM sessions WHERE id IN ({}) ORDER BY id = {parameter}, id DESC",
            with_companions(&parameter)
        );
        let mut found: Option<Session> = None;
        self.rows(&sql, &[Parameter::Integer(session)], &mut |row| {
            found.get_or_insert_default().merge(&facts(row)?);
            Ok(())
        })?;
        let missing = || StoreError::unexpected(format!("there is no session {session}"));
        let mut found = found.ok_or_else(missing)?;
        found.authority = self.authority(session)?;
        let (leaf, other_title) = self.other_title(session)?;
        let title = found.title.clone().or(other_title);
        let record_titles = Some(self.record_titles(session)?);
        let limits = Some(self.limits_of(session)?);
        found.merge(&Session { title, leaf, record_titles, limits, ..Session::default() });
        Ok(found)
    }

    /// The last record of a session, and the latest title that another log states of it.
    fn other_title(&self, session: i64) -> Result<(Option<CorrId>, Option<Text>), StoreError> {
        let parameter = self.dialect().parameter(1);
        let sql = format!(
            "SELECT (SELECT record FROM leaves WHERE session = {parameter} ORDER BY idx DESC LIMIT 1),
                    (SELECT title FROM other_titles WHERE session = {parameter} ORDER BY idx DESC, title LIMIT 1)"
        );
        let mut found = (None, None);
        self.rows(&sql, &[session.into()], &mut |row| {
            found = (row.get::<Option<String>>(0)?.map(Into::into), row.text(1)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// The titles that a session states of others.
    fn record_titles(&self, session: i64) -> Result<Vec<RecordTitle>, StoreError> {
        let from = "record_titles WHERE session =";
        self.of_session("record, title", from, session, |row| {
            let title = row.text(1)?.unwrap_or_default();
            Ok(RecordTitle { record: row.get::<String>(0)?.into(), title })
        })
    }

    /// What the agent of a session may do; the latest statement.
    fn authority(&self, session: i64) -> Result<Option<Box<Authority>>, StoreError> {
        let sql = format!(
            "SELECT permission_mode, approval_policy, sandbox, allowed, since FROM authority
             WHERE session IN ({}) ORDER BY id DESC LIMIT 1",
            with_companions(&self.dialect().parameter(1))
        );
        let mut found = None;
        self.rows(&sql, &[session.into()], &mut |row| {
            let allowed: Option<String> = row.get(3)?;
            found = Some(Box::new(Authority {
                permission_mode: row.text(0)?,
                approval_policy: row.text(1)?,
                sandbox: row.text(2)?,
                allowed: allowed.and_then(|name| serde_json::from_value(name.into()).ok()),
                since: row.moment(4)?,
            }));
            Ok(())
        })?;
        Ok(found)
    }

    /// The limits of the account that a session states.
    fn limits_of(&self, session: i64) -> Result<Vec<Limit>, StoreError> {
        let columns = "name, used_percent, window_minutes, resets_at, at";
        let sql = format!(
            "SELECT {columns} FROM limits WHERE session IN ({}) ORDER BY id",
            with_companions(&self.dialect().parameter(1))
        );
        let mut found = Vec::new();
        self.rows(&sql, &[session.into()], &mut |row| {
            found.push(row.limit(0)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn usage_of(&self, session: i64) -> Result<BTreeMap<String, TokenUsage>, StoreError> {
        let tokens = [
            "input_tokens",
            "output_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
            "cache_write_1h_tokens",
            "reasoning_tokens",
            "web_searches",
        ];
        let columns = format!("model, {}, sum(cost_usd)", tokens.map(sum).join(", "));
        let mut used = BTreeMap::new();
        let logs = with_companions(&self.dialect().parameter(1));
        let sql = format!(
            "SELECT {columns} FROM message_usage WHERE session IN ({logs}) AND {} GROUP BY model",
            counts(&logs)
        );
        self.rows(&sql, &[Parameter::Integer(session)], &mut |row| {
            used.insert(row.get(0)?, row.tokens(1)?);
            Ok(())
        })?;
        Ok(used)
    }

    /// The warnings of a session and its companions, in the order of the log. Those of companions, which are in
    /// other logs, come first.
    fn warnings_of(&self, session: i64) -> Result<Vec<(WarningKey, Warned)>, StoreError> {
        let parameter = self.dialect().parameter(1);
        let sql = format!(
            "SELECT session, kind, subject, count, message, corr_id, sample,
                    CASE WHEN session = {parameter} THEN line ELSE 0 END AS line,
                    CASE WHEN session = {parameter} THEN \"offset\" ELSE 0 END AS place
             FROM warnings WHERE session IN ({}) ORDER BY line, place, session, kind, subject",
            with_companions(&parameter)
        );
        let mut found = Vec::new();
        self.rows(&sql, &[Parameter::Integer(session)], &mut |row| {
            let key: WarningKey = (row.get(0)?, row.get(1)?, row.get(2)?);
            let first = Warning {
                kind: warning_kind(&key.1),
                message: row.get(4)?,
                subject: Some(key.2.clone()).filter(|subject| !subject.is_empty()),
                corr_id: row.get::<Option<String>>(5)?.map(Into::into),
                sample: row
                    .get::<Option<String>>(6)?
                    .and_then(|json| serde_json::from_str(&json).ok()),
            };
            let warned = Warned { count: row.unsigned(3)?, position: row.position(7)?, first };
            found.push((key, warned));
            Ok(())
        })?;
        Ok(found)
    }

    /// The entries of a session that still grow.
    fn growing(&self, session: i64) -> Result<Vec<EntryIdx>, StoreError> {
        let from = "open_entries JOIN entries ON entries.id = open_entries.entry WHERE open_entries.session =";
        self.of_session("idx", from, session, |row| row.index(0))
    }

    /// The row of an entry and its offset in the log, which change when the log is replaced.
    fn row(&self, session: i64, index: i64) -> Result<Option<(i64, i64)>, StoreError> {
        let sql = format!(
            "SELECT id, \"offset\" FROM entries WHERE session = {} AND idx = {}",
            self.dialect().parameter(1),
            self.dialect().parameter(2)
        );
        let mut found = None;
        self.rows(&sql, &[session.into(), index.into()], &mut |row| {
            found = Some((row.get(0)?, row.get(1)?));
            Ok(())
        })?;
        Ok(found)
    }

    fn of_session<T>(
        &self,
        columns: &str,
        from: &str,
        session: i64,
        mut read: impl FnMut(&dyn Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let sql = format!("SELECT {columns} FROM {from} {}", self.dialect().parameter(1));
        let mut found = Vec::new();
        self.rows(&sql, &[Parameter::Integer(session)], &mut |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }
}

fn parent(
    session_id: Option<String>,
    relation: Option<String>,
    corr_id: Option<String>,
) -> Option<Box<Parent>> {
    let relation = serde_json::from_value(relation?.into()).ok()?;
    let corr_id = corr_id.map(Into::into);
    Some(Box::new(Parent { session_id: session_id?.into(), relation, corr_id }))
}

fn facts(row: &dyn Row) -> Result<Session, StoreError> {
    let (tools, outcome): (Option<String>, Option<String>) = (row.get(8)?, row.get(10)?);
    Ok(Session {
        session_id: row.get::<Option<String>>(0)?.map(Into::into),
        agent: row.text(1)?,
        version: row.text(2)?,
        model: row.text(3)?,
        provider: row.text(4)?,
        reasoning_effort: row.text(5)?,
        cwd: row.text(6)?,
        title: row.text(7)?,
        tools: tools.and_then(|tools| serde_json::from_str(&tools).ok()),
        parent: parent(row.get(9)?, row.get(17)?, row.get(18)?),
        outcome: outcome.and_then(|name| serde_json::from_value(name.into()).ok()),
        outcome_reason: row.text(11)?,
        turns: row.count(12)?,
        duration_ms: row.count(13)?,
        started_at: row.moment(14)?,
        ended_at: row.moment(15)?,
        branch: row.text(16)?,
        ..Session::default()
    })
}
