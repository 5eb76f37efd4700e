//! Tasks and sessions, with their totals.

use super::{
    Asked,
    listing::{Kind, Listing},
};
use crate::error::Error;

/// Calls that count as failures.
pub(super) const FAILURES: &str =
    "(status = 'failed' OR status = 'denied' OR status = 'cancelled' OR status = 'unfinished')";

/// The sessions of the requested time, each with its calls and tokens.
fn chosen(asked: &Asked<'_>) -> String {
    let (since, until) = asked.span();
    let is_chosen = match (asked.args.since, asked.args.until) {
        (None, None) => "true".to_owned(),
        _ => format!(
            "coalesce(last_at, ended_at, started_at) >= {since}
             AND coalesce(first_at, started_at, ended_at) < {until}"
        ),
    };
    format!(
        "WITH calls AS (
             SELECT session, count(*) AS calls, sum({FAILURES}) AS failures
             FROM tool_calls GROUP BY session
         ), tokens AS (
             SELECT session, sum(input_tokens) AS input_tokens,
                    sum(output_tokens) AS output_tokens, sum(cost_usd) AS cost_usd
             FROM usage GROUP BY session
         ), chosen AS (
             SELECT sessions.*, coalesce(first_at, started_at) AS began,
                    coalesce(last_at, ended_at) AS ended,
                    coalesce(duration_ms, last_at - first_at) AS took,
                    coalesce(calls, 0) AS calls, coalesce(failures, 0) AS failures,
                    input_tokens, output_tokens, cost_usd
             FROM sessions
             LEFT JOIN calls ON calls.session = sessions.id
             LEFT JOIN tokens ON tokens.session = sessions.id
             WHERE {is_chosen}
         )"
    )
}

/// The tasks, or one of them, the latest first.
pub(super) fn tasks(asked: &Asked<'_>, task: Option<&str>) -> Result<Listing, Error> {
    let columns = [
        ("task", Kind::Id),
        ("sessions", Kind::Number),
        ("agents", Kind::Text),
        ("began", Kind::Minute),
        ("ended", Kind::Minute),
        ("duration_ms", Kind::Duration),
        ("entries", Kind::Number),
        ("calls", Kind::Number),
        ("failures", Kind::Number),
        ("input_tokens", Kind::Tokens),
        ("output_tokens", Kind::Tokens),
        ("cost_usd", Kind::Money),
    ];
    let sql = format!(
        "{} SELECT task, count(*), group_concat(DISTINCT agent), min(began), max(ended), sum(took),
                   sum(entries), sum(calls), sum(failures), sum(input_tokens), sum(output_tokens),
                   sum(cost_usd)
         FROM chosen WHERE ?1 IS NULL OR task = ?1
         GROUP BY task ORDER BY max(ended) DESC, task LIMIT ?2",
        chosen(asked)
    );
    Listing::select(asked.database.connection(), &columns, &sql, (task, asked.rows()))
        .map(|tasks| tasks.without_in_tables(&["agents", "ended", "entries"]))
        .map_err(|error| asked.failed(&error))
}

/// Columns of sessions that are left out of tables.
const FOR_PROGRAMS: &[&str] =
    &["session", "ended", "turns", "entries", "calls", "cwd", "title", "parent", "source"];

/// Which sessions.
#[derive(Clone, Copy)]
pub(super) enum Which<'i> {
    /// Those of a task.
    OfTask(&'i str),
    /// The one with this row.
    Row(i64),
}

/// The sessions, the latest first.
pub(super) fn sessions(asked: &Asked<'_>, which: Option<Which<'_>>) -> Result<Listing, Error> {
    let columns = [
        ("number", Kind::Number),
        ("session", Kind::Id),
        ("task", Kind::Id),
        ("agent", Kind::Text),
        ("model", Kind::Text),
        ("outcome", Kind::Id),
        ("began", Kind::Minute),
        ("ended", Kind::Minute),
        ("duration_ms", Kind::Duration),
        ("turns", Kind::Number),
        ("entries", Kind::Number),
        ("calls", Kind::Number),
        ("failures", Kind::Number),
        ("input_tokens", Kind::Tokens),
        ("output_tokens", Kind::Tokens),
        ("cost_usd", Kind::Money),
        ("cwd", Kind::Text),
        ("title", Kind::Text),
        ("parent", Kind::Text),
        ("source", Kind::Text),
    ];
    let (task, row) = match which {
        None => (None, None),
        Some(Which::OfTask(task)) => (Some(task), None),
        Some(Which::Row(row)) => (None, Some(row)),
    };
    let sql = format!(
        "{} SELECT chosen.id, session_id, task, agent, model, outcome, began, ended, took, turns,
                   entries, calls, failures, input_tokens, output_tokens, cost_usd, cwd, title,
                   parent_session_id, sources.path
         FROM chosen JOIN sources ON sources.id = chosen.source
         WHERE (?1 IS NULL OR task = ?1) AND (?2 IS NULL OR chosen.id = ?2)
         ORDER BY ended DESC, chosen.id LIMIT ?3",
        chosen(asked)
    );
    Listing::select(asked.database.connection(), &columns, &sql, (task, row, asked.rows()))
        .map(|sessions| sessions.without_in_tables(FOR_PROGRAMS))
        .map_err(|error| asked.failed(&error))
}
