//! The tokens of each message.

use std::collections::BTreeMap;

use foldline_domain::OF_THREAD;

use super::{
    Period, SessionFilter,
    companions::{COMPANIONS, fact, is_whole},
    project::project,
    sql::sum,
    tree::Grouping,
};
use crate::{
    NOT_STATED, Row, Store, StoreError,
    parameters::Parameters,
    usage::{MessageUsage, SessionUsage, UsedFor, count_once},
};

/// Whether a row of `message_usage`, of one of these sessions, counts: each message counts once, as in the view `usage`, which
/// compares the sessions of all messages.
///
/// No value of `IN` and no `NOT IN` is asked for, only conditions: SQLite would read all of a list for each message that is
/// not in it, to know whether the value is `NULL`.
pub(crate) fn counts(sessions: &str) -> String {
    format!(
        "(message_id = ''
          OR message_id LIKE '{OF_THREAD}%'
             AND CASE WHEN (message_id, session) IN (SELECT message_id, session FROM copied_usage) THEN FALSE ELSE TRUE END
          OR message_id NOT LIKE '{OF_THREAD}%' AND (message_id, session) IN (
                  SELECT message_id, session FROM (
                      SELECT message_id, session, row_number() OVER (
                          PARTITION BY message_id ORDER BY sum(CAST(output_tokens AS DOUBLE PRECISION)) DESC NULLS LAST,
                          sum(coalesce(cost_usd, 0)) DESC, min(used_at), session
                      ) AS place
                      FROM message_usage
                      WHERE message_id <> ''
                      AND message_id IN (SELECT message_id FROM message_usage WHERE session IN ({sessions}))
                      GROUP BY message_id, session
                  ) AS told WHERE place = 1))"
    )
}

/// Joins to `sessions` the tokens and the `logged` and `estimated` costs of the sessions in a relation with the columns
/// `session`, `whole` and `root`, each with that root. If the logs state the cost of a whole session, apart from its
/// tokens, nothing of it is estimated, nor is what the view `windowed_usage` has.
pub(super) fn sums(estimated_cost: &str, rows: &str) -> String {
    format!(
        "LEFT JOIN (
             SELECT root, {input} AS input_tokens, {output} AS output_tokens, {tokens} AS tokens, sum(cost_usd) AS cost_usd,
                    sum(logged) AS logged, sum(estimated) AS estimated
             FROM (
                 SELECT root, {rows}.whole, {input} AS input_tokens, {output} AS output_tokens, {tokens} AS tokens,
                        CASE WHEN sum(costs) = 0 THEN sum(cost_usd) ELSE sum(logged_usd) END AS cost_usd,
                        sum(logged) AS logged, CASE WHEN sum(costs) = 0 THEN sum(estimated) ELSE 0 END AS estimated
                 FROM (
                     SELECT session, {input} AS input_tokens, {output} AS output_tokens, {used} AS tokens,
                            sum(coalesce(cost_usd, estimated)) AS cost_usd, sum(cost_usd) AS logged_usd,
                            count(cost_usd) AS logged, count(estimated) AS estimated,
                            count(*) FILTER (WHERE {IS_OF_WHOLE}) AS costs
                     FROM (SELECT *, CASE WHEN cost_usd IS NOT NULL OR {IS_IN_WINDOW} THEN NULL
                                           ELSE {estimated_cost} END AS estimated FROM message_usage
                           WHERE session IN (SELECT session FROM {rows}) AND {counts}) AS used
                     GROUP BY session) AS stored
                 JOIN {rows} ON {rows}.session = stored.session
                 GROUP BY root, {rows}.whole) AS each_session
             GROUP BY root) AS sums ON sums.root = sessions.id",
        counts = counts(&format!("SELECT session FROM {rows}")),
        input = sum("input_tokens"),
        output = sum("output_tokens"),
        tokens = sum("tokens"),
        used = sum("coalesce(input_tokens, 0) + coalesce(output_tokens, 0)"),
    )
}

/// The columns of a row of `message_usage`.
const COLUMNS: &str =
    "session, message_id, model, used_at, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, cache_write_1h_tokens, reasoning_tokens, web_searches, cost_usd";

