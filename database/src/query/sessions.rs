//! Sessions and tasks, with their totals.

use serde::{Deserialize, Serialize};

use super::{
    SessionFilter, SessionName, StateFilter,
    addresses::ORDER,
    companions::{fact, is_whole},
    project::project,
    sql::{FAILURES, WAITING, integer, sum},
    tree::{CALL, Grouping, with_rows},
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
    /// The machine of its log.
    pub host: Option<String>,
    /// The user whose log it is there.
    pub user: Option<String>,
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
    /// The time in which it was worked on, without pauses; see [`ActiveTime`](foldline_domain::ActiveTime).
    pub active_ms: Option<i64>,
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
    /// The agent's id of the session that it was started from.
    pub parent: Option<String>,
    /// What it is to that session: `sub_agent`, `fork` or `continuation`.
    pub relation: Option<String>,
    /// The number of the session that it is a part of.
    pub whole: Option<i64>,
    /// The index of the entry of that session with the call that started it.
    pub call: Option<i64>,
    /// The number of its sub-agents, and of theirs.
    pub agents: i64,
    /// The path of its log.
    pub source: String,
}

/// A session of an answer: its id, the moment of its last activity, and that of the last growth of a log of it.
type Place = (i64, Option<i64>, Option<i64>);

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
    /// The longest active time first.
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

/// The time without pauses, or of a log without moments the stated duration.
fn active() -> String {
    format!("coalesce(CASE WHEN first_at < last_at THEN active_ms END, {})", fact("duration_ms"))
}

/// The tool calls of the sessions in a relation with the columns `session` and `root`, joined to `sessions`.
fn calls(members: &str) -> String {
    format!(
        "LEFT JOIN (
             SELECT root, count(*) AS calls, count(*) FILTER (WHERE {FAILURES}) AS failures,
                    count(*) FILTER (WHERE {WAITING}) AS waiting
             FROM {members} JOIN tool_calls ON tool_calls.session = {members}.session GROUP BY root
         ) AS calls ON calls.root = sessions.id"
    )
}

