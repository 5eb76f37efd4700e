//! Finds a task or a session by user input.

use std::path::{Path, PathBuf};

use foldline_database::{
    Store,
    query::{SessionFilter, SessionName, SessionOrder, SessionRow},
};
use foldline_render::terminal::neutralise_line;

use super::{database::DatabaseArgs, filters::Filters};
use crate::{
    error::Error, finder::is_log_name, homes::or_homes, program::Program, project, table::clip,
};

/// The number of suggestions.
const SUGGESTED: usize = 3;

/// The least similarity of a suggestion; 1 is equal.
const NEAR: f64 = 0.75;

/// The id of the task with this id, or the only task whose id begins with it.
pub(crate) fn task(database: &dyn Store, id: &str) -> Result<String, Error> {
    let all = database.task_names()?;
    let mut beginning = all.iter().filter(|task| !id.is_empty() && task.starts_with(id));
    let found = match (all.iter().find(|task| *task == id), beginning.next(), beginning.next()) {
        (Some(exact), ..) | (None, Some(exact), None) => Some(exact.clone()),
        _ => None,
    };
    found.ok_or_else(|| not_found("task", id, all))
}

/// The row of the session with this name: `latest` (of the project of this folder, if it has any), `latest~2`, its
/// number, its id, the beginning of its id, the path of its log, or a part of its title. The filters only apply to
/// `latest`.
pub(crate) fn session(database: &dyn Store, name: &str, filters: &Filters) -> Result<i64, Error> {
    if let Some(offset) = latest(name) {
        let filter = SessionFilter { offset, limit: Some(1), ..filters.chosen()? };
        let latest = |filter: &SessionFilter| {
            let found = database.sessions(filter, SessionOrder::Latest)?;
            Ok::<_, Error>(found.first().map(|session| session.number))
        };
        // Where a person works, the sessions of the project are meant, as agents do it.
        let here = project::here().filter(|_| !filters.is_choice());
        let here = here.map(|project| SessionFilter { project: Some(project), ..filter.clone() });
        let found = here.map(|here| latest(&here)).transpose()?.flatten();
        let found = found.map_or_else(|| latest(&filter), |found| Ok(Some(found)))?;
        return match (found, filters.is_choice()) {
            (Some(found), _) => Ok(found),
            (None, true) => Err(Error::NoSession),
            (None, false) => Err(not_found("session", name, Vec::new())),
        };
    }
    filters.refuse_choice(&format!("{name} is the name of one"))?;
    let path = dunce::canonicalize(name).ok();
    let path = path.as_ref().and_then(|path| path.to_str()).unwrap_or(name);
    let ways = [
        Some(SessionName::Id(name.to_owned())),
        name.parse::<i64>().ok().map(SessionName::from),
        Some(SessionName::IdBegins(name.to_owned())),
        Some(SessionName::Log(path.to_owned())),
        Some(SessionName::Title(name.to_owned())),
    ];
    for way in ways.into_iter().flatten().filter(|_| !name.is_empty()) {
        let order = match way {
            SessionName::Title(_) => SessionOrder::Latest,
            _ => SessionOrder::Number,
        };
        let filter = SessionFilter { name: Some(way), ..SessionFilter::default() };
        let found = database.sessions(&filter, order)?;
        // There is nothing to show of a session without entries.
        let mut told = found.iter().filter(|session| session.entries > 0);
        match (found.as_slice(), told.next(), told.next()) {
            ([], ..) => {}
            ([session], ..) | (_, Some(session), None) => return Ok(session.number),
            _ => return Err(ambiguous(name, &found)),
        }
    }
    if let (session, Some(_)) = reference(name)
        && self::session(database, session, filters).is_ok()
    {
        let message = format!(
            "{name} names an entry: `foldline show {name}` shows it; the session is {session}"
        );
        return Err(Error::WrongUse(message));
    }
    Err(not_found("session", name, database.session_ids()?))
}

