//! `failures`: failed calls, their reasons, and where the same command succeeded later.

use foldline_database::query::{FoundEntry, SessionFilter};
use foldline_domain::{ActionType, FileChange, NormalizedEntry};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    likeness::{Likeness, likeness},
    reason::reason,
    tool_arguments::ToolArguments,
};
use crate::{
    error::Error,
    mcp::{
        arguments::{self, Bounds, Scope},
        call::{Call, of_number},
        entry::{changed, exit_code},
        listing::{Results, after},
        quote::{clip, line, output, quoted},
    },
};

/// Lines of a reason.
const LINES: usize = 6;

/// Later calls that are compared with a failed one.
const COMPARED: usize = 500;

/// Entries between a failure and the later success that are read for changes, and changes that are listed.
const BETWEEN: i64 = 400;
const MOST_CHANGES: usize = 8;

/// The arguments of `failures`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Failures {
    /// Part of the command, arguments, output or tool.
    text: Option<String>,
    #[serde(flatten)]
    scope: Scope,
    /// Results to skip.
    offset: u32,
    #[serde(flatten)]
    bounds: Bounds,
}

impl ToolArguments for Failures {
    const NAME: &'static str = "failures";
    const TITLE: &'static str = "Failures and fixes";
    const ABOUT: &'static str = "Lists what failed in past sessions, the latest first: why, where the same command \
        succeeded later, and which files changed in between.";

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn answer(&self, call: &Call<'_>) -> Result<String, Error> {
        let filter = after(call, self.offset, call.filter(&self.scope)?);
        let found = match &self.text {
            Some(text) => call.database.failures_with(text, &filter)?,
            None => call.database.failures(&filter)?,
        };
        if found.is_empty() {
            return Ok(call.nothing("Nothing failed", &self.scope, self.offset));
        }
        let results = Results { head: String::new(), rows: &found, offset: self.offset };
        results.answer(call, |failure| block(call, failure))
    }
}

/// A failure, its reason, and what became of it.
fn block(call: &Call<'_>, failure: &FoundEntry) -> Result<String, Error> {
    let name = call.name(failure.session, failure.session_id.as_deref())?;
    let Some(entry) = entry(call, failure.session, failure.index)? else {
        return Ok(String::new());
    };
    let entry = call.entry(entry);
    let tool = entry.tool();
    let mut head = format!("{name}:{} {}", failure.index, call.minute(failure.at));
    head.push_str(&format!(" {}", tool.map_or("error", |tool| tool.status.name())));
    if let Some(code) = tool.and_then(|tool| exit_code(&tool.action_type)) {
        head.push_str(&format!(", exit {code}"));
    }
    let title = failure.title.as_deref().unwrap_or_default();
    let title = call.line(title, 80);
    let mut block = format!("{head}\n");
    if !title.is_empty() {
        block.push_str(&quoted(&title));
    }
    let said = match tool {
        Some(tool) => {
            let name = line(&tool.tool_name.decode(), 60);
            block.push_str(&quoted(&format!("{name}: {}", line(&entry.content.decode(), 300))));
            tool.action_type.result_text().unwrap_or_default()
        }
        None => entry.content.clone(),
    };
    let said = output(&said.decode());
    let (lines, all) = reason(&said, LINES);
    let lines: String = lines.iter().map(|line| quoted(&clip(line.trim_end(), 200))).collect();
    block.push_str(&lines);
    if all > LINES {
        block.push_str(&format!("({LINES} of {all} lines)\n"));
    }
    block.push_str(&sequel(call, failure, &name)?);
    Ok(block)
}

