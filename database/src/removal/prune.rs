//! Removes the entries of old sessions.

use super::{Counts, Removal, count};
use crate::{Parameter, query::LATEST};

/// Counts of the rows that pruning removed or would remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Sessions whose entries were removed.
    pub sessions: u64,
    /// Entries.
    pub entries: u64,
    /// Tool calls among them.
    pub calls: u64,
    /// Bytes of text in them.
    pub bytes: u64,
}

/// Removes the entries, tool calls and search index of every session without activity since `before`. The session itself,
/// its tokens, its warnings and the position in its source are kept, so the next commit does not restore pruned entries.
pub(crate) fn prune<R: Removal>(
    transaction: &mut R,
    before: i64,
    dry_run: bool,
) -> Result<Pruned, R::Error> {
    let dialect = transaction.dialect();
    let (before, moment) = ([Parameter::from(before)], dialect.parameter(1));
    let old = format!(
        "SELECT sessions.id FROM sessions WHERE {LATEST} < {moment}
         AND EXISTS (SELECT 1 FROM entries WHERE entries.session = sessions.id)"
    );
    let Counts { sessions, entries, calls, bytes } = count(transaction, &old, &before)?;
    if !dry_run && sessions > 0 {
        let unnamed = dialect.unnamed();
        let sql = format!(
            "UPDATE sessions SET pruned_to =
                 (SELECT \"offset\" FROM sources WHERE sources.id = sessions.source){unnamed}
             WHERE id IN ({old})"
        );
        transaction.change(&sql, &before)?;
        transaction.sum_sessions(&format!("id IN ({old})"), &before)?;
        // Triggers or foreign keys remove the words, and foreign keys the tool calls.
        let sql = format!("DELETE FROM entries WHERE session IN ({old})");
        transaction.change(&sql, &before)?;
    }
    Ok(Pruned { sessions, entries, calls, bytes })
}
