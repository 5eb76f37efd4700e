//! Entries of many sessions: failures, search results and timelines; and warnings.

use std::collections::{BTreeMap, btree_map::Entry};

use serde::{Deserialize, Serialize};

#[cfg(feature = "postgres")]
use super::sql::like;
use super::{
    SearchTerms, SessionFilter,
    companions::whole,
    question::Term,
    search,
    sql::FAILURES,
    word_search::{WordSearch, whole_text},
};
#[cfg(feature = "postgres")]
use crate::Dialect;
use crate::{Store, StoreError, parameters::Parameters};

/// An entry of one of several sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundEntry {
    /// Its moment.
    pub at: Option<i64>,
    /// The task of the session.
    pub task: Option<String>,
    /// The number of the session.
    pub session: i64,
    /// The agent's id of the session.
    pub session_id: Option<String>,
    /// The session's title, or else the first line of its first prompt; not on a timeline.
    pub title: Option<String>,
    /// Its place in the session.
    pub index: i64,
    /// The type of the entry.
    #[serde(rename = "type")]
    pub entry_type: String,
    /// The name of the tool, if it is a call.
    pub tool: Option<String>,
    /// The status of the call.
    pub status: Option<String>,
    /// The exit code of a command.
    pub exit_code: Option<i64>,
    /// The duration of the call.
    pub duration_ms: Option<i64>,
    /// A short title of a call.
    pub what: Option<String>,
    /// The text, or the short title of a call. For a failure: the error or the beginning of the tool's output.
    /// For a search result: the text around the match, with [`MATCH`](super::MATCH) around each match.
    pub content: Option<String>,
    /// Whether it is a search result that has a term only as a part of a word.
    #[serde(default, skip_serializing)]
    pub is_part: bool,
}

/// Warnings of one kind about one subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarningRow {
    /// The kind.
    pub kind: String,
    /// The subject.
    pub subject: Option<String>,
    /// The number of warnings.
    pub count: i64,
    /// One of their messages.
    pub message: String,
}

/// The number of entries that are searched before all of them, the latest ones.
#[cfg(feature = "postgres")]
const LATEST_FIRST: i64 = 20_000;

/// A query for entries, in SQL.
struct Entries<'q> {
    content: &'q str,
    from: &'q str,
    condition: &'q str,
    order: &'q str,
}

