//! Tasks and sessions, with their totals.

use clap::{Args, ValueEnum};

use crate::answer::{
    AskArgs, Asked, answer,
    listing::{Kind, Listing, Value},
    when::Span,
};
use crate::{error::Error, options::EXIT_CODES, program::Program};

/// The options of `foldline sessions`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SessionsArgs {
    /// What comes first
    #[arg(long, value_enum, default_value_t, value_name = "BY")]
    sort: Sort,

    #[command(flatten)]
    ask: AskArgs,
}

/// What the first of the sessions is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Sort {
    /// The one in which something happened last
    #[default]
    Latest,
    /// The one that began last
    Began,
    /// The longest
    Duration,
    /// The one with the most tokens
    Tokens,
    /// The one that cost most
    Cost,
    /// The one with the most failed calls
    Failures,
}

impl Sort {
    /// The columns that show it.
    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Latest | Self::Began => &[],
            Self::Duration => &["duration_ms"],
            Self::Tokens => &["input_tokens", "output_tokens"],
            Self::Cost => &["cost_usd"],
            Self::Failures => &["failures"],
        }
    }

    /// The order in SQL.
    fn order(self) -> &'static str {
        match self {
            Self::Latest => "ended DESC",
            Self::Began => "began DESC",
            Self::Duration => "took DESC",
            Self::Tokens => "coalesce(input_tokens, 0) + coalesce(output_tokens, 0) DESC",
            Self::Cost => "cost_usd DESC",
            Self::Failures => "failures DESC",
        }
    }
}

/// `foldline sessions`.
pub(crate) fn run(program: &Program, args: &SessionsArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| sessions(asked, None, args.sort))
}

/// Calls that count as failures.
pub(crate) const FAILURES: &str =
    "(status = 'failed' OR status = 'denied' OR status = 'cancelled' OR status = 'unfinished')";

/// The sessions that were chosen, each with its calls and tokens.
fn chosen(asked: &Asked<'_>) -> String {
    let is_chosen = is_chosen(asked);
    format!(
        "WITH calls AS (
             SELECT session, count(*) AS calls, sum({FAILURES}) AS failures
             FROM tool_calls GROUP BY session
         ), tokens AS (
             SELECT session, sum(input_tokens) AS input_tokens,
                    sum(output_tokens) AS output_tokens, sum(cost) AS cost_usd,
                    count(logged) AS logged, count(estimated) AS estimated
             FROM ({COSTS}) GROUP BY session
         ), chosen AS (
             SELECT sessions.*, coalesce(first_at, started_at) AS began,
                    coalesce(last_at, ended_at) AS ended,
                    coalesce(duration_ms, last_at - first_at) AS took,
                    coalesce(calls, 0) AS calls, coalesce(failures, 0) AS failures,
                    input_tokens, output_tokens, cost_usd, logged, estimated
             FROM sessions
             LEFT JOIN calls ON calls.session = sessions.id
             LEFT JOIN tokens ON tokens.session = sessions.id
             WHERE {is_chosen}
         )"
    )
}

/// The rows of `usage` in SQL, each with its cost as it is `logged` or `estimated`, and that of the two which counts.
/// Where the cost of a session is stated as a whole, apart from its tokens, nothing is estimated.
pub(crate) const COSTS: &str = "
    SELECT *, coalesce(logged, estimated) AS cost FROM (
        SELECT *, cost_usd AS logged, CASE
            WHEN cost_usd IS NULL AND session NOT IN (
                SELECT session FROM message_usage
                WHERE cost_usd IS NOT NULL AND input_tokens IS NULL AND output_tokens IS NULL
            ) THEN estimated_cost(message_id, model, input_tokens, output_tokens, cache_read_tokens,
                                  cache_write_tokens, cache_write_1h_tokens)
        END AS estimated FROM usage)";

/// The `cost_basis` in SQL, by how many costs were logged and estimated.
pub(crate) fn cost_basis(logged: &str, estimated: &str) -> String {
    format!(
        "CASE WHEN {logged} > 0 AND {estimated} > 0 THEN 'mixed'
              WHEN {logged} > 0 THEN 'logged' WHEN {estimated} > 0 THEN 'estimated' END"
    )
}

/// A condition in SQL on a row of `sessions`: it was active in the requested time, and is one that the filters
/// name.
pub(super) fn is_chosen(asked: &Asked<'_>) -> String {
    let condition = asked.filters.condition();
    match asked.span {
        Span::ALL => condition,
        Span { start, end } => format!(
            "coalesce(last_at, ended_at, started_at) >= {start}
             AND coalesce(first_at, started_at, ended_at) < {end} AND {condition}"
        ),
    }
}

