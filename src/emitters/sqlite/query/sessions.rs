//! Sessions and tasks, with their totals.

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use super::{
    SessionFilter,
    sql::{FAILURES, Parameters, title},
    usage::{basis, sums},
};
use crate::emitters::sqlite::{Database, SqliteError, statements::sum};

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionRow {
    /// Its number in the database.
    pub number: i64,
    /// The agent's id of the session.
    pub session: Option<String>,
    /// The task that it belongs to.
    pub task: Option<String>,
    /// Its title, or else the first line of its first prompt.
    pub title: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The latest model.
    pub model: Option<String>,
    /// The folder that the agent worked in.
    pub cwd: Option<String>,
    /// `success`, `failed`, `limit_reached` or `cancelled`.
    pub outcome: Option<String>,
    /// When it began.
    pub began: Option<i64>,
    /// When something happened last.
    pub ended: Option<i64>,
    /// When its log was last written.
    pub written: Option<i64>,
    /// Its duration, from its log or from its first and last timestamp.
    pub duration_ms: Option<i64>,
    /// Turns, as its log states.
    pub turns: Option<i64>,
    /// Entries, including those that were pruned.
    pub entries: i64,
    /// Tool calls.
    pub calls: i64,
    /// Failed tool calls.
    pub failures: i64,
    /// Tool calls that wait for permission.
    pub waiting: i64,
    /// Tokens of input.
    pub input_tokens: Option<i64>,
    /// Tokens of output.
    pub output_tokens: Option<i64>,
    /// Tokens of input and output.
    pub tokens: Option<i64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Where the cost is from.
    pub cost_basis: Option<String>,
    /// The agent's id of the session that started it.
    pub parent: Option<String>,
    /// The path of its log.
    pub source: String,
}

/// The log of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionLog {
    /// The number of the session in the database.
    pub number: i64,
    /// The path of its log.
    pub path: String,
    /// The format of its log.
    pub format: String,
    /// Its number within its log.
    pub key: u32,
}

/// Sessions that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskRow {
    /// Its name.
    pub task: Option<String>,
    /// How many sessions.
    pub sessions: i64,
    /// Their agents, separated by commas.
    pub agents: Option<String>,
    /// When the first session began.
    pub began: Option<i64>,
    /// When something happened last.
    pub ended: Option<i64>,
    /// How long the sessions took, added up.
    pub duration_ms: Option<i64>,
    /// Their entries.
    pub entries: i64,
    /// Their tool calls.
    pub calls: i64,
    /// Their failed tool calls.
    pub failures: i64,
    /// Their tokens of input.
    pub input_tokens: Option<i64>,
    /// Their tokens of output.
    pub output_tokens: Option<i64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Where the cost is from.
    pub cost_basis: Option<String>,
}

/// The order of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionOrder {
    /// The latest activity first.
    #[default]
    #[serde(alias = "")]
    Latest,
    /// The latest beginning first.
    Began,
    /// The longest first.
    Duration,
    /// The most tokens first.
    Tokens,
    /// The highest cost first.
    Cost,
    /// The most failed calls first.
    Failures,
    /// In the order in which the sessions were stored.
    Number,
}

const BEGAN: &str = "coalesce(first_at, started_at)";
const ENDED: &str = "coalesce(last_at, ended_at)";
const DURATION: &str = "coalesce(duration_ms, CAST(last_at - first_at AS INTEGER))";

/// The tool calls of `sessions`, joined to it.
fn calls() -> String {
    format!(
        "LEFT JOIN (SELECT session, count(*) AS calls, sum({FAILURES}) AS failures
                    FROM tool_calls GROUP BY session) AS calls ON calls.session = sessions.id"
    )
}

impl SessionOrder {
    /// The sort key, and the table that contains it.
    fn key(self, filter: &SessionFilter) -> (&'static str, String) {
        match self {
            Self::Latest => (filter.latest(), String::new()),
            Self::Began => (BEGAN, String::new()),
            Self::Duration => (DURATION, String::new()),
            Self::Tokens => ("coalesce(sums.tokens, 0)", sums("true")),
            Self::Cost => ("sums.cost_usd", sums("true")),
            Self::Failures => ("coalesce(calls.failures, 0)", calls()),
            Self::Number => ("-sessions.id", String::new()),
        }
    }
}

/// The number of calls of a row of `sessions` that fulfil a condition.
fn count(condition: &str) -> String {
    format!("(SELECT count(*) FROM tool_calls WHERE session = sessions.id AND {condition})")
}