impl SessionOrder {
    /// The sort key, and the tables that contain it.
    fn key(self, estimated_cost: &str) -> (String, String) {
        match self {
            Self::Latest => ("heads.latest".to_owned(), String::new()),
            Self::Began => (BEGAN.to_owned(), String::new()),
            Self::Duration => (active(), String::new()),
            Self::Tokens => {
                ("coalesce(sums.tokens, 0)".to_owned(), sums(estimated_cost, "all_rows"))
            }
            Self::Cost => ("sums.cost_usd".to_owned(), sums(estimated_cost, "all_rows")),
            Self::Failures => ("coalesce(calls.failures, 0)".to_owned(), calls("everything")),
            Self::Number => ("-sessions.id".to_owned(), String::new()),
        }
    }
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
            "{heads}, all_rows AS ({all_rows})
             SELECT sessions.id, heads.latest, heads.written FROM sessions
             JOIN heads ON heads.root = sessions.id {join}
             WHERE {condition} ORDER BY {key} DESC NULLS LAST, heads.latest DESC NULLS LAST, sessions.id {last} {rows}",
            heads = filter.grouping.with_heads(),
            all_rows = with_rows("everything"),
            condition = filter.sessions(&mut parameters),
            rows = filter.rows(&mut parameters),
        );
        let mut sessions = Vec::new();
        self.in_snapshot(&mut || {
            let place = |row: &dyn Row| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let found: Vec<Place> = self.answer(&sql, &parameters, place)?;
            sessions = self.rows_of(&found, filter.grouping, &estimated_cost)?;
            Ok(())
        })?;
        Ok(sessions)
    }

    /// The rows of these sessions, in this order. A query of its own: within one, SQLite would expand what finds them at
    /// every mention.
    fn rows_of(
        &self,
        found: &[Place],
        grouping: Grouping,
        estimated_cost: &str,
    ) -> Result<Vec<SessionRow>, StoreError> {
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let moment = |at: &Option<i64>| at.map_or("NULL".to_owned(), |at| at.to_string());
        let places = found.iter().enumerate().map(|(place, (id, latest, written))| {
            format!(
                "({place}, {id}, CAST({} AS BIGINT), CAST({} AS BIGINT))",
                moment(latest),
                moment(written)
            )
        });
        let sql = format!(
            "WITH found(place, id, latest, written) AS (VALUES {places}),
             everything AS NOT MATERIALIZED ({everything}),
             members AS MATERIALIZED (SELECT session, root FROM everything WHERE root IN (SELECT id FROM found)),
             chosen AS MATERIALIZED ({chosen})
             SELECT sessions.id AS number, session_id AS session, task, {title} AS title, agent, {model} AS model,
                    {cwd} AS cwd, {project} AS project, host, user_name AS \"user\", {outcome} AS outcome, {reason} AS reason,
                    coalesce({BEGAN}, {ENDED}, modified_at) AS began,
                    coalesce(found.latest, {ENDED}, {BEGAN}, modified_at) AS ended,
                    CASE WHEN coalesce({BEGAN}, {ENDED}) IS NOT NULL THEN 'stated'
                         WHEN modified_at IS NOT NULL THEN 'file' END AS time_basis,
                    found.written AS written,
                    {duration} AS duration_ms, {active} AS active_ms, {turns} AS turns,
                    entries, coalesce(calls.calls, 0) AS calls, coalesce(calls.failures, 0) AS failures,
                    coalesce(calls.waiting, 0) AS waiting,
                    coalesce(warned.warnings, 0) AS warnings,
                    input_tokens, output_tokens, tokens, cost_usd, {basis} AS cost_basis,
                    {parent} AS parent, {relation} AS relation,
                    (SELECT whole FROM parts WHERE part = sessions.id) AS whole, {CALL} AS call,
                    coalesce(agents.agents, 0) AS agents, path AS source
             FROM found JOIN sessions ON sessions.id = found.id
             JOIN sources ON sources.id = sessions.source {calls} {sums}
             LEFT JOIN (
                 SELECT root, CAST(sum(count) AS BIGINT) AS warnings
                 FROM chosen JOIN warnings ON warnings.session = chosen.session GROUP BY root
             ) AS warned ON warned.root = sessions.id
             LEFT JOIN (
                 SELECT root, count(DISTINCT session_id) AS agents
                 FROM members JOIN sessions ON sessions.id = members.session
                 WHERE members.session <> root AND parent_relation = 'sub_agent' GROUP BY root
             ) AS agents ON agents.root = sessions.id
             ORDER BY found.place",
            places = places.collect::<Vec<_>>().join(", "),
            everything = grouping.members(),
            duration = duration(),
            active = active(),
            title = self.dialect().title("sessions"),
            model = fact("model"),
            cwd = fact("cwd"),
            project = project(),
            outcome = fact("outcome"),
            reason = fact("outcome_reason"),
            turns = fact("turns"),
            parent = fact("parent_session_id"),
            relation = fact("parent_relation"),
            calls = calls("members"),
            basis = basis("logged", "estimated"),
            chosen = with_rows("members"),
            sums = sums(estimated_cost, "chosen"),
        );
        self.ask(&sql, &self.parameters())
    }

    /// A session, with the totals of its parts unless it is a part itself.
    pub fn session_row(&self, number: i64) -> Result<Option<SessionRow>, StoreError> {
        let filter = SessionFilter { name: Some(number.into()), ..SessionFilter::default() };
        let found = self.sessions(&filter, SessionOrder::Number)?.pop();
        match found {
            Some(session) if session.whole.is_none() => {
                let filter = SessionFilter { grouping: Grouping::Trees, ..filter };
                Ok(self.sessions(&filter, SessionOrder::Number)?.pop())
            }
            found => Ok(found),
        }
    }

    /// The tree of a session: the one that a person began, and all its parts, each by itself, in the order in which they
    /// began.
    pub fn tree_of(&self, session: i64) -> Result<Vec<SessionRow>, StoreError> {
        let name = Some(SessionName::TreeOf(session));
        let filter = SessionFilter { name, ..SessionFilter::default() };
        let mut tree = self.sessions(&filter, SessionOrder::Number)?;
        tree.sort_by_key(|part| (part.whole.is_some(), part.began, part.number));
        Ok(tree)
    }

    /// The number of the selected sessions, whatever its limit.
    pub fn session_count(&self, filter: &SessionFilter) -> Result<u64, StoreError> {
        let mut parameters = self.parameters();
        let sql = format!(
            "{} SELECT count(*) AS sessions FROM sessions JOIN heads ON heads.root = sessions.id WHERE {}",
            filter.grouping.with_heads(),
            filter.sessions(&mut parameters)
        );
        let count = self.answer(&sql, &parameters, |row| row.get::<i64>(0))?.pop();
        Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
    }

    /// The number of the selected sessions, whatever their state and the limit, and how many are in each of these states.
    pub fn state_counts<const N: usize>(
        &self,
        filter: &SessionFilter,
        states: [StateFilter; N],
    ) -> Result<(u64, [u64; N]), StoreError> {
        let mut parameters = self.parameters();
        let counts = states.map(|state| {
            let is_in = state.sql("written", "waiting > 0", &mut parameters);
            format!(", count(CASE WHEN {is_in} THEN 1 END)")
        });
        let filter = SessionFilter { state: None, ..filter.clone() };
        let sql = format!(
            "{} SELECT count(*){} FROM sessions JOIN heads ON heads.root = sessions.id WHERE {}",
            filter.grouping.with_heads(),
            counts.concat(),
            filter.sessions(&mut parameters)
        );
        let counted = |row: &dyn Row| {
            let count = |at| Ok::<_, StoreError>(u64::try_from(row.get::<i64>(at)?).unwrap_or(0));
            let mut counts = [0; N];
            for (at, of_state) in counts.iter_mut().enumerate() {
                *of_state = count(at + 1)?;
            }
            Ok((count(0)?, counts))
        };
        Ok(self.answer(&sql, &parameters, counted)?.pop().unwrap_or((0, [0; N])))
    }

    /// The log of the first selected session: of those with one id, the one that has it as its
    /// address.
    pub fn session_log(&self, filter: &SessionFilter) -> Result<Option<SessionLog>, StoreError> {
        let mut parameters = self.parameters();
        let sql = format!(
            "{} SELECT sessions.id AS number, path, format, sessions.number AS key
             FROM sessions JOIN sources ON sources.id = sessions.source JOIN heads ON heads.root = sessions.id
             WHERE {} ORDER BY {ORDER} LIMIT 1",
            filter.grouping.with_heads(),
            filter.sessions(&mut parameters)
        );
        Ok(self.ask(&sql, &parameters)?.pop())
    }

    /// The tasks, the latest first.
    pub fn tasks(&self, filter: &SessionFilter) -> Result<Vec<TaskRow>, StoreError> {
        let mut parameters = self.parameters();
        let sql = format!(
            "{heads}, all_rows AS ({all_rows})
             SELECT task, count(*) AS sessions, group_concat(DISTINCT agent ORDER BY agent) AS agents, min({BEGAN}) AS began,
                    max({ENDED}) AS ended, {duration} AS duration_ms, CAST(sum(entries) AS BIGINT) AS entries,
                    CAST(sum(coalesce(calls, 0)) AS BIGINT) AS calls,
                    CAST(sum(coalesce(failures, 0)) AS BIGINT) AS failures,
                    {input} AS input_tokens, {output} AS output_tokens,
                    sum(cost_usd) AS cost_usd, {basis} AS cost_basis
             FROM sessions JOIN heads ON heads.root = sessions.id {calls} {sums}
             WHERE {condition} GROUP BY task ORDER BY max({ENDED}) DESC NULLS LAST, task NULLS FIRST {rows}",
            duration = sum(&duration()),
            input = sum("input_tokens"),
            output = sum("output_tokens"),
            basis = basis("sum(logged)", "sum(estimated)"),
            heads = Grouping::Trees.with_heads(),
            all_rows = with_rows("everything"),
            calls = calls("everything"),
            sums = sums(&self.estimated_cost()?, "all_rows"),
            condition = SessionFilter { grouping: Grouping::Trees, ..filter.clone() }
                .sessions(&mut parameters),
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