/// Where the same command succeeded later, and what was changed in between.
fn sequel(call: &Call<'_>, failure: &FoundEntry, name: &str) -> Result<String, Error> {
    let Some(what) = failure.what.as_deref().filter(|_| failure.tool.is_some()) else {
        return Ok(String::new());
    };
    let Some((success, likeness)) = success(call, failure, what)? else {
        return Ok("No later success.\n".to_owned());
    };
    let later = call.name(success.session, success.session_id.as_deref())?;
    let same = match likeness {
        Likeness::Same => "Succeeded later",
        Likeness::Similar => "A similar command succeeded later",
    };
    let mut said = format!("{same}: {later}:{} {}\n", success.index, call.minute(success.at));
    if likeness == Likeness::Similar {
        let what = success.what.as_deref().unwrap_or_default();
        said.push_str(&quoted(&call.line(what, 200)));
    }
    if success.session == failure.session {
        said.push_str(&changes(call, failure, success.index, name)?);
        let range = [
            ("session", json!(name)),
            ("from", json!(failure.index)),
            ("to", json!(success.index)),
        ];
        let read = arguments::call("get_session", &arguments::Object::new(), &range);
        said.push_str(&format!("Between: {read}\n"));
    }
    Ok(said)
}

/// The first later call of the same command that succeeded, or else of a similar one: in the same session, or else in
/// another one of its folder.
fn success(
    call: &Call<'_>,
    failure: &FoundEntry,
    what: &str,
) -> Result<Option<(FoundEntry, Likeness)>, Error> {
    let best = |found: Vec<FoundEntry>| {
        let liken = |later: FoundEntry| {
            let likeness = likeness(what, later.what.as_deref()?)?;
            Some((later, likeness))
        };
        let mut alike: Vec<_> = found.into_iter().filter_map(liken).collect();
        let same = alike.iter().position(|(_, likeness)| *likeness == Likeness::Same);
        (!alike.is_empty()).then(|| alike.swap_remove(same.unwrap_or(0)))
    };
    let limit = Some(COMPARED);
    let own = SessionFilter { limit, ..of_number(failure.session) };
    if let Some(found) = best(call.database.successes_after(failure, &own)?) {
        return Ok(Some(found));
    }
    let session = call.database.session(failure.session)?;
    let Some(folder) = session.cwd.map(|cwd| cwd.decode().into_owned()) else { return Ok(None) };
    let folders = SessionFilter { folders: vec![folder], limit, ..SessionFilter::default() };
    let same = call.database.successes_after(failure, &folders)?;
    Ok(best(same).filter(|(_, likeness)| *likeness == Likeness::Same))
}

/// The files that were changed between two entries of a session.
fn changes(call: &Call<'_>, failure: &FoundEntry, to: i64, name: &str) -> Result<String, Error> {
    let from = failure.index.saturating_add(1);
    let mut changed_at = Vec::new();
    call.database.entries(
        failure.session,
        from..to.min(from.saturating_add(BETWEEN)),
        |stored| {
            let index = stored.index.get();
            if !edits(&stored.entry).is_empty() {
                let entry = call.entry(stored.entry);
                changed_at.extend(edits(&entry).iter().map(|edit| (index, edit.clone())));
            }
        },
    )?;
    let mut said = String::new();
    for (index, edit) in changed_at.iter().take(MOST_CHANGES) {
        said.push_str(&format!("Changed at {name}:{index}\n{}", changed(edit)));
    }
    if let Some(more @ 1..) = changed_at.len().checked_sub(MOST_CHANGES) {
        said.push_str(&format!("{more} more changes\n"));
    }
    Ok(said)
}

/// The changes of a call that succeeded.
fn edits(entry: &NormalizedEntry) -> &[FileChange] {
    match entry.tool().filter(|tool| !tool.status.is_failure()).map(|tool| &tool.action_type) {
        Some(ActionType::FileEdit { changes, .. }) => changes,
        _ => &[],
    }
}

fn entry(call: &Call<'_>, session: i64, index: i64) -> Result<Option<NormalizedEntry>, Error> {
    let mut entry = None;
    let range = index..index.saturating_add(1);
    call.database.entries(session, range, |stored| entry = Some(stored.entry))?;
    Ok(entry)
}
