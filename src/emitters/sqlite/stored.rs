//! A stored session, as the events that it was made from.

use rusqlite::{Row, params};

use super::{Database, SqliteError};
use crate::conversation::{DomainEvent, Outcome, Session, Text, Timestamp, TokenUsage};

impl Database {
    /// A session (by its row id) as domain events, each handed to `each`: its facts, its entries, and its
    /// usage. A consumer gets out of them what it would have got out of the log in the end; what was between,
    /// such as the growth of a message, is not stored. Entries that were pruned are not there.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn events(
        &self,
        session: i64,
        mut each: impl FnMut(DomainEvent),
    ) -> Result<(), SqliteError> {
        each(DomainEvent::Session(Box::new(self.session(session)?)));
        self.entries(session, 0..i64::MAX, |stored| {
            let entry = std::sync::Arc::new(stored.entry);
            let corr_id = entry.metadata.as_ref().and_then(|metadata| metadata.corr_id.clone());
            let Some((corr_id, tool)) = corr_id.zip(entry.tool()) else {
                return each(DomainEvent::entry(entry));
            };
            let has_ended = tool.status.is_final();
            each(DomainEvent::NewToolCall { corr_id: corr_id.clone(), entry: entry.clone() });
            if has_ended {
                each(DomainEvent::UpdateToolCall { corr_id, entry });
            }
        })?;
        self.usage_of(session, &mut each).map_err(|error| self.error(&error))
    }

    /// The facts of a session, by its row id.
    ///
    /// # Errors
    /// There is no such session, or the database cannot be read.
    pub fn session(&self, session: i64) -> Result<Session, SqliteError> {
        let query =
            "SELECT session_id, agent, version, model, provider, reasoning_effort, cwd, title,
                            tools, parent_session_id, outcome, outcome_reason, turns, duration_ms,
                            started_at, ended_at, branch
                     FROM sessions WHERE id = ?1";
        let found = self.connection.prepare_cached(query);
        found
            .and_then(|mut query| query.query_row([session], facts))
            .map_err(|error| self.error(&error))
    }

    fn usage_of(&self, session: i64, each: &mut impl FnMut(DomainEvent)) -> rusqlite::Result<()> {
        let mut query = self.connection.prepare_cached(
            "SELECT model, sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
                    sum(cache_write_tokens), sum(cache_write_1h_tokens), sum(reasoning_tokens),
                    sum(cost_usd)
             FROM usage WHERE session = ?1 GROUP BY model ORDER BY model",
        )?;
        let mut rows = query.query(params![session])?;
        while let Some(row) = rows.next()? {
            let model: String = row.get(0)?;
            let count =
                |column| row.get::<_, Option<i64>>(column).map(|n| n.map(i64::cast_unsigned));
            let usage = TokenUsage {
                input_tokens: count(1)?,
                output_tokens: count(2)?,
                cache_read_tokens: count(3)?,
                cache_write_tokens: count(4)?,
                cache_write_1h_tokens: count(5)?,
                reasoning_tokens: count(6)?,
                cost_usd: row.get(7)?,
            };
            let model = (!model.is_empty()).then(|| model.into());
            let usage = Box::new(usage);
            each(DomainEvent::Usage { usage, model, message_id: None, timestamp: None });
        }
        Ok(())
    }
}

fn facts(row: &Row<'_>) -> rusqlite::Result<Session> {
    let text = |column| row.get::<_, Option<String>>(column).map(|text| text.map(Text::from));
    let count = |column| row.get::<_, Option<i64>>(column).map(|n| n.map(i64::cast_unsigned));
    let moment = |column| row.get::<_, Option<i64>>(column).map(|n| n.map(Timestamp::from_millis));
    let tools: Option<String> = row.get(8)?;
    Ok(Session {
        session_id: row.get::<_, Option<String>>(0)?.map(Into::into),
        agent: text(1)?,
        version: text(2)?,
        model: text(3)?,
        provider: text(4)?,
        reasoning_effort: text(5)?,
        cwd: text(6)?,
        title: text(7)?,
        tools: tools.and_then(|tools| serde_json::from_str(&tools).ok()),
        parent_session_id: row.get::<_, Option<String>>(9)?.map(Into::into),
        outcome: row.get::<_, Option<String>>(10)?.as_deref().and_then(outcome),
        outcome_reason: text(11)?,
        turns: count(12)?,
        duration_ms: count(13)?,
        started_at: moment(14)?,
        ended_at: moment(15)?,
        branch: text(16)?,
    })
}

fn outcome(name: &str) -> Option<Outcome> {
    [Outcome::Success, Outcome::Failed, Outcome::LimitReached, Outcome::Cancelled]
        .into_iter()
        .find(|outcome| outcome.as_str() == name)
}
