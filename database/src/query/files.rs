//! Called tools, and the files that they read or changed.

use serde::{Deserialize, Serialize};

use super::{
    Period, SessionFilter,
    companions::{fact, repeated},
    project::project,
    sql::FAILURES,
};
use crate::{Store, StoreError, parameters::Parameters};

/// A file. A relative path is equal in all work trees of a project, and however a log states it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileRow {
    /// The project that it is in; `None` if it is in none.
    pub project: Option<String>,
    /// Its path, with `/` as the separator: relative to the project; without one absolute, or else as the log states it.
    pub path: String,
    /// The kinds of access, separated by commas: `read`, `write`, `edit`, `delete`, `rename_from`, `rename_to`.
    pub changes: String,
    /// By how many calls.
    pub calls: i64,
    /// The number of sessions.
    pub sessions: i64,
    /// When it was last touched.
    pub at: Option<i64>,
}

/// A file that a session touched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionFileRow {
    /// When it was last touched.
    pub at: Option<i64>,
    /// The number of the session.
    pub session: i64,
    /// The agent's id of the session.
    pub session_id: Option<String>,
    /// The session's title, or else the first line of its first prompt.
    pub title: Option<String>,
    /// The project of the file, as in [`FileRow`].
    pub project: Option<String>,
    /// The path of the file, as in [`FileRow`].
    pub path: String,
    /// The kinds of access, as in [`FileRow`].
    pub changes: String,
    /// By how many calls.
    pub calls: i64,
}

const CHANGES: &str =
    "group_concat(DISTINCT change ORDER BY change) AS changes, count(DISTINCT entry) AS calls";

/// A table `touched`: the rows of `tool_paths` whose sessions and entries fulfil a condition, each with the absolute path
/// as `whole` (a log may state one relative to the session's folder), the project of the file, and the path in it.
fn touched(condition: &str) -> String {
    let (folder, project) = (fact("cwd"), project());
    let slashes = |path: &str| format!(r"rtrim(replace({path}, '\', '/'), '/')");
    let below = |root: &str| format!("substr(whole || '/', 1, length({root}) + 1) = {root} || '/'");
    let within =
        |root: &str| format!("coalesce(nullif(substr(whole, length({root}) + 2), ''), '.')");
    format!(
        r"WITH folders_of AS MATERIALIZED (
            SELECT sessions.id, {folder} AS folder, {project} AS project,
                   coalesce((SELECT tree FROM folders WHERE folder = {folder}), {project}) AS tree FROM sessions
          ), roots AS MATERIALIZED (
            SELECT id, project, {} AS folder, {} AS root, {} AS tree FROM folders_of
          ), stated AS (
            SELECT entry, entries.session, timestamp, change,
                   replace(CASE WHEN substr(path, 1, 2) = './' THEN substr(path, 3) ELSE path END, '\', '/') AS stated
            FROM tool_paths JOIN entries ON entries.id = tool_paths.entry
            JOIN sessions ON sessions.id = entries.session WHERE {condition}
          ), wholes AS (
            SELECT entry, session, timestamp, change, project, root, tree,
                   CASE WHEN substr(stated, 1, 1) = '/' OR substr(stated, 2, 2) = ':/' OR folder IS NULL
                        THEN stated ELSE folder || '/' || stated END AS whole
            FROM stated JOIN roots ON roots.id = stated.session
          ), touched AS (
            SELECT entry, session, timestamp, change, whole,
                   CASE WHEN {} OR {} THEN project END AS project,
                   CASE WHEN {} THEN {} WHEN {} THEN {} ELSE whole END AS path FROM wholes
          )",
        slashes("folder"),
        slashes("project"),
        slashes("tree"),
        below("tree"),
        below("root"),
        below("tree"),
        within("tree"),
        below("root"),
        within("root"),
    )
}

/// The calls of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolTotals {
    /// The name of the tool.
    pub tool: String,
    /// The number of calls.
    pub calls: i64,
    /// Calls that have not ended.
    pub open: i64,
    /// Failed calls.
    pub failures: i64,
    /// The known durations of the calls in milliseconds, ascending.
    pub(super) durations: Vec<i64>,
}

impl ToolTotals {
    /// The failed fraction of the ended calls.
    pub fn failure_rate(&self) -> Option<f64> {
        let ended = self.calls - self.open;
        (ended != 0).then(|| self.failures as f64 / ended as f64)
    }

    /// A percentile of the durations in milliseconds: the duration of one of the calls.
    pub fn percentile(&self, percent: usize) -> Option<i64> {
        let rank = (self.durations.len() * percent).div_ceil(100);
        self.durations.get(rank.checked_sub(1)?).copied()
    }
}

