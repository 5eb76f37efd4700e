//! Sessions in the database: rows of the list, and where a session is read from.

use std::path::PathBuf;

use foldline::{conversation::SessionKey, emitters::sqlite::Database};
use jiff::tz::TimeZone;
use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{
    filter::{DURATION, Filter, LATEST},
    status::Status,
};
use crate::{
    answer::when::Span,
    error::Error,
    verbs::sessions::{COSTS, FAILURES, cost_basis, title},
};

/// Where a session is read from. It comes from the database, never from a request.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The number of the session.
    pub(super) session: i64,
    pub(super) path: PathBuf,
    pub(super) format: String,
    /// The session within its log.
    pub(super) key: SessionKey,
}

/// The session that is meant by its number, or by the agent's id.
pub(super) fn source(database: &Database, name: &str) -> Result<Option<Source>, Error> {
    let of = |condition: &str| {
        database
            .connection()
            .query_row(
                &format!(
                    "SELECT sessions.id, path, format, number
                     FROM sessions JOIN sources ON sources.id = sessions.source
                     WHERE {condition} ORDER BY entries = 0, sessions.id LIMIT 1"
                ),
                [name],
                |row| {
                    Ok(Source {
                        session: row.get(0)?,
                        path: row.get::<_, String>(1)?.into(),
                        format: row.get(2)?,
                        key: SessionKey(row.get(3)?),
                    })
                },
            )
            .optional()
            .map_err(|error| Error::Database(database.error(&error)))
    };
    match of("session_id = ?1")? {
        Some(source) => Ok(Some(source)),
        None => of("CAST(sessions.id AS TEXT) = ?1"),
    }
}

/// One session of the list. Moments are milliseconds since 1970.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ListedSession"))]
pub(super) struct Session {
    /// Its number in the database, which addresses have.
    pub(super) number: i64,
    /// The agent's own id of it.
    pub(super) session: Option<String>,
    /// Its title, or else its first prompt.
    pub(super) title: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) model: Option<String>,
    /// The folder that the agent worked in.
    pub(super) cwd: Option<String>,
    pub(super) status: Status,
    pub(super) began: Option<i64>,
    pub(super) ended: Option<i64>,
    /// When its log was last written.
    pub(super) written: Option<i64>,
    pub(super) duration_ms: Option<i64>,
    /// Input and output.
    pub(super) tokens: Option<i64>,
    /// In US dollars; estimated where the log does not state it.
    pub(super) cost_usd: Option<f64>,
    /// Where the cost is from: `logged`, `estimated`, or `mixed`.
    pub(super) cost_basis: Option<String>,
    /// Calls that ended otherwise than well.
    pub(super) failures: i64,
}

impl Session {
    /// Whether the cost is an estimate, at least in part.
    pub(super) fn is_estimated(&self) -> bool {
        self.cost_basis.as_deref().is_some_and(|basis| basis != "logged")
    }
}

/// The most sessions of one page.
pub(super) const PAGE: usize = 200;

