//! Sessions in the database: rows of the list, and the source of a session.

use std::collections::BTreeMap;

use foldline_database::{
    Store,
    query::{SessionFilter, SessionLog, SessionName, SessionRow, StateFilter},
};
use jiff::tz::TimeZone;
use serde::Serialize;

use super::{
    counts::Counts,
    filter::{Filter, escaped},
    row_detail::RowDetail,
    status::Status,
};
use crate::{answer::when, error::Error};

/// The source of the session with this name in an address. It comes from the database, never from a request.
pub(super) fn source(database: &dyn Store, name: &str) -> Result<Option<SessionLog>, Error> {
    let name = Some(SessionName::of_address(name));
    Ok(database.session_log(&SessionFilter { name, ..SessionFilter::default() })?)
}

/// The path of the page of the session with this name.
pub(super) fn path(name: &str) -> String {
    format!("/sessions/{}", escaped(name))
}

/// The paths of the pages of the sessions with these numbers.
pub(super) fn paths(database: &dyn Store, numbers: &[i64]) -> Result<BTreeMap<i64, String>, Error> {
    let names = database.addresses(numbers)?.into_iter();
    Ok(names.map(|(number, name)| (number, path(&name))).collect())
}

/// One session of the list. Moments are milliseconds since 1970.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(
    all(test, feature = "mcp"),
    derive(schemars::JsonSchema),
    schemars(rename = "ListedSession")
)]
pub(super) struct Session {
    /// The path of its page; below `/api`, that of its conversation.
    pub(super) path: String,
    /// Its number in the database, which differs in one that was built again.
    #[serde(skip)]
    pub(super) number: i64,
    /// The agent's own id of the session.
    pub(super) session: Option<String>,
    /// Its title, or else its first prompt.
    pub(super) title: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) model: Option<String>,
    /// The folder that the agent worked in.
    pub(super) cwd: Option<String>,
    /// The root of the repository that the session worked in, else its folder.
    pub(super) project: Option<String>,
    pub(super) status: Status,
    pub(super) began: Option<i64>,
    pub(super) ended: Option<i64>,
    /// When its log was last written.
    pub(super) written: Option<i64>,
    pub(super) duration_ms: Option<i64>,
    /// Without pauses of over five minutes.
    pub(super) active_ms: Option<i64>,
    /// Input and output.
    pub(super) tokens: Option<i64>,
    /// In US dollars; estimated if the log does not state it.
    pub(super) cost_usd: Option<f64>,
    /// The basis of the cost: `logged`, `estimated`, or `mixed`.
    pub(super) cost_basis: Option<String>,
    /// Failed calls.
    pub(super) failures: i64,
    /// The number of its sub-agents, and of theirs. All sums of the session are also theirs.
    pub(super) agents: i64,
    /// The path of the session that it is a part of.
    pub(super) whole: Option<String>,
    /// The relation to the session that it was started from: `sub_agent`, `fork` or `continuation`.
    pub(super) relation: Option<String>,
    /// The first words of the agent, in place of a title.
    #[serde(skip)]
    pub(super) said: Option<String>,
    /// The outcome and its reason, as the log states them.
    #[serde(skip)]
    pub(super) outcome: Option<String>,
    #[serde(skip)]
    pub(super) reason: Option<String>,
    /// The line below the title.
    #[serde(skip)]
    pub(super) second: Option<RowDetail>,
}

impl Session {
    fn new(row: SessionRow, paths: &BTreeMap<i64, String>, now: i64) -> Self {
        let path = |number: &i64| paths.get(number).cloned();
        Self {
            path: path(&row.number).unwrap_or_default(),
            whole: row.whole.as_ref().and_then(path),
            number: row.number,
            status: Status::of(row.outcome.as_deref(), row.written, row.waiting > 0, now),
            session: row.session,
            title: row.title.filter(|title| !title.is_empty()),
            agent: row.agent,
            model: row.model,
            cwd: row.cwd,
            project: row.project,
            began: row.began,
            ended: row.ended,
            written: row.written,
            duration_ms: row.duration_ms,
            active_ms: row.active_ms,
            tokens: row.tokens,
            cost_usd: row.cost_usd,
            cost_basis: row.cost_basis,
            failures: row.failures,
            agents: row.agents,
            relation: row.relation,
            said: None,
            outcome: row.outcome,
            reason: row.reason,
            second: None,
        }
    }

    /// Its title, the first words of the agent, or its id.
    pub(super) fn name(&self) -> &str {
        let title = self.title.as_deref().filter(|title| !title.trim().is_empty());
        title.or(self.said.as_deref()).or(self.session.as_deref()).unwrap_or("Session")
    }

    /// Whether the cost is an estimate, at least in part.
    pub(super) fn is_estimated(&self) -> bool {
        self.cost_basis.as_deref().is_some_and(|basis| basis != "logged")
    }
}

/// A part of the sessions that a filter chooses, in its order.
#[derive(Debug)]
pub(super) struct Sessions {
    /// The sessions of the part.
    pub(super) part: Vec<Session>,
    /// The number of all chosen sessions.
    pub(super) total: u64,
    /// The number of sessions until the end of the part, if others follow.
    pub(super) next: Option<u32>,
}

/// The requested part of the sessions.
pub(super) fn sessions(
    database: &dyn Store,
    filter: &Filter,
    zone: &TimeZone,
    now: i64,
) -> Result<Sessions, Error> {
    let chosen = filter.chosen(zone, now)?;
    // One more than was asked for, if there are more.
    let mut found = database.sessions(&chosen, filter.sort)?;
    let next =
        (found.len() > filter.limit as usize).then(|| filter.offset.saturating_add(filter.limit));
    let is_known = next.is_none() && (filter.offset == 0 || !found.is_empty());
    let total = match is_known {
        true => u64::from(filter.offset) + found.len() as u64,
        false => database.session_count(&chosen)?,
    };
    found.truncate(filter.limit as usize);
    let wholes = found.iter().filter_map(|session| session.whole);
    let numbers: Vec<_> = found.iter().map(|session| session.number).chain(wholes).collect();
    let paths = paths(database, &numbers)?;
    let part = found.into_iter().map(|session| Session::new(session, &paths, now)).collect();
    Ok(Sessions { part, total, next })
}

/// Counts the sessions that a filter chooses, whatever their status.
pub(super) fn counts(
    database: &dyn Store,
    filter: &Filter,
    zone: &TimeZone,
    now: i64,
) -> Result<Counts, Error> {
    let since = when::running_since(now);
    let states =
        [StateFilter::RunningSince(since), StateFilter::WaitingSince(since), StateFilter::Failed];
    let (all, [running, waiting, failed]) =
        database.state_counts(&filter.chosen(zone, now)?, states)?;
    let is_choice = Filter { sort: filter.sort, ..filter.from(0) }
        != Filter { sort: filter.sort, ..Filter::default() };
    let total = match is_choice {
        true => database.session_count(&Filter::default().chosen(zone, now)?)?,
        false => all,
    };
    Ok(Counts { total, all, running, waiting, failed })
}

/// The projects with sessions: the last parts of their paths.
pub(super) fn projects(database: &dyn Store) -> Result<Vec<String>, Error> {
    let projects = database.projects()?;
    let mut projects: Vec<_> = projects.iter().map(|path| project(path).to_owned()).collect();
    projects.sort_by_key(|project| project.to_lowercase());
    projects.dedup();
    projects.retain(|project| !project.is_empty());
    Ok(projects)
}

/// The last part of a folder.
pub(super) fn project(folder: &str) -> &str {
    folder.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default()
}
