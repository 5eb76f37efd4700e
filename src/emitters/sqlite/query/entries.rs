//! Entries of many sessions: failures, search results and timelines; and warnings.

use std::collections::{BTreeMap, btree_map::Entry};

use serde::{Deserialize, Serialize};

use super::{
    SearchTerms, SessionFilter, search,
    sql::{FAILURES, Parameters, title},
};
use crate::emitters::sqlite::{Database, SqliteError};

/// An entry of one of several sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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
}

/// Warnings of one kind about one subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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

/// The text of an entry and its output, in SQL.
const WHOLE_TEXT: &str = "entries.content || char(10) || coalesce(entries.output, '')";

/// A query for entries, in SQL.
struct Entries<'q> {
    content: &'q str,
    from: &'q str,
    condition: &'q str,
    order: &'q str,
}

impl Database {
    /// The calls that failed and the errors that were reported, the latest first.
    pub fn failures(&self, filter: &SessionFilter) -> Result<Vec<FoundEntry>, SqliteError> {
        let failures = format!(
            "entries.id IN (SELECT id FROM entries WHERE type = 'error_message'
                            UNION ALL SELECT entry FROM tool_calls WHERE {FAILURES})"
        );
        let entries = Entries {
            content: "text_start(coalesce(output, reason, iif(type = 'tool_use', NULL, content)), 2000)",
            from: "entries",
            condition: &failures,
            order: "timestamp DESC, entries.id DESC",
        };
        self.titled(self.entries_of(&entries, filter, Parameters::default())?)
    }

    /// The entries in the order of their time.
    pub fn timeline(&self, filter: &SessionFilter) -> Result<Vec<FoundEntry>, SqliteError> {
        let entries = Entries {
            content: "content",
            from: "entries",
            condition: "true",
            order: "timestamp, entries.id",
        };
        self.entries_of(&entries, filter, Parameters::default())
    }

    /// Entries that contain the terms as whole words, found by the index, the best matches first. If there are
    /// none, or if the script of the text does not separate words, entries that contain the terms as parts of
    /// words: every text is read then, the latest first. Also fails if a [raw](SearchTerms::Raw) query is
    /// invalid.
    pub fn search(
        &self,
        terms: &SearchTerms,
        filter: &SessionFilter,
    ) -> Result<Vec<FoundEntry>, SqliteError> {
        let terms = match terms {
            SearchTerms::Raw(query) => {
                return self.words(query, filter).map_err(|error| match error {
                    SqliteError::Other { message, .. } => {
                        SqliteError::Query(format!("cannot search for {query:?}: {message}"))
                    }
                    error => error,
                });
            }
            SearchTerms::All(terms) => terms,
        };
        if !terms.iter().any(|term| term.chars().any(search::is_unseparated)) {
            let strings: Vec<_> = terms.iter().map(|term| format!("\"{term}\"")).collect();
            let found = self.words(&strings.join(" "), filter)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        self.parts(terms, filter)
    }

    fn words(&self, query: &str, filter: &SessionFilter) -> Result<Vec<FoundEntry>, SqliteError> {
        let mut parameters = Parameters::default();
        let [begin, end] = search::MATCH;
        let entries = Entries {
            // A snippet ends at a NUL.
            content: &format!(
                "iif(has_text(entries.content, char(0)) OR has_text(entries.output, char(0)), {WHOLE_TEXT},
                     snippet(search, -1, '{begin}', '{end}', '…', 24))"
            ),
            from: "search JOIN entries ON entries.id = search.rowid",
            condition: &format!("search MATCH {}", parameters.add(query.to_owned())),
            order: "rank, entries.id",
        };
        let mut found = self.entries_of(&entries, filter, parameters)?;
        let terms = query.split(|c: char| !c.is_alphanumeric()).filter(|term| !term.is_empty());
        let terms: Vec<_> = terms.map(str::to_owned).collect();
        let contents = found.iter_mut().filter_map(|entry| entry.content.as_mut());
        for text in contents.filter(|text| text.contains('\0')) {
            *text = search::excerpt(text, &terms);
        }
        self.titled(found)
    }

    /// Entries that contain all terms anywhere. The case of the letters `a` to `z` is ignored.
    fn parts(
        &self,
        terms: &[String],
        filter: &SessionFilter,
    ) -> Result<Vec<FoundEntry>, SqliteError> {
        let mut parameters = Parameters::default();
        let has = |term: &String| {
            let term = parameters.add(term.clone());
            format!("(has_text(content, {term}) OR has_text(output, {term}))")
        };
        let entries = Entries {
            content: WHOLE_TEXT,
            from: "entries",
            condition: &terms.iter().map(has).collect::<Vec<_>>().join(" AND "),
            order: "entries.id DESC",
        };
        let mut found = self.entries_of(&entries, filter, parameters)?;
        for text in found.iter_mut().filter_map(|entry| entry.content.as_mut()) {
            *text = search::excerpt(text, terms);
        }
        self.titled(found)
    }

    /// Adds the titles of the sessions. The title of each session is determined once, since that may read many entries.
    fn titled(&self, mut found: Vec<FoundEntry>) -> Result<Vec<FoundEntry>, SqliteError> {
        let sql = format!("SELECT {} FROM sessions WHERE id = ?1", title("sessions"));
        let mut titles = BTreeMap::new();
        for entry in &mut found {
            let known = match titles.entry(entry.session) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let mut parameters = Parameters::default();
                    parameters.add(entry.session);
                    let title: Vec<Option<String>> =
                        self.answer(&sql, parameters, |row| row.get(0))?;
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
    ) -> Result<Vec<FoundEntry>, SqliteError> {
        let sql = format!(
            "SELECT timestamp AS at, task, sessions.id AS session, session_id, idx AS \"index\",
                    type, tool_name AS tool, status, exit_code, tool_calls.duration_ms AS duration_ms,
                    iif(type = 'tool_use', entries.content, NULL) AS what, {content} AS content
             FROM {from} JOIN sessions ON sessions.id = entries.session
             LEFT JOIN tool_calls ON tool_calls.entry = entries.id
             WHERE {condition} AND {} ORDER BY {order} {}",
            filter.entries(&mut parameters),
            filter.rows(&mut parameters)
        );
        self.ask(&sql, parameters)
    }

    /// The warnings, the most frequent first.
    pub fn warnings(&self, filter: &SessionFilter) -> Result<Vec<WarningRow>, SqliteError> {
        let mut parameters = Parameters::default();
        let sql = format!(
            "SELECT kind, nullif(subject, '') AS subject, sum(count) AS count, min(message) AS message
             FROM warnings JOIN sessions ON sessions.id = warnings.session
             WHERE {} GROUP BY kind, subject ORDER BY sum(count) DESC, kind {}",
            filter.sessions(&mut parameters),
            filter.rows(&mut parameters)
        );
        self.ask(&sql, parameters)
    }
}
