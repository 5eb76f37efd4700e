//! [`SessionResolver`]: a stored session as a [`CorrIdResolver`].

use rusqlite::{OptionalExtension, params};
use tracing::warn;

use super::Database;
use crate::{
    conversation::{CorrId, EntryIdx},
    emitters::patch::CorrIdResolver,
};

/// Knows where the tool calls of one session are. Made by [`Database::resolver`].
#[derive(Clone, Copy, Debug)]
pub struct SessionResolver<'d> {
    database: &'d Database,
    session: i64,
}

impl Database {
    /// Resolves the correlations of a session, given by its row id.
    pub fn resolver(&self, session: i64) -> SessionResolver<'_> {
        SessionResolver { database: self, session }
    }
}

impl CorrIdResolver for SessionResolver<'_> {
    fn resolve_corr_id(&self, corr_id: &CorrId) -> Option<EntryIdx> {
        let found = self.database.connection.prepare_cached(QUERY).and_then(|mut query| {
            query
                .query_row(params![corr_id.as_str(), self.session], |row| row.get::<_, i64>(0))
                .optional()
        });
        match found {
            Ok(index) => usize::try_from(index?).ok().map(EntryIdx::new),
            Err(error) => {
                warn!(?error, ?corr_id, "the database could not be asked");
                None
            }
        }
    }
}

/// Of several calls with one id the latest.
const QUERY: &str = "SELECT idx FROM tool_calls JOIN entries ON entries.id = tool_calls.entry
                     WHERE corr_id = ?1 AND tool_calls.session = ?2
                     ORDER BY tool_calls.entry DESC LIMIT 1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correlation_is_found_through_the_index() {
        let folder = tempfile::tempdir().unwrap();
        let database =
            Database::open(&folder.path().join("db"), super::super::DEFAULT_WAIT).unwrap();
        let plan: Vec<String> = database
            .connection
            .prepare(&format!("EXPLAIN QUERY PLAN {QUERY}"))
            .unwrap()
            .query_map(params!["a", 1], |row| row.get(3))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert!(plan.iter().all(|step| !step.starts_with("SCAN")), "{plan:?}");
        assert!(plan.iter().any(|step| step.contains("tool_calls_by_corr_id")), "{plan:?}");
    }
}
