//! [`WordSearch`]: the search index of each engine.

use super::search::MATCH;
#[cfg(feature = "postgres")]
use crate::words;
use crate::{Dialect, StoreError, parameters::Parameters};

/// A search for words: parts of a query for entries.
pub(super) struct WordSearch {
    /// The tables, `entries` among them.
    pub(super) from: &'static str,
    /// Selects the entries.
    pub(super) condition: String,
    /// The best matches first.
    pub(super) order: String,
    /// The text around the match, or a whole text, to be cut.
    pub(super) content: String,
}

/// All texts of an entry and its call.
pub(super) fn whole_text(dialect: Dialect) -> String {
    let texts = [dialect.arguments(), "entries.output", "reason"]
        .map(|it| format!("coalesce('\n' || {it}, '')"));
    format!("entries.content || {}", texts.join(" || "))
}

impl WordSearch {
    /// Finds entries that have all of these words and phrases.
    pub(super) fn phrases(phrases: &[String], parameters: &mut Parameters) -> Self {
        match parameters.dialect {
            Dialect::Sqlite => Self::fts5(quoted(phrases, " "), parameters),
            #[cfg(feature = "postgres")]
            Dialect::Postgres => {
                let phrases = phrases.iter().map(|phrase| words::phrase(phrase)).collect();
                Self::tsquery(phrases, " AND ", parameters)
            }
        }
    }

    /// Finds entries that have some of these words and phrases.
    pub(super) fn some(phrases: &[String], parameters: &mut Parameters) -> Self {
        match parameters.dialect {
            Dialect::Sqlite => Self::fts5(quoted(phrases, " OR "), parameters),
            #[cfg(feature = "postgres")]
            Dialect::Postgres => {
                let phrases = phrases.iter().map(|phrase| words::phrase(phrase)).collect();
                Self::tsquery(phrases, " OR ", parameters)
            }
        }
    }

    /// Finds entries that have words with all of these beginnings.
    pub(super) fn beginnings(beginnings: &[String], parameters: &mut Parameters) -> Self {
        match parameters.dialect {
            Dialect::Sqlite => Self::fts5(quoted(beginnings, "* ") + "*", parameters),
            #[cfg(feature = "postgres")]
            Dialect::Postgres => {
                let words = beginnings.iter().map(|word| words::beginning(word)).collect();
                Self::tsquery(words, " AND ", parameters)
            }
        }
    }

    /// A query in the syntax of SQLite's FTS5.
    pub(super) fn raw(query: &str, parameters: &mut Parameters) -> Result<Self, StoreError> {
        match parameters.dialect {
            Dialect::Sqlite => Ok(Self::fts5(query.to_owned(), parameters)),
            #[cfg(feature = "postgres")]
            Dialect::Postgres => Err(StoreError::Query(format!(
                "cannot search for {query:?}: PostgreSQL does not understand the syntax of SQLite's FTS5"
            ))),
        }
    }

    fn fts5(query: String, parameters: &mut Parameters) -> Self {
        let [begin, end] = MATCH;
        Self {
            from: "search JOIN entries ON entries.id = search.rowid",
            condition: format!("search MATCH {}", parameters.add(query)),
            order: "rank, entries.id".to_owned(),
            // A snippet ends at a NUL.
            content: format!(
                "CASE WHEN has_text(entries.content, char(0)) OR has_text(entries.output, char(0))
                      THEN {whole} ELSE snippet(search, -1, '{begin}', '{end}', '…', 24) END",
                whole = whole_text(parameters.dialect),
            ),
        }
    }

    /// A long text has several vectors, so each term is looked up by itself.
    #[cfg(feature = "postgres")]
    fn tsquery(terms: Vec<String>, joined: &str, parameters: &mut Parameters) -> Self {
        let all = parameters.add(terms.join(" | "));
        let mut has = |term| {
            let term = parameters.add(term);
            format!(
                "entries.id IN (SELECT entry FROM words WHERE vector @@ CAST({term} AS tsquery))"
            )
        };
        let conditions: Vec<_> = terms.into_iter().map(&mut has).collect();
        Self {
            from: "entries",
            condition: format!("({})", conditions.join(joined)),
            order: format!(
                "(SELECT max(ts_rank(vector, CAST({all} AS tsquery))) FROM words WHERE entry = entries.id) DESC,
                 entries.id"
            ),
            content: whole_text(parameters.dialect),
        }
    }
}

/// Words and phrases in the syntax of FTS5, joined by this.
fn quoted(phrases: &[String], joined: &str) -> String {
    let phrases: Vec<_> = phrases.iter().map(|phrase| format!("\"{phrase}\"")).collect();
    phrases.join(joined)
}
