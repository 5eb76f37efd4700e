//! Full-text search of entries.

use super::{
    Asked, OutputFormat,
    listing::{Kind, Listing, Value},
};
use crate::error::Error;
use foldline::emitters::sqlite::SqliteError;

/// Delimiters of matches in SQLite's result: noncharacters, which occur in no text.
const BEGIN: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// The best matches first.
pub(super) fn search(asked: &Asked<'_>, text: &str, raw: bool) -> Result<Listing, Error> {
    let query = if raw { text.to_owned() } else { quoted(text) };
    if query.is_empty() {
        return Err(Error::WrongUse("there is no word to search for".to_owned()));
    }
    let columns = [
        ("at", Kind::Moment),
        ("task", Kind::Text),
        ("session", Kind::Number),
        ("index", Kind::Number),
        ("type", Kind::Text),
        ("tool", Kind::Text),
        ("snippet", Kind::Text),
        ("matches", Kind::Text),
    ];
    let time = asked.within("timestamp");
    let sql = format!(
        "SELECT timestamp, task, sessions.id, idx, type, tool_name,
                snippet(search, -1, '{BEGIN}', '{END}', '…', 24), NULL
         FROM search JOIN entries ON entries.id = search.rowid
         JOIN sessions ON sessions.id = entries.session
         LEFT JOIN tool_calls ON tool_calls.entry = entries.id
         WHERE search MATCH ?1 AND {time} ORDER BY rank, entries.id LIMIT ?2"
    );
    let listing =
        Listing::select(asked.database.connection(), &columns, &sql, (&query, asked.rows()));
    let mut listing = listing.map_err(|error| match asked.database.error(&error) {
        SqliteError::Other { message, .. } if raw => {
            let message = format!("cannot search for {text:?}: {message}");
            Error::Database(SqliteError::Query(message))
        }
        error => Error::Database(error),
    })?;
    let is_table = asked.args.format == OutputFormat::Table;
    let (begin, end) = if is_table { ("«", "»") } else { ("", "") };
    for row in &mut listing.rows {
        if let [.., Value::Text(snippet), matches] = row.as_mut_slice() {
            *matches = Value::Text(matched(snippet).join("\n"));
            *snippet = snippet.replace(BEGIN, begin).replace(END, end);
        }
    }
    Ok(listing.without_in_tables(&["matches"]))
}

/// Every word, and every phrase in double quotes, as a string of the query language: nothing in it
/// has a meaning there.
fn quoted(text: &str) -> String {
    let mut terms = Vec::new();
    for (number, part) in text.split('"').enumerate() {
        let is_phrase = number % 2 == 1;
        if is_phrase {
            terms.push(part);
        } else {
            terms.extend(part.split_whitespace());
        }
    }
    // A word without letters and digits would match nothing.
    let terms = terms.into_iter().filter(|term| term.contains(char::is_alphanumeric));
    let terms: Vec<_> = terms.map(|term| format!("\"{term}\"").replace('\0', " ")).collect();
    terms.join(" ")
}

fn matched(snippet: &str) -> Vec<&str> {
    let parts = snippet.split(BEGIN).skip(1);
    parts.filter_map(|part| part.split_once(END)).map(|(matched, _)| matched).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_typed_is_syntax() {
        assert_eq!(quoted("a AND b* NEAR(c)"), r#""a" "AND" "b*" "NEAR(c)""#);
        assert_eq!(quoted(r#"say "two words" col:x"#), r#""say" "two words" "col:x""#);
        assert_eq!(quoted(r#"open "quote"#), r#""open" "quote""#);
        assert_eq!(quoted("*** --"), "");
    }
}