fn condition(filter: &SessionFilter, only_changed: bool, parameters: &mut Parameters) -> String {
    let is_change = if only_changed { "change <> 'read'" } else { "true" };
    format!("{is_change} AND {}", filter.entries(parameters))
}

impl dyn Store + '_ {
    /// The tools, the most used first.
    pub fn tools(&self, filter: &SessionFilter) -> Result<Vec<ToolTotals>, StoreError> {
        let mut parameters = self.parameters();
        // Without a condition on a session or a time, only the index of the tools is read.
        let (condition, join) = match filter.matches(&mut parameters).as_str() {
            "true" if filter.period == Period::ALL => {
                let repeated = repeated();
                let of = "SELECT entry FROM tool_calls WHERE session IN";
                (format!("tool_calls.entry NOT IN ({of} ({repeated}))"), "")
            }
            _ => {
                parameters = self.parameters();
                let join = "JOIN entries ON entries.id = tool_calls.entry
                            JOIN sessions ON sessions.id = entries.session";
                (filter.entries(&mut parameters), join)
            }
        };
        // In the order of the index that holds all of these columns.
        let sql = format!(
            "SELECT tool_name, status IN ('created', 'in_progress', 'pending_approval'), {FAILURES},
                    tool_calls.duration_ms
             FROM tool_calls {join} WHERE {condition} ORDER BY tool_name"
        );
        let mut tools: Vec<ToolTotals> = Vec::new();
        self.answer(&sql, &parameters, |row| {
            let name: String = row.get(0)?;
            if tools.last().is_none_or(|tool| tool.tool != name) {
                tools.push(ToolTotals { tool: name, ..ToolTotals::default() });
            }
            let Some(tool) = tools.last_mut() else { return Ok(()) };
            tool.calls += 1;
            tool.open += row.get::<i64>(1)?;
            tool.failures += row.get::<i64>(2)?;
            tool.durations.extend(row.get::<Option<i64>>(3)?);
            Ok(())
        })?;
        tools.iter_mut().for_each(|tool| tool.durations.sort_unstable());
        tools.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.tool.cmp(&b.tool)));
        Ok(tools)
    }

    /// The files, the latest touched first.
    pub fn files(
        &self,
        filter: &SessionFilter,
        only_changed: bool,
    ) -> Result<Vec<FileRow>, StoreError> {
        self.files_by("at", filter, only_changed)
    }

    /// The files, those with the most calls first.
    pub fn files_by_calls(&self, filter: &SessionFilter) -> Result<Vec<FileRow>, StoreError> {
        self.files_by("calls", filter, false)
    }

    fn files_by(
        &self,
        order: &str,
        filter: &SessionFilter,
        only_changed: bool,
    ) -> Result<Vec<FileRow>, StoreError> {
        let mut parameters = self.parameters();
        let sql = format!(
            "{} SELECT project, path, {CHANGES}, count(DISTINCT session) AS sessions, max(timestamp) AS at
             FROM touched GROUP BY project, path ORDER BY {order} DESC NULLS LAST, path, project NULLS FIRST {}",
            touched(&condition(filter, only_changed, &mut parameters)),
            filter.rows(&mut parameters)
        );
        self.ask(&sql, &parameters)
    }

    /// The sessions that touched a file, or any file in a folder, the latest first. The path may be its last
    /// parts only.
    pub fn sessions_of_file(
        &self,
        path: &str,
        filter: &SessionFilter,
        only_changed: bool,
    ) -> Result<Vec<SessionFileRow>, StoreError> {
        let mut parameters = self.parameters();
        let path = path.replace('\\', "/");
        let part = parameters.add(format!("/{}/", path.trim_start_matches("./").trim_matches('/')));
        let sql = format!(
            "{} SELECT max(timestamp) AS at, sessions.id AS session, session_id, {} AS title, project, path, {CHANGES}
             FROM touched JOIN sessions ON sessions.id = touched.session
             WHERE instr('/' || whole || '/', {part}) > 0 OR instr(project || '/' || path || '/', {part}) > 0
             GROUP BY sessions.id, project, path ORDER BY at DESC NULLS LAST, sessions.id, path, project NULLS FIRST {}",
            touched(&condition(filter, only_changed, &mut parameters)),
            self.dialect().title("sessions"),
            filter.rows(&mut parameters)
        );
        self.ask(&sql, &parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_duration_that_occurred() {
        let durations = |durations: Vec<i64>| ToolTotals { durations, ..Default::default() };
        let tool = durations((1..=20).collect());
        assert_eq!((tool.percentile(50), tool.percentile(95)), (Some(10), Some(19)));
        assert_eq!(durations(vec![7]).percentile(95), Some(7));
        assert_eq!(durations(vec![]).percentile(50), None);
    }
}
