//! `files_touched`: files that agents read or changed, or the sessions that touched one.

use foldline_database::query::{FileRow, SessionFileRow};
use foldline_render::human;
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool_arguments::ToolArguments;
use crate::{
    error::Error,
    mcp::{
        arguments::{Bounds, Scope},
        call::Call,
        listing::{Results, after},
        quote::quoted,
    },
};

/// The arguments of `files_touched`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct FilesTouched {
    /// File or folder, or the end of its path.
    path: Option<String>,
    /// Only changes, no reads.
    changed: bool,
    #[serde(flatten)]
    scope: Scope,
    /// Results to skip.
    offset: u32,
    #[serde(flatten)]
    bounds: Bounds,
}

impl ToolArguments for FilesTouched {
    const NAME: &'static str = "files_touched";
    const TITLE: &'static str = "Touched files";
    const ABOUT: &'static str = "Lists files that agents read or changed, the latest first; with a path, the sessions that \
        touched it.";

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn answer(&self, call: &Call<'_>) -> Result<String, Error> {
        let filter = after(call, self.offset, call.filter(&self.scope)?);
        let (head, offset) = (String::new(), self.offset);
        match &self.path {
            Some(path) => {
                let found = call.database.sessions_of_file(path, &filter, self.changed)?;
                if found.is_empty() {
                    return Ok(call.nothing("That file was not touched", &self.scope, self.offset));
                }
                Results { head, rows: &found, offset }.answer(call, |row| of_session(call, row))
            }
            None => {
                let found = call.database.files(&filter, self.changed)?;
                if found.is_empty() {
                    return Ok(call.nothing("No file was touched", &self.scope, self.offset));
                }
                Results { head, rows: &found, offset }.answer(call, |row| Ok(file(call, row)))
            }
        }
    }
}

fn of_session(call: &Call<'_>, row: &SessionFileRow) -> Result<String, Error> {
    let name = call.name(row.session, row.session_id.as_deref())?;
    let (at, access) = (call.minute(row.at), access(&row.changes, row.calls));
    let title = text(call, row.title.as_deref().unwrap_or_default());
    let path = path(call, row.project.as_deref(), &row.path);
    Ok(format!("{name} {at} {access}\n{}", quoted(&format!("{path} | {title}"))))
}

fn file(call: &Call<'_>, row: &FileRow) -> String {
    let (at, access) = (call.minute(row.at), access(&row.changes, row.calls));
    let sessions = human::number_of(row.sessions, "session");
    let path = path(call, row.project.as_deref(), &row.path);
    format!("{at} {access}, {sessions}\n{}", quoted(&path))
}

/// The path of a file in a project, or outside.
fn path(call: &Call<'_>, project: Option<&str>, path: &str) -> String {
    match project {
        Some(project) => text(call, &format!("{}/{path}", project.trim_end_matches('/'))),
        None => text(call, path),
    }
}

/// The kinds of access, and the number of calls.
fn access(changes: &str, calls: i64) -> String {
    format!("{}, {}", changes.replace(',', "/"), human::number_of(calls, "call"))
}

fn text(call: &Call<'_>, text: &str) -> String {
    call.line(text, 300)
}