/// The sessions in the order that is asked for, and one more than a page has if there are more.
pub(super) fn sessions(
    database: &Database,
    filter: &Filter,
    zone: &TimeZone,
    now: i64,
) -> Result<Vec<Session>, Error> {
    let fail = |error| Error::Database(database.error(&error));
    let (key, sums) = filter.sort.key();
    let span = filter.time.span(zone)?;
    let sql = format!(
        "WITH found AS (
             SELECT sessions.id, {key} AS key FROM sessions
             JOIN sources ON sources.id = sessions.source {sums}
             WHERE entries > 0
               AND (?1 = '' OR instr(lower(coalesce({title}, '')), lower(?1)) > 0
                    OR instr(lower(coalesce(cwd, '')), lower(?1)) > 0 OR session_id = ?1
                    OR (?2 <> '' AND sessions.id IN (
                            SELECT entries.session FROM search
                            JOIN entries ON entries.id = search.rowid WHERE search MATCH ?2)))
               AND (?3 = '' OR agent = ?3)
               AND (?4 <> 'failed' OR outcome IN ('failed', 'limit_reached', 'cancelled'))
               AND (?4 <> 'running' OR (outcome IS NULL AND modified_at > ?5))
               AND (?4 <> 'done' OR (modified_at <= ?5 AND coalesce(outcome, '') NOT IN
                                     ('failed', 'limit_reached', 'cancelled')))
               AND (?8 = '' OR '/' || rtrim(replace(cwd, '\\', '/'), '/') LIKE '%/' || ?8 ESCAPE '\\')
               AND (?9 OR ({LATEST} >= ?10 AND coalesce(first_at, started_at, {LATEST}) < ?11))
             ORDER BY key DESC, {LATEST} DESC, sessions.id DESC
             LIMIT ?6 OFFSET ?7
         )
         SELECT sessions.id, session_id, {title}, agent, model, cwd, outcome, modified_at,
                coalesce(first_at, started_at), coalesce(last_at, ended_at), {DURATION},
                (SELECT sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) FROM usage
                 WHERE usage.session = sessions.id),
                costs.cost, {basis},
                (SELECT count(*) FROM tool_calls
                 WHERE tool_calls.session = sessions.id AND {FAILURES}),
                EXISTS (SELECT 1 FROM tool_calls WHERE tool_calls.session = sessions.id
                        AND status = 'pending_approval')
         FROM found JOIN sessions ON sessions.id = found.id
         LEFT JOIN (SELECT session, sum(cost) AS cost, count(logged) AS logged,
                           count(estimated) AS estimated
                    FROM ({COSTS}) WHERE session IN (SELECT id FROM found) GROUP BY session
                   ) AS costs ON costs.session = sessions.id
         JOIN sources ON sources.id = sessions.source
         ORDER BY key DESC, {LATEST} DESC, sessions.id DESC",
        basis = cost_basis("costs.logged", "costs.estimated"),
        title = title("sessions"),
    );
    let mut query = database.connection().prepare_cached(&sql).map_err(fail)?;
    let (limit, page) = (PAGE + 1, i64::from(filter.page));
    let parameters = params![
        filter.q.trim(),
        words(&filter.q),
        filter.agent,
        filter.status,
        Status::running_since(now),
        i64::try_from(limit).unwrap_or(i64::MAX),
        page.saturating_mul(i64::try_from(PAGE).unwrap_or(i64::MAX)),
        verbatim(&filter.project),
        span == Span::ALL,
        span.start,
        span.end,
    ];
    let rows = query.query_map(parameters, |row| session(row, now)).map_err(fail)?;
    rows.collect::<Result<_, _>>().map_err(fail)
}

fn session(row: &Row<'_>, now: i64) -> rusqlite::Result<Session> {
    let outcome: Option<String> = row.get(6)?;
    let title: Option<String> = row.get(2)?;
    let title = title.and_then(|title| title.trim().lines().next().map(str::to_owned));
    Ok(Session {
        number: row.get(0)?,
        session: row.get(1)?,
        title,
        agent: row.get(3)?,
        model: row.get(4)?,
        cwd: row.get(5)?,
        status: Status::of(outcome.as_deref(), row.get(7)?, row.get(15)?, now),
        began: row.get(8)?,
        ended: row.get(9)?,
        written: row.get(7)?,
        duration_ms: row.get(10)?,
        tokens: row.get(11)?,
        cost_usd: row.get(12)?,
        cost_basis: row.get(13)?,
        failures: row.get(14)?,
    })
}

/// The agents that there are sessions of.
pub(super) fn agents(database: &Database) -> Result<Vec<String>, Error> {
    let fail = |error| Error::Database(database.error(&error));
    let sql = "SELECT DISTINCT agent FROM sessions WHERE agent IS NOT NULL ORDER BY agent";
    let mut query = database.connection().prepare_cached(sql).map_err(fail)?;
    let agents = query.query_map([], |row| row.get(0)).map_err(fail)?;
    agents.collect::<Result<_, _>>().map_err(fail)
}

/// The projects that there are sessions of: the last parts of their folders.
pub(super) fn projects(database: &Database) -> Result<Vec<String>, Error> {
    let fail = |error| Error::Database(database.error(&error));
    let sql = "SELECT DISTINCT cwd FROM sessions WHERE cwd IS NOT NULL";
    let mut query = database.connection().prepare_cached(sql).map_err(fail)?;
    let folders = query.query_map([], |row| row.get::<_, String>(0)).map_err(fail)?;
    let folders = folders.collect::<Result<Vec<_>, _>>().map_err(fail)?;
    let mut projects: Vec<_> = folders.iter().map(|folder| project(folder).to_owned()).collect();
    projects.sort_by_key(|project| project.to_lowercase());
    projects.dedup();
    projects.retain(|project| !project.is_empty());
    Ok(projects)
}

/// The last part of a folder.
pub(super) fn project(folder: &str) -> &str {
    folder.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default()
}

/// Text as a pattern of SQL's `LIKE` that means nothing but itself.
fn verbatim(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// A question for the search index: entries that have words which begin with these.
fn words(q: &str) -> String {
    let words = q.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| format!("\"{word}\"*")).collect::<Vec<_>>().join(" ")
}