impl dyn Store + '_ {
    /// The calls that failed and the errors that were reported, the latest first.
    pub fn failures(&self, filter: &SessionFilter) -> Result<Vec<FoundEntry>, StoreError> {
        self.failed("true", filter, self.parameters())
    }

    /// Those with this text in the title or the arguments of the call, the name of the tool, the error or the output. The
    /// case of the letters `a` to `z` is ignored.
    pub fn failures_with(
        &self,
        text: &str,
        filter: &SessionFilter,
    ) -> Result<Vec<FoundEntry>, StoreError> {
        let mut parameters = self.parameters();
        let text = parameters.add(text.to_owned());
        let has = |column: &str| format!("has_text({column}, {text})");
        let arguments = self.dialect().arguments();
        let texts = ["content", "tool_name", "output", "reason", arguments].map(has).join(" OR ");
        self.failed(&format!("({texts})"), filter, parameters)
    }

    fn failed(
        &self,
        condition: &str,
        filter: &SessionFilter,
        parameters: Parameters,
    ) -> Result<Vec<FoundEntry>, StoreError> {
        let failures = format!(
            "entries.id IN (SELECT id FROM entries WHERE type = 'error_message'
                            UNION ALL SELECT entry FROM tool_calls WHERE {FAILURES}) AND {condition}"
        );
        let entries = Entries {
            content: "text_start(coalesce(output, reason, CASE WHEN type <> 'tool_use' THEN content END), 2000)",
            from: "entries",
            condition: &failures,
            order: "timestamp DESC NULLS LAST, entries.id DESC",
        };
        self.titled(self.entries_of(&entries, filter, parameters)?)
    }

    /// The calls of the same tool that succeeded after a failed call, the earliest first: later ones of its session,
    /// and those of the other selected sessions at a later time. The content is the beginning of the output.
    pub fn successes_after(
        &self,
        failure: &FoundEntry,
        filter: &SessionFilter,
    ) -> Result<Vec<FoundEntry>, StoreError> {
        let mut parameters = self.parameters();
        let later = format!(
            "status = 'success' AND tool_name = {} AND (
                 entries.session = {session} AND idx > {} OR entries.session <> {session} AND timestamp > {})",
            parameters.add(failure.tool.clone().unwrap_or_default()),
            parameters.add(failure.index),
            parameters.add(failure.at.unwrap_or(i64::MAX)),
            session = parameters.add(failure.session),
        );
        let entries = Entries {
            content: "text_start(output, 200)",
            from: "entries",
            condition: &later,
            order: "timestamp NULLS FIRST, entries.id",
        };
        self.entries_of(&entries, filter, parameters)
    }

    /// The entries in the order of their time.
    pub fn timeline(&self, filter: &SessionFilter) -> Result<Vec<FoundEntry>, StoreError> {
        let entries = Entries {
            content: "content",
            from: "entries",
            condition: "true",
            order: "timestamp NULLS FIRST, entries.id",
        };
        self.entries_of(&entries, filter, self.parameters())
    }

    /// Entries that contain the terms: as whole words, which the index finds, the best matches first; then as parts of
    /// words, the latest first. Every text is read for these, unless the entries with the words are enough. An entry
    /// that is found stays found, whatever is added. Also fails if a [raw](SearchTerms::Raw) query is invalid.
    pub fn search(
        &self,
        terms: &SearchTerms,
        filter: &SessionFilter,
    ) -> Result<Vec<FoundEntry>, StoreError> {
        let mut parameters = self.parameters();
        let terms = match terms {
            SearchTerms::Raw(query) => {
                let search = WordSearch::raw(query, &mut parameters)?;
                let words: Vec<_> = query.split(|c: char| !c.is_alphanumeric()).collect();
                let found = self.words(&search, &words, filter, parameters);
                return found.map_err(|error| match error {
                    StoreError::Engine(error) => {
                        StoreError::Query(format!("cannot search for {query:?}: {error}"))
                    }
                    error => error,
                });
            }
            SearchTerms::All(terms) => terms,
        };
        // The index has no words of a script that does not separate them.
        if terms.iter().any(|term| term.chars().any(search::is_unseparated)) {
            return self.parts(terms, false, filter);
        }
        let search = WordSearch::phrases(terms, &mut parameters);
        let words = terms.iter().flat_map(|term| term.split(|c: char| !c.is_alphanumeric()));
        let mut found = self.words(&search, &words.collect::<Vec<_>>(), filter, parameters)?;
        let limit = filter.limit.map(|limit| limit.saturating_sub(found.len()));
        if limit == Some(0) {
            return Ok(found);
        }
        let before = match filter.offset {
            0 => 0,
            _ if !found.is_empty() => filter.offset,
            _ => {
                let terms: Vec<_> = terms.iter().map(|term| Term::exact(term)).collect();
                self.count_of_terms(&terms, filter)?
            }
        };
        let offset = filter.offset.saturating_sub(before);
        let rest = SessionFilter { limit, offset, ..filter.clone() };
        found.extend(self.parts(terms, true, &rest)?);
        Ok(found)
    }

    /// The number of entries that have all terms.
    pub(super) fn count_of_terms(
        &self,
        terms: &[Term],
        filter: &SessionFilter,
    ) -> Result<usize, StoreError> {
        let mut parameters = self.parameters();
        let WordSearch { from, condition, .. } = WordSearch::all(terms, &mut parameters);
        let sql = format!(
            "SELECT count(*) FROM {from} JOIN sessions ON sessions.id = entries.session
             WHERE {condition} AND {}",
            filter.entries(&mut parameters)
        );
        let count = self.answer(&sql, &parameters, |row| row.get::<i64>(0))?.pop();
        Ok(count.and_then(|count| usize::try_from(count).ok()).unwrap_or(0))
    }

    pub(super) fn words(
        &self,
        search: &WordSearch,
        words: &[&str],
        filter: &SessionFilter,
        parameters: Parameters,
    ) -> Result<Vec<FoundEntry>, StoreError> {
        let WordSearch { from, condition, order, content } = search;
        let entries = Entries { content, from, condition, order };
        let mut found = self.entries_of(&entries, filter, parameters)?;
        let words = words.iter().filter(|word| !word.is_empty());
        let words: Vec<_> = words.map(|word| (*word).to_owned()).collect();
        let contents = found.iter_mut().filter_map(|entry| entry.content.as_mut());
        for text in contents.filter(|text| !text.contains(search::MATCH)) {
            *text = search::excerpt(text, &words);
        }
        self.titled(found)
    }

    /// Entries that contain all terms anywhere, except those with all of them as whole words, if asked. The case of the
    /// letters `a` to `z` is ignored.
    fn parts(
        &self,
        terms: &[String],
        without_words: bool,
        filter: &SessionFilter,
    ) -> Result<Vec<FoundEntry>, StoreError> {
        let mut parameters = self.parameters();
        let texts = ["content", "output", "reason", self.dialect().arguments()];
        let has = |term: &String| {
            let term = parameters.add(term.clone());
            format!("({})", texts.map(|text| format!("has_text({text}, {term})")).join(" OR "))
        };
        let mut conditions: Vec<_> = terms.iter().map(has).collect();
        if without_words {
            let WordSearch { from, condition, .. } = WordSearch::phrases(terms, &mut parameters);
            conditions.push(format!(
                "entries.id NOT IN (SELECT entries.id FROM {from} WHERE {condition})"
            ));
        }
        let ask = |condition: &str, parameters| {
            let entries = Entries {
                content: &whole_text(self.dialect()),
                from: "entries",
                condition,
                order: "entries.id DESC",
            };
            self.entries_of(&entries, filter, parameters)
        };
        let mut found = Vec::new();
        #[cfg(feature = "postgres")]
        if parameters.dialect == Dialect::Postgres && filter.limit.is_some() && filter.offset == 0 {
            // Parts that are frequent are in the latest entries, and an index would find all the others first.
            let latest = format!(
                "entries.id > (SELECT max(id) - {LATEST_FIRST} FROM entries) AND {}",
                conditions.join(" AND ")
            );
            found = ask(&latest, parameters.clone())?;
        }
        #[cfg(feature = "postgres")]
        conditions.extend(terms.iter().filter_map(|term| may_contain(term, &mut parameters)));
        if filter.limit.is_none_or(|limit| found.len() < limit) {
            found = ask(&conditions.join(" AND "), parameters)?;
        }
        for entry in &mut found {
            entry.is_part = true;
            entry.content = entry.content.as_deref().map(|text| search::excerpt(text, terms));
        }
        self.titled(found)
    }

    /// Adds the titles of the sessions. The title of each session is determined once, since that may read many entries.
    fn titled(&self, mut found: Vec<FoundEntry>) -> Result<Vec<FoundEntry>, StoreError> {
        let sql = format!(
            "SELECT {} FROM sessions WHERE id = {}",
            self.dialect().title("sessions"),
            self.dialect().parameter(1)
        );
        let mut titles = BTreeMap::new();
        for entry in &mut found {
            let known = match titles.entry(entry.session) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let mut parameters = self.parameters();
                    parameters.add(entry.session);
                    let title: Vec<Option<String>> =
                        self.answer(&sql, &parameters, |row| row.get(0))?;
                    unknown.insert(title.into_iter().next().flatten())
                }
            };
            entry.title.clone_from(known);
        }
        Ok(found)
    }

    fn entries_of(
        &self,
        Entries { content, from, condition, order }: &Entries<'_>,
        filter: &SessionFilter,
        mut parameters: Parameters,
    ) -> Result<Vec<FoundEntry>, StoreError> {
        let sql = format!(
            "SELECT timestamp AS at, task, sessions.id AS session, session_id, idx AS \"index\",
                    type, tool_name AS tool, status, exit_code, tool_calls.duration_ms AS duration_ms,
                    CASE WHEN type = 'tool_use' THEN entries.content END AS what, {content} AS content
             FROM {from} JOIN sessions ON sessions.id = entries.session
             LEFT JOIN tool_calls ON tool_calls.entry = entries.id
             WHERE {condition} AND {} ORDER BY {order} {}",
            filter.entries(&mut parameters),
            filter.rows(&mut parameters)
        );
        self.ask(&sql, &parameters)
    }

    /// The warnings, the most frequent first.
    pub fn warnings(&self, filter: &SessionFilter) -> Result<Vec<WarningRow>, StoreError> {
        let mut parameters = self.parameters();
        let sql = format!(
            "SELECT kind, nullif(subject, '') AS subject, CAST(sum(count) AS BIGINT) AS count, min(message) AS message
             FROM warnings JOIN sessions ON sessions.id = {}
             WHERE {} GROUP BY kind, subject ORDER BY sum(count) DESC, kind, subject NULLS FIRST {}",
            whole("warnings.session"),
            filter.matches(&mut parameters),
            filter.rows(&mut parameters)
        );
        self.ask(&sql, &parameters)
    }
}