/// A row of `message_usage` that states what a session cost as a whole.
const IS_OF_WHOLE: &str =
    "(cost_usd IS NOT NULL AND input_tokens IS NULL AND output_tokens IS NULL)";

/// A row of `message_usage` whose cost a log of its tree states as that of a time.
const IS_IN_WINDOW: &str =
    "(session, message_id, model, used_at) IN (SELECT * FROM windowed_usage)";

/// The basis of a cost, from the numbers of logged and estimated costs.
pub(super) fn basis(logged: &str, estimated: &str) -> String {
    format!(
        "CASE WHEN {logged} > 0 AND {estimated} > 0 THEN 'mixed'
              WHEN {logged} > 0 THEN 'logged' WHEN {estimated} > 0 THEN 'estimated' END"
    )
}

impl dyn Store + '_ {
    /// The usage of all sessions, each message once, and that of a [companion](super::companions) with its session.
    ///
    /// The filter chooses sessions, each with all its parts, which have the project, the branch and the task of the session
    /// that a person began; a session with a name is chosen with its own parts. The time and the model of the filter are
    /// those of messages, of which the caller chooses: the answer has the messages of the chosen sessions in that time, and
    /// those that decide where they count, and what they cost.
    pub fn usage(&self, filter: &SessionFilter) -> Result<Vec<SessionUsage>, StoreError> {
        let mut parameters = self.parameters();
        let chosen = SessionFilter { period: Period::ALL, model: None, ..filter.clone() };
        let matches = chosen.matches(&mut parameters);
        let matching = format!("part.id IN (SELECT sessions.id FROM sessions WHERE {matches})");
        let condition = match filter.name {
            Some(_) => matching,
            None => Grouping::Trees.any(matches),
        };
        let sql = format!(
            "{heads}
             SELECT part.id, part.session_id, part.parent_session_id, part.agent, {project}, {branch}, sessions.task,
                    ({condition}) IS TRUE, part.started_at, sessions.session_id, host, user_name
             FROM everything JOIN sessions ON sessions.id = everything.root
             JOIN sessions AS part ON part.id = everything.session JOIN sources ON sources.id = part.source
             WHERE part.id IN (SELECT sessions.id FROM sessions WHERE {is_whole}) ORDER BY part.id",
            heads = Grouping::Trees.with_heads(),
            project = project(),
            branch = fact("branch"),
            is_whole = is_whole(),
        );
        let sessions = self.answer(&sql, &parameters, session)?;
        let places: BTreeMap<i64, usize> =
            sessions.iter().enumerate().map(|(place, (id, _))| (*id, place)).collect();
        let mut sessions: Vec<SessionUsage> =
            sessions.into_iter().map(|(_, session)| session).collect();
        let wholes: BTreeMap<i64, i64> = self
            .answer(
                &format!("SELECT companion, session FROM {COMPANIONS} AS pairs"),
                &self.parameters(),
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?
            .into_iter()
            .collect();
        // A message counts in one of the logs; the usage of a companion then belongs to its session.
        let mut companions: BTreeMap<i64, (usize, SessionUsage)> = BTreeMap::new();
        let is_chosen = |id: &i64| places.get(id).and_then(|at| Some(sessions.get(*at)?.is_chosen));
        let logs = sessions.iter().any(|session| !session.is_chosen).then(|| {
            let all = places.keys().map(|id| (id, id)).chain(&wholes);
            all.filter(|(_, whole)| is_chosen(whole) == Some(true)).map(|(log, _)| *log).collect()
        });
        let (sql, parameters) = self.messages(filter.period, logs);
        self.answer(&sql, &parameters, |row| {
            let id = row.get::<i64>(0)?;
            let session = match wholes.get(&id) {
                None => places.get(&id).and_then(|place| sessions.get_mut(*place)),
                Some(whole) => places.get(whole).and_then(|place| {
                    let whole = sessions.get(*place)?;
                    let new = SessionUsage {
                        session_id: whole.session_id.clone(),
                        parent_session_id: whole.parent_session_id.clone(),
                        started_at: whole.started_at,
                        ..SessionUsage::default()
                    };
                    Some(&mut companions.entry(id).or_insert((*place, new)).1)
                }),
            };
            if let Some(session) = session {
                session.messages.push(message(row)?);
            }
            Ok(())
        })?;
        count_once(sessions.iter_mut().chain(companions.values_mut().map(|(_, usage)| usage)));
        for (place, companion) in companions.into_values() {
            if let Some(session) = sessions.get_mut(place) {
                session.messages.extend(companion.messages);
            }
        }
        Ok(sessions)
    }
}

