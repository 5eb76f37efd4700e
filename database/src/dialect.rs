//! [`Dialect`]: where the SQL of the engines differs.

/// The SQL of an engine. All other SQL is understood by every engine, provided that it has these functions:
///
/// - `has_text(text, part)`: whether a text contains another. The case of the letters `a` to `z` is ignored.
/// - `text_start(text, count)`: the first characters of a text.
/// - `instr(text, part)`, `group_concat(text)`, as in SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite, with the full-text index FTS5.
    Sqlite,
    /// PostgreSQL.
    #[cfg(feature = "postgres")]
    Postgres,
}

impl Dialect {
    /// The name of a parameter, counted from 1.
    pub(super) fn parameter(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("?{number}"),
            #[cfg(feature = "postgres")]
            Self::Postgres => format!("${number}"),
        }
    }

    /// A query for the numbers of a parameter that is a JSON array.
    pub(super) fn ids(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("SELECT value FROM json_each(?{number})"),
            #[cfg(feature = "postgres")]
            Self::Postgres => format!(
                "SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(CAST(${number} AS TEXT) AS JSON)) AS list (value)"
            ),
        }
    }

    /// The length of a text in bytes.
    pub(super) fn bytes(self, text: &str) -> String {
        match self {
            Self::Sqlite => format!("octet_length({text})"),
            // NUL is stored as U+FDD2, and U+FDD3 precedes a U+FDD2 or U+FDD3 of the text.
            #[cfg(feature = "postgres")]
            Self::Postgres => format!(
                r"octet_length(CASE WHEN {text} ~ '[\uFDD2\uFDD3]'
                      THEN regexp_replace(regexp_replace({text}, '\uFDD3.', '---', 'g'), '\uFDD2', '-', 'g')
                      ELSE {text} END)"
            ),
        }
    }

    /// What an `INSERT .. SELECT` of a row with these values adds to the columns and to the values for its checksum: rows
    /// of PostgreSQL have none.
    pub(super) fn summed(self, values: &str) -> (&'static str, String) {
        match self {
            Self::Sqlite => (", crc32", format!(", row_crc32({values})")),
            #[cfg(feature = "postgres")]
            Self::Postgres => ("", String::new()),
        }
    }

    /// What an `UPDATE` of a row to these values adds for its checksum.
    pub(super) fn sets_sum(self, values: &str) -> String {
        match self {
            Self::Sqlite => format!(", crc32 = row_crc32({values})"),
            #[cfg(feature = "postgres")]
            Self::Postgres => String::new(),
        }
    }

    /// What an `UPDATE` of sessions without entries adds: no prompt names them any more.
    pub(super) fn unnamed(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            #[cfg(feature = "postgres")]
            Self::Postgres => ", prompt_line = NULL, any_prompt_line = NULL",
        }
    }

    /// What the call of a row of `entries` was made with, as text; see [`arguments`](super::arguments::arguments).
    pub(super) fn arguments(self) -> &'static str {
        match self {
            Self::Sqlite => "call_arguments(action, entries.content, entries.metadata)",
            #[cfg(feature = "postgres")]
            Self::Postgres => "call_arguments(action, entries.metadata)",
        }
    }

    /// A table of the words of the search index that a misspelled one may stand for, in its column `term`.
    pub(super) fn vocabulary(self) -> &'static str {
        match self {
            Self::Sqlite => "temp.vocabulary",
            #[cfg(feature = "postgres")]
            Self::Postgres => "(SELECT DISTINCT term FROM terms) AS vocabulary",
        }
    }

    /// The name of a session: the title that its log states, or else the latest that another log states of it, or else the
    /// first meaningful line of a prompt.
    pub(super) fn title(self, session: &str) -> String {
        let other = |line: &str| {
            format!(
                "(SELECT {line} FROM other_titles WHERE other_titles.session = {session}.id
                  ORDER BY other_titles.idx DESC, other_titles.title LIMIT 1)"
            )
        };
        match self {
            Self::Sqlite => {
                let prompts = |line: &str, is_any: bool| {
                    format!(
                        "(SELECT {line} FROM entries AS said WHERE said.session = {session}.id
                              AND said.type = 'user_message' AND title_line(said.content, {is_any}) IS NOT NULL
                          ORDER BY said.idx LIMIT 1)"
                    )
                };
                format!(
                    "coalesce(title_line({session}.title, true), {}, {}, {})",
                    other("title_line(other_titles.title, true)"),
                    prompts("title_line(said.content, false)", false),
                    prompts("title_line(said.content, true)", true)
                )
            }
            // The lines are written with the rows, since PostgreSQL cannot call the function.
            #[cfg(feature = "postgres")]
            Self::Postgres => format!(
                "coalesce({session}.title_line, {}, {session}.prompt_line, {session}.any_prompt_line)",
                other("other_titles.line")
            ),
        }
    }
}