/// A condition that all entries fulfil whose texts contain a term, which the indices of trigrams answer; `None` if only the
/// texts can decide. JSON has the longest part of the term without characters that may be escaped, unless it is a part of a
/// number.
#[cfg(feature = "postgres")]
fn may_contain(term: &str, parameters: &mut Parameters) -> Option<String> {
    /// The letters of a trigram.
    const FEWEST: usize = 3;
    if parameters.dialect != Dialect::Postgres {
        return None;
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -._".contains(c);
    let has_trigram = |part: &&str| {
        let mut runs = part.split(|c: char| !c.is_ascii_alphanumeric());
        runs.any(|run| run.len() >= FEWEST && run.contains(|c: char| c.is_ascii_alphabetic()))
    };
    let parts = term.split(|c| !is_plain(c)).filter(has_trigram);
    let part = parts.max_by_key(|part| part.len())?;
    let mut has = |part: &str, columns: &[&str]| {
        let pattern = parameters.add(format!("%{}%", like(&part.to_ascii_lowercase())));
        let each = columns.iter();
        let each = each.map(|column| format!("lower({column} COLLATE \"C\") LIKE {pattern}"));
        each.collect::<Vec<_>>().join(" OR ")
    };
    Some(format!(
        "entries.id IN (SELECT id FROM entries WHERE {} OR {} UNION ALL SELECT entry FROM tool_calls WHERE {} OR {})",
        has(term, &["content", "output"]),
        has(part, &["metadata"]),
        has(term, &["reason"]),
        has(part, &["action"]),
    ))
}
