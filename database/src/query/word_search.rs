//! [`WordSearch`]: the search index of each engine.

use super::{question::Term, search::MATCH};
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
        let terms: Vec<_> = phrases.iter().map(|phrase| Term::exact(phrase)).collect();
        Self::all(&terms, parameters)
    }

    /// Finds entries that have words with all of these beginnings.
    pub(super) fn beginnings(beginnings: &[String], parameters: &mut Parameters) -> Self {
        let terms: Vec<_> = beginnings.iter().map(|word| Term::beginning(word)).collect();
        Self::all(&terms, parameters)
    }

    /// Finds entries that have all of these terms.
    pub(super) fn all(terms: &[Term], parameters: &mut Parameters) -> Self {
        Self::joined(terms, " AND ", parameters)
    }

    /// Finds entries that have some of the first terms. First are those whose terms, of all, weigh most; what was said
    /// counts half as much again, and what was not understood half. Of a call, the text is its output, unless only its
    /// arguments match.
    pub(super) fn weighed(
        terms: &[Term],
        weighed: &[(Term, i64)],
        parameters: &mut Parameters,
    ) -> Self {
        let search = Self::joined(terms, " OR ", parameters);
        let weights = weighed.iter().map(|(term, weight)| {
            let has = has_term(term, parameters);
            format!("CASE WHEN {has} THEN {weight} ELSE 0 END")
        });
        let weight = weights.collect::<Vec<_>>().join(" + ");
        let by_type =
            format!("CASE WHEN {IS_SAID} THEN 3 WHEN type = 'diagnostic' THEN 1 ELSE 2 END");
        let order = format!("({weight}) * {by_type} DESC, {}", search.order);
        let content = match parameters.dialect {
            Dialect::Sqlite => {
                let (output, arguments) = (snippet("2", LONG), snippet("1", LONG));
                let begin = MATCH[0];
                unless_cut(&format!(
                    "CASE WHEN type <> 'tool_use' OR entries.output IS NULL THEN {}
                          WHEN instr({output}, '{begin}') > 0 OR instr({arguments}, '{begin}') = 0 THEN {output}
                          ELSE {arguments} END",
                    snippet("-1", LONG)
                ))
            }
            #[cfg(feature = "postgres")]
            Dialect::Postgres => format!(
                "coalesce(entries.output || '\n', '') || coalesce({} || '\n', '') || entries.content",
                parameters.dialect.arguments()
            ),
        };
        Self { order, content, ..search }
    }

    fn joined(terms: &[Term], joined: &str, parameters: &mut Parameters) -> Self {
        match parameters.dialect {
            Dialect::Sqlite => {
                let terms: Vec<_> = terms.iter().map(fts5).collect();
                Self::fts5(terms.join(joined), parameters)
            }
            #[cfg(feature = "postgres")]
            Dialect::Postgres => {
                let all = terms.iter().map(tsquery).collect::<Vec<_>>().join(" | ");
                let conditions: Vec<_> =
                    terms.iter().map(|term| has_term(term, parameters)).collect();
                let all = parameters.add(all);
                Self {
                    from: "entries",
                    // A long text has several vectors, so each term is looked up by itself.
                    condition: format!("({})", conditions.join(joined)),
                    order: order(&format!(
                        "(SELECT max(ts_rank(vector, CAST({all} AS tsquery))) FROM words WHERE entry = entries.id) DESC"
                    )),
                    content: whole_text(parameters.dialect),
                }
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
        Self {
            from: "search JOIN entries ON entries.id = search.rowid",
            condition: format!("search MATCH {}", parameters.add(query)),
            order: order("rank"),
            content: unless_cut(&snippet("-1", SHORT)),
        }
    }
}

/// The words of a snippet, and of a longer one.
const SHORT: u8 = 24;
const LONG: u8 = 40;

/// The text around the matches in a column of the index.
fn snippet(column: &str, words: u8) -> String {
    let [begin, end] = MATCH;
    format!("snippet(search, {column}, '{begin}', '{end}', '…', {words})")
}

/// This snippet, or the whole text if that has a NUL, where a snippet ends.
fn unless_cut(snippet: &str) -> String {
    format!(
        "CASE WHEN has_text(entries.content, char(0)) OR has_text(entries.output, char(0))
              THEN {whole} ELSE {snippet} END",
        whole = whole_text(Dialect::Sqlite),
    )
}

/// Entries of what was said, by the user and by the agent.
const IS_SAID: &str = "type IN ('user_message', 'assistant_message')";

/// What was said, then what tools did; of each the best first, of equal ones the latest, and those without a time last.
fn order(rank: &str) -> String {
    format!(
        "CASE WHEN {IS_SAID} THEN 0 ELSE 1 END, {rank}, timestamp DESC NULLS LAST, entries.id DESC"
    )
}

/// Whether an entry has a term.
fn has_term(term: &Term, parameters: &mut Parameters) -> String {
    match parameters.dialect {
        Dialect::Sqlite => {
            let term = parameters.add(fts5(term));
            format!("entries.id IN (SELECT rowid FROM search WHERE search MATCH {term})")
        }
        #[cfg(feature = "postgres")]
        Dialect::Postgres => {
            let term = parameters.add(tsquery(term));
            format!(
                "entries.id IN (SELECT entry FROM words WHERE vector @@ CAST({term} AS tsquery))"
            )
        }
    }
}

/// A term in the syntax of FTS5.
fn fts5(term: &Term) -> String {
    let phrases = term.phrases.iter().map(|phrase| format!("\"{phrase}\""));
    let beginnings = term.beginnings.iter().map(|beginning| format!("\"{beginning}\"*"));
    format!("({})", phrases.chain(beginnings).collect::<Vec<_>>().join(" OR "))
}

/// A term in the syntax of `tsquery`.
#[cfg(feature = "postgres")]
fn tsquery(term: &Term) -> String {
    let phrases = term.phrases.iter().map(|phrase| words::phrase(phrase));
    let beginnings = term.beginnings.iter().map(|beginning| words::beginning(beginning));
    format!("({})", phrases.chain(beginnings).collect::<Vec<_>>().join(" | "))
}
