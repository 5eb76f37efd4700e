//! Finds a task or a session by user input.

use rusqlite::{OptionalExtension, params};

use foldline::emitters::sqlite::Database;

use crate::error::Error;

/// The number of suggestions.
const SUGGESTED: usize = 3;

/// The least similarity of a suggestion; 1 is equal.
const NEAR: f64 = 0.75;

/// Checks that the task exists.
pub(super) fn task(database: &Database, id: &str) -> Result<(), Error> {
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

/// The row of the session with this number, id, or beginning of an id.
pub(crate) fn session(database: &Database, id: &str) -> Result<i64, Error> {
    let beginnings = ids(
        database,
        "SELECT id FROM sessions WHERE substr(session_id, 1, length(?1)) = ?1 ORDER BY id",
        id,
    )?;
    let whole = ids(database, "SELECT id FROM sessions WHERE session_id = ?1 ORDER BY id", id)?;
    let number = match id.parse::<i64>() {
        Ok(_) => ids(database, "SELECT id FROM sessions WHERE id = CAST(?1 AS INTEGER)", id)?,
        Err(_) => Vec::new(),
    };
    let found = [whole, number, beginnings].into_iter().find(|found| !found.is_empty());
    match found.as_deref() {
        Some([session]) => Ok(*session),
        Some(several) => {
            let numbers: Vec<_> = several.iter().take(10).map(i64::to_string).collect();
            Err(Error::WrongUse(format!(
                "{} sessions have an id that begins with {id:?}; give the number of one: {}",
                several.len(),
                numbers.join(", ")
            )))
        }
        None => {
            Err(not_found(database, "session", id, "SELECT DISTINCT session_id FROM sessions")?)
        }
    }
}

fn ids(database: &Database, sql: &str, id: &str) -> Result<Vec<i64>, Error> {
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
