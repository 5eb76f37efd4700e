//! Sessions and tasks, with their totals.

use serde::{Deserialize, Serialize};

use super::{
    SessionFilter,
    companions::{fact, is_whole, with_companions},
    filter::LATEST,
    project::project,
    sql::{FAILURES, WAITING, integer, sum},
    usage::{basis, sums},
};
use crate::{Row, Store, StoreError};

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The root of the repository that the session worked in, else its folder.
    pub project: Option<String>,
    /// `success`, `failed`, `limit_reached` or `cancelled`.
    pub outcome: Option<String>,
    /// The reason of the outcome, in the words of its log.
    pub reason: Option<String>,
    /// When it began.
    pub began: Option<i64>,
    /// When something happened last.
    pub ended: Option<i64>,
    /// Where these moments are from: `stated` in the log, or the time of its `file`.
    pub time_basis: Option<String>,
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
    /// Tool calls that wait for a person.
    pub waiting: i64,
    /// What its log has that is invalid or unknown: the number of warnings.
    pub warnings: i64,
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

/// The sessions of an agent with one outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRow {
    /// The agent.
    pub agent: Option<String>,
    /// `success`, `failed`, `limit_reached` or `cancelled`; `None` if no log states it.
    pub outcome: Option<String>,
    /// How many.
    pub sessions: u64,
}

/// The log of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// The stated duration, or the time from the first moment to the last.
fn duration() -> String {
    let seen = integer("(CAST(last_at AS DOUBLE PRECISION) - first_at)");
    format!("coalesce({}, {seen})", fact("duration_ms"))
}

/// The tool calls of `sessions`, joined to it.
fn calls() -> String {
    format!(
        "LEFT JOIN (SELECT session, count(*) AS calls, count(*) FILTER (WHERE {FAILURES}) AS failures
                    FROM tool_calls GROUP BY session) AS calls ON calls.session = sessions.id"
    )
}

impl SessionOrder {
    /// The sort key, and the table that contains it.
    fn key(self, estimated_cost: &str) -> (String, String) {
        match self {
            Self::Latest => (LATEST.to_owned(), String::new()),
            Self::Began => (BEGAN.to_owned(), String::new()),
            Self::Duration => (duration(), String::new()),
            Self::Tokens => ("coalesce(sums.tokens, 0)".to_owned(), sums(estimated_cost, "true")),
            Self::Cost => ("sums.cost_usd".to_owned(), sums(estimated_cost, "true")),
            Self::Failures => ("coalesce(calls.failures, 0)".to_owned(), calls()),
            Self::Number => ("-sessions.id".to_owned(), String::new()),
        }
    }
}

/// The number of calls of a row of `sessions` that fulfil a condition.
fn count(condition: &str) -> String {
    format!("(SELECT count(*) FROM tool_calls WHERE session = sessions.id AND {condition})")
}

