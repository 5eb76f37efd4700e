//! [`Tree`]: the sessions that belong to an open one.

use foldline_database::{Store, query::SessionRow};
use foldline_domain::EntryIdx;
use foldline_render::html::Totals;
use serde::Serialize;

use super::{
    page, sessions,
    status::{Status, now},
};
use crate::{error::Error, verbs::resume};

/// The sessions that belong to an open one, as the database knows them: its whole, and its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tree {
    /// The link to the session that it is a part of, as HTML.
    pub(super) whole: Option<String>,
    pub(super) parts: Vec<Part>,
    /// Those of the session with all its parts, if it has parts and is not a part itself.
    pub(super) totals: Option<Totals>,
    /// The command that resumes the whole: a part cannot be resumed.
    pub(super) resume: Option<String>,
    /// Whether a call in it or in its parts waits for a person.
    pub(super) is_waiting: bool,
    /// Whether the status of a part may change without a change of the database.
    pub(super) is_running: bool,
}

/// A part of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Part {
    /// The entry with the call that started it.
    pub(super) call: Option<EntryIdx>,
    /// Its row.
    pub(super) html: String,
}

impl Tree {
    pub(super) fn read(database: &dyn Store, session: i64) -> Result<Self, Error> {
        let rows = database.tree_of(session)?;
        let Some(own) = rows.iter().find(|row| row.number == session) else {
            return Ok(Self::default());
        };
        let whole = own.whole.and_then(|whole| rows.iter().find(|row| row.number == whole));
        let parts = rows.iter().filter(|row| row.whole == Some(session));
        let numbers: Vec<_> = rows.iter().map(|row| row.number).collect();
        let paths = sessions::paths(database, &numbers)?;
        let path = |row: &SessionRow| paths.get(&row.number).map_or("", String::as_str);
        let mut is_running = false;
        let parts = parts.map(|row| {
            let now = now();
            let status = Status::of(row.outcome.as_deref(), row.written, row.waiting > 0, now);
            is_running |= matches!(status, Status::Running | Status::Waiting);
            let call = row.call.and_then(|call| usize::try_from(call).ok()).map(EntryIdx::new);
            Part { call, html: page::part(row, path(row), status).into_string() }
        });
        let parts = parts.collect();
        let is_waiting = rows.iter().any(|row| row.outcome.is_none() && row.waiting > 0);
        let totals = match whole.is_none() && rows.len() > 1 {
            true => database.session_row(session)?.as_ref().map(totals),
            false => None,
        };
        let root = whole.and(rows.first());
        Ok(Self {
            whole: whole.map(|whole| page::whole(whole, path(whole)).into_string()),
            parts,
            totals,
            resume: root.and_then(resume::line_of),
            is_waiting,
            is_running,
        })
    }
}

fn totals(row: &SessionRow) -> Totals {
    let count = |n: i64| u64::try_from(n).unwrap_or(0);
    Totals {
        agents: count(row.agents),
        calls: count(row.calls),
        failures: count(row.failures),
        input_tokens: row.input_tokens.map(count),
        output_tokens: row.output_tokens.map(count),
        cost_usd: row.cost_usd,
        is_estimated: row.cost_basis.as_deref().is_some_and(|basis| basis != "logged"),
    }
}