impl Database {
    /// The sessions in an order; those of equal rank by their latest activity.
    pub fn sessions(
        &self,
        filter: &SessionFilter,
        order: SessionOrder,
    ) -> Result<Vec<SessionRow>, SqliteError> {
        let mut parameters = Parameters::default();
        let (key, join) = order.key(filter);
        let last = if filter.is_listed { "DESC" } else { "ASC" };
        let sql = format!(
            "WITH found AS (
                 SELECT sessions.id, {key} AS key FROM sessions
                 JOIN sources ON sources.id = sessions.source {join}
                 WHERE {condition} ORDER BY key DESC, {latest} DESC, sessions.id {last} {rows}
             )
             SELECT sessions.id AS number, session_id AS session, task, {title} AS title, agent, model, cwd, outcome,
                    {BEGAN} AS began, {ENDED} AS ended, modified_at AS written, {DURATION} AS duration_ms, turns,
                    entries, {calls} AS calls, {failures} AS failures, {waiting} AS waiting,
                    input_tokens, output_tokens, tokens, cost_usd, {basis} AS cost_basis,
                    parent_session_id AS parent, path AS source
             FROM found JOIN sessions ON sessions.id = found.id
             JOIN sources ON sources.id = sessions.source {sums}
             ORDER BY found.key DESC, {latest} DESC, sessions.id {last}",
            latest = filter.latest(),
            condition = filter.sessions(&mut parameters),
            rows = filter.rows(&mut parameters),
            title = title("sessions"),
            calls = count("true"),
            failures = count(FAILURES),
            waiting = count("status = 'pending_approval'"),
            basis = basis("logged", "estimated"),
            sums = sums("session IN (SELECT id FROM found)"),
        );
        self.ask(&sql, parameters)
    }

    /// The log of the first selected session, preferably of a session with entries.
    pub fn session_log(&self, filter: &SessionFilter) -> Result<Option<SessionLog>, SqliteError> {
        let mut parameters = Parameters::default();
        let sql = format!(
            "SELECT sessions.id AS number, path, format, sessions.number AS key
             FROM sessions JOIN sources ON sources.id = sessions.source
             WHERE {} ORDER BY entries = 0, sessions.id LIMIT 1",
            filter.sessions(&mut parameters)
        );
        Ok(self.ask(&sql, parameters)?.pop())
    }

    /// The tasks, the latest first.
    pub fn tasks(&self, filter: &SessionFilter) -> Result<Vec<TaskRow>, SqliteError> {
        let mut parameters = Parameters::default();
        let sql = format!(
            "SELECT task, count(*) AS sessions, group_concat(DISTINCT agent) AS agents, min({BEGAN}) AS began,
                    max({ENDED}) AS ended, {duration} AS duration_ms, sum(entries) AS entries,
                    sum(coalesce(calls, 0)) AS calls, sum(coalesce(failures, 0)) AS failures,
                    {input} AS input_tokens, {output} AS output_tokens,
                    sum(cost_usd) AS cost_usd, {basis} AS cost_basis
             FROM sessions {calls} {sums}
             WHERE {condition} GROUP BY task ORDER BY max({ENDED}) DESC, task {rows}",
            duration = sum(DURATION),
            input = sum("input_tokens"),
            output = sum("output_tokens"),
            basis = basis("sum(logged)", "sum(estimated)"),
            calls = calls(),
            sums = sums("true"),
            condition = filter.sessions(&mut parameters),
            rows = filter.rows(&mut parameters),
        );
        self.ask(&sql, parameters)
    }

    /// The names of all tasks.
    pub fn task_names(&self) -> Result<Vec<String>, SqliteError> {
        self.names("task")
    }

    /// The agents' ids of all sessions.
    pub fn session_ids(&self) -> Result<Vec<String>, SqliteError> {
        self.names("session_id")
    }

    /// The agents with sessions.
    pub fn agents(&self) -> Result<Vec<String>, SqliteError> {
        self.names("agent")
    }

    /// The folders that agents worked in.
    pub fn folders(&self) -> Result<Vec<String>, SqliteError> {
        self.names("cwd")
    }

    fn names(&self, column: &str) -> Result<Vec<String>, SqliteError> {
        let sql = format!(
            "SELECT DISTINCT {column} FROM sessions WHERE {column} IS NOT NULL ORDER BY {column}"
        );
        self.answer(&sql, Parameters::default(), |row| row.get(0))
    }

    /// The line and the offset up to which the log of a session was read, and whether it is complete.
    pub fn read_to(&self, session: i64) -> Result<Option<(i64, i64, bool)>, SqliteError> {
        let mut parameters = Parameters::default();
        let sql = format!(
            "SELECT line, offset, complete FROM sources
             WHERE id = (SELECT source FROM sessions WHERE id = {})",
            parameters.add(session)
        );
        let place = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        Ok(self.answer(&sql, parameters, place)?.pop())
    }
}