/// Whether a name is the path of a log, even of a missing one.
pub(crate) fn is_path(name: &str) -> bool {
    let path = Path::new(name);
    let is_log = is_log_name(path);
    path.exists()
        || name == "-"
        || name.contains('/') && !name.contains(' ')
        || is_log && !name.contains(' ')
}

/// The path of the log that the user named: a path, or the name of a session of the default database.
pub(crate) fn log(program: &Program, name: &Path) -> Result<PathBuf, Error> {
    let Some(session) = name.to_str().filter(|name| !is_path(name)) else {
        return Ok(name.to_owned());
    };
    let database = DatabaseArgs::default().open(program)?;
    let number = self::session(&*database, session, &Filters::default())?;
    log_of(&*database, number).map(|found| found.ok_or_else(|| Error::NoFile(name.to_owned())))?
}

/// The names of sessions among these arguments, and the paths of logs.
pub(crate) fn names_and_logs(about: &[PathBuf]) -> (Vec<&str>, Vec<PathBuf>) {
    let name = |path: &'_ PathBuf| path.to_str().is_some_and(|name| !is_path(name));
    let names = about.iter().filter(|path| name(path)).filter_map(|path| path.to_str());
    (names.collect(), about.iter().filter(|path| !name(path)).cloned().collect())
}

/// The logs and folders that the user named, or else the folders of the agents.
pub(crate) fn logs(program: &Program, names: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    match names {
        [] => or_homes(&[], &program.registry),
        names => names.iter().map(|name| log(program, name)).collect(),
    }
}

/// The path of the log of a session.
pub(crate) fn log_of(database: &dyn Store, session: i64) -> Result<Option<PathBuf>, Error> {
    let name = Some(SessionName::from(session));
    let log = database.session_log(&SessionFilter { name, ..SessionFilter::default() })?;
    Ok(log.map(|log| log.path.into()))
}

/// Splits a reference to an entry, `SESSION:ENTRY`, as other answers print it.
pub(crate) fn reference(name: &str) -> (&str, Option<u64>) {
    let split = name.rsplit_once(':').filter(|(session, _)| !session.is_empty());
    match split.and_then(|(session, entry)| Some((session, entry.parse().ok()?))) {
        Some((session, entry)) => (session, Some(entry)),
        None => (name, None),
    }
}

/// The number `N` of `latest~N`; 0 for `latest`.
fn latest(name: &str) -> Option<usize> {
    match name.strip_prefix("latest")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

/// The error for a name that matches several sessions; it lists them.
fn ambiguous(name: &str, sessions: &[SessionRow]) -> Error {
    /// The number of listed sessions.
    const LISTED: usize = 10;
    let mut message =
        format!("{name:?} matches {} sessions; name one by its number:", sessions.len());
    for SessionRow { number, session, title, .. } in sessions.iter().take(LISTED) {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let line = format!("{number}  {}  {}", text(session), text(title));
        message.push_str("\n  ");
        message.push_str(&clip(&neutralise_line(&line), 90));
    }
    if sessions.len() > LISTED {
        message.push_str("\n  …");
    }
    Error::WrongUse(message)
}

fn not_found(what: &'static str, id: &str, all: Vec<String>) -> Error {
    Error::NotFound { what, id: id.to_owned(), near: near(id, all.into_iter()) }
}

/// The most similar ones.
fn near(id: &str, all: impl Iterator<Item = String>) -> Vec<String> {
    let id = id.to_lowercase();
    let mut near: Vec<(f64, String)> = all
        .map(|known| (strsim::jaro_winkler(&id, &known.to_lowercase()), known))
        .filter(|(similarity, _)| *similarity >= NEAR)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let named = near.into_iter().take(SUGGESTED);
    named
        .map(|(_, known)| foldline_render::terminal::neutralise_line(&known).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_comes_first() {
        let all = ["TASK-12", "TASK-21", "other", "task-120"].map(str::to_owned);
        assert_eq!(near("task-12", all.clone().into_iter())[0], "TASK-12");
        assert_eq!(near("zzz", all.into_iter()), Vec::<String>::new());
    }
}
