//! Finds a task or a session by user input.

use foldline::emitters::{sqlite::Database, terminal::neutralise_line};
use rusqlite::{OptionalExtension, ToSql, params};

use super::filters::Filters;
use crate::verbs::sessions;
use crate::{error::Error, table::clip};

/// The number of suggestions.
const SUGGESTED: usize = 3;

/// The least similarity of a suggestion; 1 is equal.
const NEAR: f64 = 0.75;

/// Checks that the task exists.
pub(crate) fn task(database: &Database, id: &str) -> Result<(), Error> {
    let connection = database.connection();
    let found = connection
        .query_row("SELECT 1 FROM sessions WHERE task = ?1 LIMIT 1", [id], |_| Ok(()))
        .optional()
        .map_err(|error| failed(database, &error))?;
    match found {
        Some(()) => Ok(()),
        None => Err(not_found(database, "task", id, "SELECT DISTINCT task FROM sessions")?),
    }
}

/// The row of the session that is meant: `latest`, `latest~2`, its number, its id, the beginning of its id, the
/// path of its log, or a part of its title. The filters choose which is the latest; any other name is of one session.
pub(crate) fn session(database: &Database, name: &str, filters: &Filters) -> Result<i64, Error> {
    if let Some(back) = latest(name) {
        let sql = format!(
            "SELECT id FROM sessions WHERE {}
             ORDER BY coalesce(last_at, ended_at, started_at) DESC, id LIMIT 1 OFFSET ?1",
            filters.condition()
        );
        let found = ids(database, &sql, &back)?;
        let none = || Error::NotFound { what: "session", id: name.to_owned(), near: Vec::new() };
        return found.first().copied().ok_or_else(none);
    }
    filters.refuse_choice(&format!("{name} is the name of one"))?;
    let title = sessions::title("sessions");
    let in_title = format!(
        "SELECT id FROM sessions WHERE instr(lower({title}), lower(?1)) > 0
         ORDER BY coalesce(last_at, ended_at, started_at) DESC, id"
    );
    let of_path = "SELECT sessions.id FROM sessions JOIN sources ON sources.id = source
                   WHERE path = ?1 ORDER BY sessions.id";
    let path = std::fs::canonicalize(name).ok();
    let path = path.as_ref().and_then(|path| path.to_str()).unwrap_or(name);
    let ways = [
        ("SELECT id FROM sessions WHERE session_id = ?1 ORDER BY id", name),
        ("SELECT id FROM sessions WHERE CAST(id AS TEXT) = ?1", name),
        ("SELECT id FROM sessions WHERE substr(session_id, 1, length(?1)) = ?1 ORDER BY id", name),
        (of_path, path),
        (&*in_title, name),
    ];
    for (sql, name) in ways.into_iter().filter(|(_, name)| !name.is_empty()) {
        match ids(database, sql, &name)?.as_slice() {
            [] => {}
            [session] => return Ok(*session),
            several => match told(database, several)?.as_slice() {
                [session] => return Ok(*session),
                _ => return Err(ambiguous(database, name, several)?),
            },
        }
    }
    Err(not_found(database, "session", name, "SELECT DISTINCT session_id FROM sessions")?)
}

/// How far back `latest` or `latest~N` goes.
fn latest(name: &str) -> Option<i64> {
    match name.strip_prefix("latest")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok().filter(|back| *back >= 0),
    }
}

/// Those of these sessions in which something is told. A file beside a log may state no more than its tokens.
fn told(database: &Database, sessions: &[i64]) -> Result<Vec<i64>, Error> {
    let mut all = Vec::new();
    for session in sessions {
        all.extend(ids(
            database,
            "SELECT id FROM sessions WHERE id = ?1 AND entries > 0",
            session,
        )?);
    }
    Ok(all)
}

/// Several sessions are meant: they are listed, so that one can be chosen.
fn ambiguous(database: &Database, name: &str, sessions: &[i64]) -> Result<Error, Error> {
    /// The number of sessions that are listed.
    const LISTED: usize = 10;
    let sql = format!(
        "SELECT id || '  ' || coalesce(session_id, '') || '  ' || coalesce({}, '')
         FROM sessions WHERE id = ?1",
        sessions::title("sessions")
    );
    let mut message =
        format!("{} sessions are meant by {name:?}; name one by its number:", sessions.len());
    for session in sessions.iter().take(LISTED) {
        let line: String = database
            .connection()
            .query_row(&sql, [session], |row| row.get(0))
            .map_err(|error| failed(database, &error))?;
        let line = line.lines().next().unwrap_or_default();
        message.push_str("\n  ");
        message.push_str(&clip(&neutralise_line(line), 90));
    }
    if sessions.len() > LISTED {
        message.push_str("\n  …");
    }
    Ok(Error::WrongUse(message))
}

fn ids(database: &Database, sql: &str, id: &dyn ToSql) -> Result<Vec<i64>, Error> {
    let mut statement =
        database.connection().prepare(sql).map_err(|error| failed(database, &error))?;
    let ids = statement.query_map(params![id], |row| row.get(0));
    ids.and_then(Iterator::collect).map_err(|error| failed(database, &error))
}

fn not_found(database: &Database, what: &'static str, id: &str, all: &str) -> Result<Error, Error> {
    let mut statement =
        database.connection().prepare(all).map_err(|error| failed(database, &error))?;
    let all: Vec<Option<String>> = statement
        .query_map([], |row| row.get(0))
        .and_then(Iterator::collect)
        .map_err(|error| failed(database, &error))?;
    Ok(Error::NotFound { what, id: id.to_owned(), near: near(id, all.into_iter().flatten()) })
}

fn failed(database: &Database, error: &rusqlite::Error) -> Error {
    Error::Database(database.error(error))
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
        .map(|(_, known)| foldline::emitters::terminal::neutralise_line(&known).into_owned())
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