impl dyn Store + '_ {
    /// A query for the messages of a time in these logs, or in all: those that are asked about, and their copies in other
    /// logs.
    fn messages(
        &self,
        Period { start, end }: Period,
        logs: Option<Vec<i64>>,
    ) -> (String, Parameters) {
        let mut parameters = self.parameters();
        let mut asked = Vec::new();
        if (Period { start, end }) != Period::ALL {
            let (start, end) = (parameters.add(start), parameters.add(end));
            // What is not in the period may still state that the cost of a session includes what is.
            asked.push(format!(
                "(used_at >= {start} AND used_at < {end} OR used_at = {NOT_STATED} OR {IS_OF_WHOLE})"
            ));
        }
        if let Some(logs) = logs {
            let logs: Vec<_> = logs.iter().map(i64::to_string).collect();
            parameters.add(format!("[{}]", logs.join(",")));
            asked.push(format!("session IN ({})", self.dialect().ids(parameters.values.len())));
        }
        let asked = asked.join(" AND ");
        let rows = |condition: &str| format!("SELECT {COLUMNS} FROM message_usage {condition}");
        let rows = match asked.is_empty() {
            true => rows(""),
            false => [
                rows(&format!("WHERE {asked}")),
                rows(&format!(
                    "WHERE ({asked}) IS NOT TRUE AND message_id IN (
                         SELECT message_id FROM message_usage WHERE message_id <> '' AND {asked})"
                )),
            ]
            .join(" UNION ALL "),
        };
        let sql = format!(
            "SELECT {COLUMNS}, CASE WHEN {IS_IN_WINDOW} THEN TRUE ELSE FALSE END
             FROM ({rows}) AS used ORDER BY session, message_id, model, used_at"
        );
        (sql, parameters)
    }

    /// The titles of sessions, by the agents' ids; of several logs of one session, that of the first that has one.
    pub fn titles(&self) -> Result<BTreeMap<String, String>, StoreError> {
        let sql = format!(
            "SELECT session_id, {} AS title FROM sessions WHERE session_id IS NOT NULL ORDER BY id DESC",
            self.dialect().title("sessions")
        );
        let titles = self.answer(&sql, &self.parameters(), |row| {
            Ok((row.get(0)?, row.get::<Option<String>>(1)?))
        })?;
        Ok(titles.into_iter().filter_map(|(id, title)| Some((id, title?))).collect())
    }
}

fn session(row: &dyn Row) -> Result<(i64, SessionUsage), StoreError> {
    let usage = SessionUsage {
        session_id: row.get::<Option<String>>(1)?.map(Into::into),
        parent_session_id: row.get::<Option<String>>(2)?.map(Into::into),
        agent: row.text(3)?,
        project: row.text(4)?,
        branch: row.text(5)?,
        task: row.text(6)?,
        host: row.text(10)?,
        user: row.text(11)?,
        is_chosen: row.get(7)?,
        started_at: row.moment(8)?,
        root_session_id: row.get::<Option<String>>(9)?.map(Into::into),
        messages: Vec::new(),
    };
    Ok((row.get(0)?, usage))
}

fn message(row: &dyn Row) -> Result<MessageUsage, StoreError> {
    let at = row.moment(3)?.filter(|at| at.as_millis() != NOT_STATED);
    let of = UsedFor::stated(row.text(1)?, row.text(2)?, at);
    let is_in_window = row.get(12)?;
    Ok(MessageUsage { is_in_window, ..MessageUsage::new(of, row.tokens(4)?) })
}
