//! What agents were allowed to do without asking, and when.

use foldline_domain::{Allowed, Authority};

use super::{Period, SessionFilter, companions::whole, project::project, sql::LATEST};
use crate::{Store, StoreError};

/// A time in which a session, or one of its sub-agents, was allowed the same.
#[derive(Clone, Debug, PartialEq)]
pub struct AuthorityRow {
    /// What it was allowed, with the agent's own words.
    pub authority: Authority,
    /// The beginning: as stated, or else the latest moment before the statement, or that at which the session began.
    pub since: Option<i64>,
    /// The end: that of the session, or the beginning of the next.
    pub until: Option<i64>,
    /// The number of the session.
    pub session: i64,
    /// The agent's id of the session.
    pub session_id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its agent.
    pub agent: Option<String>,
    /// Its project.
    pub project: Option<String>,
}

impl dyn Store + '_ {
    /// What the sessions were allowed, the latest first. The time of the filter is that of what was allowed; its limit is
    /// not applied.
    pub fn authority_of(&self, filter: &SessionFilter) -> Result<Vec<AuthorityRow>, StoreError> {
        let mut parameters = self.parameters();
        let chosen = SessionFilter { period: Period::ALL, allowed: None, ..filter.clone() };
        let mut conditions = vec![chosen.sessions(&mut parameters)];
        conditions.extend(
            filter.allowed.map(|allowed| {
                format!("allowed = {}", parameters.add(allowed.as_str().to_owned()))
            }),
        );
        if filter.period != Period::ALL {
            let Period { start, end } = filter.period;
            let (start, end) = (parameters.add(start), parameters.add(end));
            conditions.push(format!("stated_until >= {start} AND stated_since < {end}"));
        }
        let sql = format!(
            "{heads}
             SELECT permission_mode, approval_policy, sandbox, allowed, stated_since, stated_until,
                    sessions.id, sessions.session_id, {title}, sessions.agent, {project}
             FROM (
                 SELECT {whole} AS of, permission_mode, approval_policy, sandbox, allowed,
                        coalesce(since, authority.last_at, first_at, started_at) AS stated_since,
                        coalesce(lead(coalesce(since, authority.last_at)) OVER (
                            PARTITION BY authority.session ORDER BY authority.id), {latest}) AS stated_until
                 FROM authority JOIN sessions ON sessions.id = authority.session
             ) AS stated
             JOIN everything ON everything.session = stated.of JOIN sessions ON sessions.id = everything.root
             WHERE {conditions}
             ORDER BY stated_until DESC NULLS LAST, stated_since DESC NULLS LAST, sessions.id DESC",
            heads = filter.grouping.with_heads(),
            title = self.dialect().title("sessions"),
            project = project(),
            whole = whole("authority.session"),
            latest = LATEST.replace("last_at", "sessions.last_at"),
            conditions = conditions.join(" AND "),
        );
        self.answer(&sql, &parameters, |row| {
            let allowed: Option<String> = row.get(3)?;
            let authority = Authority {
                permission_mode: row.text(0)?,
                approval_policy: row.text(1)?,
                sandbox: row.text(2)?,
                allowed: allowed.and_then(|name| name.parse::<Allowed>().ok()),
                since: row.moment(4)?,
            };
            Ok(AuthorityRow {
                authority,
                since: row.get(4)?,
                until: row.get(5)?,
                session: row.get(6)?,
                session_id: row.get(7)?,
                title: row.get(8)?,
                agent: row.get(9)?,
                project: row.get(10)?,
            })
        })
    }
}
