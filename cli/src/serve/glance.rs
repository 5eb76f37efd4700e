//! Adds what the list says below the titles.

use foldline_database::{
    Store,
    query::{MATCH, OpenCall, SearchTerms, SessionFilter, SessionName},
};

use super::{
    row_detail::{Hits, RowDetail},
    sessions::{self, Session},
    status::Status,
};
use crate::error::Error;

/// The largest number of sessions of a list whose entries are searched for the place that was found.
const MOST_SEARCHED: usize = 50;

/// The number of matches of a session of which the earliest is shown.
const BEST: usize = 20;

/// Adds the second lines of sessions that were searched for these words.
pub(super) fn add(
    database: &dyn Store,
    sessions: &mut [Session],
    words: &str,
) -> Result<(), Error> {
    for (place, session) in sessions.iter_mut().enumerate() {
        if session.title.is_none() {
            let answer = database.first_answer(session.number)?;
            session.said = answer.as_deref().and_then(first_line);
        }
        session.second = match session.status {
            _ if !words.is_empty() && place < MOST_SEARCHED => {
                found(database, session.number, words)?
            }
            Status::Running | Status::Waiting => {
                database.open_call_of_tree(session.number)?.as_ref().map(open)
            }
            Status::Failed => session.reason.as_deref().and_then(first_line).map(RowDetail::Says),
            Status::Done => None,
        };
    }
    Ok(())
}

fn open(call: &OpenCall) -> RowDetail {
    let (tool, what) = (&call.tool, first_line(&call.what).unwrap_or_default());
    match call.waiting {
        0 => RowDetail::Says(format!("{tool}: {what}")),
        _ => RowDetail::Asks(format!("{tool} asks: {what}")),
    }
}

fn first_line(text: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// The earliest of the best matches in a session: it stays when other sessions grow.
fn found(database: &dyn Store, session: i64, words: &str) -> Result<Option<RowDetail>, Error> {
    let name = Some(SessionName::TreeOf(session));
    let filter = SessionFilter { name, limit: Some(BEST), ..SessionFilter::default() };
    let terms = SearchTerms::All(words.split_whitespace().map(str::to_owned).collect());
    let found = database.search(&terms, &filter)?;
    let hits = Hits { count: found.len(), are_all: found.len() < BEST };
    let found = found.into_iter();
    let found = found.min_by_key(|entry| (entry.is_part, entry.session != session, entry.index));
    let Some(entry) = found else { return Ok(None) };
    let path = sessions::paths(database, &[entry.session])?.remove(&entry.session);
    Ok(path
        .zip(entry.content)
        .map(|(path, text)| RowDetail::Found(path, entry.index, marked(&text), hits)))
}

/// The parts of a text, and whether each is a match.
fn marked(text: &str) -> Vec<(String, bool)> {
    let [begin, end] = MATCH;
    let mut parts = Vec::new();
    for part in text.split_inclusive(MATCH) {
        let is_match = part.ends_with(end);
        let words = part.trim_end_matches(MATCH).replace(['\n', '\r'], " ");
        if !words.is_empty() {
            parts.push((words.replace(begin, ""), is_match));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_marked() {
        let [begin, end] = MATCH;
        let text = format!("a {begin}b{end}\nc {begin}d{end}");
        let parts = marked(&text);
        let parts: Vec<_> = parts.iter().map(|(text, is)| (text.as_str(), *is)).collect();
        assert_eq!(parts, [("a ", false), ("b", true), (" c ", false), ("d", true)]);
        assert_eq!(first_line("\n  x \ny").as_deref(), Some("x"));
    }
}
