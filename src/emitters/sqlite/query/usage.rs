//! The tokens of each message, equal to those that [`UsageEmitter`](crate::emitters::usage::UsageEmitter) finds
//! in logs.

use std::{collections::BTreeMap, sync::Arc};

use rusqlite::Row;

use super::sql::{Parameters, title};
use crate::{
    emitters::{
        sqlite::{
            Database, SqliteError,
            statements::{moment, sum, text},
            tokens::{NOT_STATED, estimate, tokens},
        },
        usage::{MessageUsage, SessionUsage, UsedFor, count_once},
    },
    pricing::Prices,
};

/// Each message counts once, as in the view `usage`, which compares the sessions of a message again for each of them.
///
/// Joins to `sessions` the tokens and the `logged` and `estimated` costs of sessions that fulfil a condition.
/// If the log states the cost of a whole session, apart from its tokens, nothing is estimated.
pub(super) fn sums(condition: &str) -> String {
    format!(
        "LEFT JOIN (
             SELECT session, {input} AS input_tokens, {output} AS output_tokens, {tokens} AS tokens,
                    sum(coalesce(cost_usd, estimated)) AS cost_usd, count(cost_usd) AS logged,
                    count(estimated) AS estimated
             FROM (SELECT *, CASE
                       WHEN cost_usd IS NULL AND session NOT IN (
                           SELECT session FROM message_usage WHERE {condition} AND cost_usd IS NOT NULL
                               AND input_tokens IS NULL AND output_tokens IS NULL
                       ) THEN estimated_cost(message_id, model, input_tokens, output_tokens, cache_read_tokens,
                                             cache_write_tokens, cache_write_1h_tokens)
                   END AS estimated FROM message_usage
                   WHERE {condition} AND (message_id = '' OR (message_id, session) IN (
                       SELECT message_id, session FROM (
                           SELECT message_id, session, row_number() OVER (
                               PARTITION BY message_id ORDER BY sum(CAST(output_tokens AS REAL)) DESC, session
                           ) AS place
                           FROM message_usage
                           WHERE message_id <> ''
                           AND message_id IN (SELECT message_id FROM message_usage WHERE {condition})
                           GROUP BY message_id, session
                       ) WHERE place = 1)))
             GROUP BY session) AS sums ON sums.session = sessions.id",
        input = sum("input_tokens"),
        output = sum("output_tokens"),
        tokens = sum("coalesce(input_tokens, 0) + coalesce(output_tokens, 0)"),
    )
}

/// The basis of a cost, from the numbers of logged and estimated costs.
pub(super) fn basis(logged: &str, estimated: &str) -> String {
    format!(
        "CASE WHEN {logged} > 0 AND {estimated} > 0 THEN 'mixed'
              WHEN {logged} > 0 THEN 'logged' WHEN {estimated} > 0 THEN 'estimated' END"
    )
}

impl Database {
    /// Sets the prices that estimate unlogged costs, instead of the built-in prices.
    pub fn estimate_with(&self, prices: Arc<Prices>) -> Result<(), SqliteError> {
        estimate(&self.connection, Some(prices)).map_err(|error| self.error(&error))
    }

    /// The usage of all sessions, each message once.
    pub fn usage(&self) -> Result<Vec<SessionUsage>, SqliteError> {
        let sql = format!(
            "SELECT id, session_id, parent_session_id, agent, cwd, branch, task, {} FROM sessions",
            title("sessions")
        );
        let sessions = self.answer(&sql, Parameters::default(), session)?;
        let mut sessions: BTreeMap<i64, _> = sessions.into_iter().collect();
        let sql = "SELECT session, message_id, model, used_at, input_tokens, output_tokens, cache_read_tokens,
                          cache_write_tokens, cache_write_1h_tokens, reasoning_tokens, cost_usd
                   FROM message_usage ORDER BY session, message_id, model, used_at";
        self.answer(sql, Parameters::default(), |row| {
            if let Some(usage) = sessions.get_mut(&row.get(0)?) {
                usage.messages.push(message(row)?);
            }
            Ok(())
        })?;
        let mut sessions: Vec<SessionUsage> = sessions.into_values().collect();
        count_once(&mut sessions);
        Ok(sessions)
    }
}

fn session(row: &Row<'_>) -> rusqlite::Result<(i64, SessionUsage)> {
    let usage = SessionUsage {
        session_id: row.get::<_, Option<String>>(1)?.map(Into::into),
        parent_session_id: row.get::<_, Option<String>>(2)?.map(Into::into),
        agent: text(row, 3)?,
        cwd: text(row, 4)?,
        branch: text(row, 5)?,
        task: text(row, 6)?,
        title: row.get(7)?,
        messages: Vec::new(),
    };
    Ok((row.get(0)?, usage))
}

fn message(row: &Row<'_>) -> rusqlite::Result<MessageUsage> {
    let at = moment(row, 3)?.filter(|at| at.as_millis() != NOT_STATED);
    let of = UsedFor::stated(text(row, 1)?, text(row, 2)?, at);
    Ok(MessageUsage::new(of, tokens(row, 4)?))
}