impl dyn Store + '_ {
    /// The number of sessions by agent and outcome.
    pub fn outcomes(&self) -> Result<Vec<OutcomeRow>, StoreError> {
        let sql = format!(
            "SELECT agent, outcome, count(*) AS sessions FROM sessions WHERE {} GROUP BY agent, outcome
             ORDER BY agent NULLS FIRST, outcome NULLS FIRST",
            is_whole()
        );
        self.ask(&sql, &self.parameters())
    }

    /// The sessions in an order; those of equal rank by their latest activity.
    pub fn sessions(
        &self,
        filter: &SessionFilter,
        order: SessionOrder,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let mut parameters = self.parameters();
        let estimated_cost = self.estimated_cost()?;
        let (key, join) = order.key(&estimated_cost);
        let last = if filter.is_listed { "DESC" } else { "ASC" };
        let sql = format!(
            "WITH found AS (
                 SELECT sessions.id, {key} AS key FROM sessions
                 JOIN sources ON sources.id = sessions.source {join}
                 WHERE {condition} ORDER BY key DESC NULLS LAST, {latest} DESC NULLS LAST, sessions.id {last} {rows}
             ), chosen AS ({chosen})
             SELECT sessions.id AS number, session_id AS session, task, {title} AS title, agent, {model} AS model,
                    {cwd} AS cwd, {project} AS project, {outcome} AS outcome, {reason} AS reason,
                    coalesce({BEGAN}, {ENDED}, modified_at) AS began, coalesce({ENDED}, {BEGAN}, modified_at) AS ended,
                    CASE WHEN coalesce({BEGAN}, {ENDED}) IS NOT NULL THEN 'stated'
                         WHEN modified_at IS NOT NULL THEN 'file' END AS time_basis,
                    modified_at AS written,
                    {duration} AS duration_ms, {turns} AS turns,
                    entries, {calls} AS calls, {failures} AS failures, {waiting} AS waiting,
                    (SELECT CAST(coalesce(sum(count), 0) AS BIGINT) FROM warnings
                     WHERE session IN ({with_companions})) AS warnings,
                    input_tokens, output_tokens, tokens, cost_usd, {basis} AS cost_basis,
                    {parent} AS parent, path AS source
             FROM found JOIN sessions ON sessions.id = found.id
             JOIN sources ON sources.id = sessions.source {sums}
             ORDER BY found.key DESC NULLS LAST, {latest} DESC NULLS LAST, sessions.id {last}",
            latest = LATEST,
            duration = duration(),
            condition = filter.sessions(&mut parameters),
            rows = filter.rows(&mut parameters),
            title = self.dialect().title("sessions"),
            model = fact("model"),
            cwd = fact("cwd"),
            project = project(),
            outcome = fact("outcome"),
            reason = fact("outcome_reason"),
            turns = fact("turns"),
            parent = fact("parent_session_id"),
            calls = count("true"),
            failures = count(FAILURES),
            waiting = count(WAITING),
            with_companions = with_companions("found.id"),
            basis = basis("logged", "estimated"),
            chosen = with_companions("SELECT id FROM found"),
            sums = sums(&estimated_cost, "session IN (SELECT id FROM chosen)"),
        );
        self.ask(&sql, &parameters)
    }

    /// The number of the selected sessions, whatever its limit.
    pub fn session_count(&self, filter: &SessionFilter) -> Result<u64, StoreError> {
        let mut parameters = self.parameters();
        let sql = format!(
            "SELECT count(*) AS sessions FROM sessions WHERE {}",
            filter.sessions(&mut parameters)
        );
        let count = self.answer(&sql, &parameters, |row| row.get::<i64>(0))?.pop();
        Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
    }

    /// The log of the first selected session, preferably of a session with entries.
    pub fn session_log(&self, filter: &SessionFilter) -> Result<Option<SessionLog>, StoreError> {
        let mut parameters = self.parameters();
        let sql = format!(
            "SELECT sessions.id AS number, path, format, sessions.number AS key
             FROM sessions JOIN sources ON sources.id = sessions.source
             WHERE {} ORDER BY entries = 0, sessions.id LIMIT 1",
            filter.sessions(&mut parameters)
        );
        Ok(self.ask(&sql, &parameters)?.pop())
    }

    /// The tasks, the latest first.
    pub fn tasks(&self, filter: &SessionFilter) -> Result<Vec<TaskRow>, StoreError> {
        let mut parameters = self.parameters();
        let sql = format!(
            "SELECT task, count(*) AS sessions, group_concat(DISTINCT agent ORDER BY agent) AS agents, min({BEGAN}) AS began,
                    max({ENDED}) AS ended, {duration} AS duration_ms, CAST(sum(entries) AS BIGINT) AS entries,
                    CAST(sum(coalesce(calls, 0)) AS BIGINT) AS calls,
                    CAST(sum(coalesce(failures, 0)) AS BIGINT) AS failures,
                    {input} AS input_tokens, {output} AS output_tokens,
                    sum(cost_usd) AS cost_usd, {basis} AS cost_basis
             FROM sessions {calls} {sums}
             WHERE {condition} GROUP BY task ORDER BY max({ENDED}) DESC NULLS LAST, task NULLS FIRST {rows}",
            duration = sum(&duration()),
            input = sum("input_tokens"),
            output = sum("output_tokens"),
            basis = basis("sum(logged)", "sum(estimated)"),
            calls = calls(),
            sums = sums(&self.estimated_cost()?, "true"),
            condition = filter.sessions(&mut parameters),
            rows = filter.rows(&mut parameters),
        );
        self.ask(&sql, &parameters)
    }

    /// The names of all tasks.
    pub fn task_names(&self) -> Result<Vec<String>, StoreError> {
        self.names("task")
    }

    /// The agents' ids of all sessions.
    pub fn session_ids(&self) -> Result<Vec<String>, StoreError> {
        self.names("session_id")
    }

    /// The agents with sessions.
    pub fn agents(&self) -> Result<Vec<String>, StoreError> {
        self.names("agent")
    }

    fn names(&self, column: &str) -> Result<Vec<String>, StoreError> {
        let sql = format!(
            "SELECT DISTINCT {column} FROM sessions WHERE {column} IS NOT NULL ORDER BY {column}"
        );
        self.answer(&sql, &self.parameters(), |row| row.get(0))
    }

    /// The line and the offset up to which the log of a session was read, and whether it is complete.
    pub fn read_to(&self, session: i64) -> Result<Option<(i64, i64, bool)>, StoreError> {
        let mut parameters = self.parameters();
        let sql = format!(
            "SELECT line, \"offset\", complete FROM sources
             WHERE id = (SELECT source FROM sessions WHERE id = {})",
            parameters.add(session)
        );
        let place = |row: &dyn Row| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        Ok(self.answer(&sql, &parameters, place)?.pop())
    }
}