/// What a session is called, in SQL: its title, or else the first line of what its user said first. A command to
/// the agent's program, such as `/ide`, says less than what was asked.
pub(crate) fn title(session: &str) -> String {
    let space = "' ' || char(9, 10, 13)";
    format!(
        "coalesce({session}.title, (
             SELECT substr(ltrim(content, {space}), 1, 400) FROM entries AS said
             WHERE said.session = {session}.id AND said.type = 'user_message'
                 AND ltrim(content, {space}) NOT GLOB '/*'
             ORDER BY said.idx LIMIT 1), (
             SELECT substr(ltrim(content, {space}), 1, 400) FROM entries AS said
             WHERE said.session = {session}.id AND said.type = 'user_message'
             ORDER BY said.idx LIMIT 1))"
    )
}

/// The tasks, or one of them, the latest first.
pub(crate) fn tasks(asked: &Asked<'_>, task: Option<&str>) -> Result<Listing, Error> {
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
        ("cost_basis", Kind::Id),
    ];
    let sql = format!(
        "{} SELECT task, count(*), group_concat(DISTINCT agent), min(began), max(ended), sum(took),
                   sum(entries), sum(calls), sum(failures), sum(input_tokens), sum(output_tokens),
                   sum(cost_usd), {}
         FROM chosen WHERE ?1 IS NULL OR task = ?1
         GROUP BY task ORDER BY max(ended) DESC, task LIMIT ?2",
        chosen(asked),
        cost_basis("sum(logged)", "sum(estimated)")
    );
    Listing::select(asked.database.connection(), &columns, &sql, (task, asked.rows()))
        .map(|tasks| tasks.without_in_tables(&["agents", "ended", "entries", "cost_basis"]))
        .map_err(|error| asked.failed(&error))
}

/// Columns of sessions that are left out of tables.
const FOR_PROGRAMS: &[&str] = &[
    "number",
    "task",
    "outcome",
    "ended",
    "turns",
    "entries",
    "calls",
    "parent",
    "source",
    "cost_basis",
];

/// Columns that a narrow table leaves out, in this order.
const LESS_IMPORTANT: &[&str] = &[
    "output_tokens",
    "input_tokens",
    "model",
    "duration_ms",
    "agent",
    "cost_usd",
    "cwd",
    "failures",
];

/// Which sessions.
#[derive(Clone, Copy)]
pub(super) enum Which<'i> {
    /// Those of a task.
    OfTask(&'i str),
    /// The one with this row.
    Row(i64),
}

/// The sessions, the latest first.
pub(super) fn sessions(
    asked: &Asked<'_>,
    which: Option<Which<'_>>,
    sort: Sort,
) -> Result<Listing, Error> {
    let columns = [
        ("number", Kind::Number),
        ("session", Kind::Short),
        ("task", Kind::Id),
        ("title", Kind::Text),
        ("agent", Kind::Id),
        ("model", Kind::Id),
        ("cwd", Kind::Folder),
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
        ("parent", Kind::Text),
        ("source", Kind::Text),
        ("cost_basis", Kind::Id),
    ];
    let (task, row) = match which {
        None => (None, None),
        Some(Which::OfTask(task)) => (Some(task), None),
        Some(Which::Row(row)) => (None, Some(row)),
    };
    let sql = format!(
        "{} SELECT chosen.id, session_id, task, {}, agent, model, cwd, outcome, began, ended, took,
                   turns, entries, calls, failures, input_tokens, output_tokens, cost_usd,
                   parent_session_id, sources.path, {}
         FROM chosen JOIN sources ON sources.id = chosen.source
         WHERE (?1 IS NULL OR task = ?1) AND (?2 IS NULL OR chosen.id = ?2)
         ORDER BY {}, ended DESC, chosen.id LIMIT ?3",
        chosen(asked),
        title("chosen"),
        cost_basis("logged", "estimated"),
        sort.order()
    );
    let mut sessions =
        Listing::select(asked.database.connection(), &columns, &sql, (task, row, asked.rows()))
            .map_err(|error| asked.failed(&error))?;
    let titles = sessions.rows.iter_mut().filter_map(|row| row.get_mut(3));
    titles.for_each(Value::keep_first_line);
    let sessions = sessions.without_in_tables(FOR_PROGRAMS);
    Ok(sessions.dropping(LESS_IMPORTANT).keeping(sort.columns()))
}
