//! Removes the entries of old sessions.

use foldline_domain::Timestamp;

use super::{Counts, Removal, array, count};
use crate::{Parameter, query::LATEST};

/// Whose entries are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prune {
    /// Those of sessions without activity since this moment.
    Before(Timestamp),
    /// Those of the oldest sessions, until the database uses at most this many bytes. Space that a file or a table keeps
    /// for later rows does not count. Sessions without any moment are the last.
    LargerThan(u64),
}

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
    /// Bytes in use afterwards, if they were asked for; of a dry run, an estimate.
    pub left: Option<u64>,
}

/// The bytes of a database that are in use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    /// Those of the entries, their calls and their words, which pruning removes.
    pub(crate) entries: u64,
    /// All others.
    pub(crate) rest: u64,
}

/// Removes the entries, tool calls and search index of these sessions. The session itself, its tokens, its warnings and the
/// position in its source are kept, so the next commit does not restore pruned entries.
pub(crate) fn prune<R: Removal>(
    transaction: &mut R,
    which: Prune,
    dry_run: bool,
) -> Result<Pruned, R::Error> {
    let dialect = transaction.dialect();
    match which {
        Prune::Before(before) => {
            let old = format!("{LATEST} < {}", dialect.parameter(1));
            remove(transaction, &old, before.as_millis().into(), dry_run)
        }
        Prune::LargerThan(most) => shrink(transaction, most, dry_run),
    }
}

/// Removes the entries of the oldest sessions until the size holds. The share of a session is an estimate, so what was
/// removed is measured, and the rest estimated again: each round removes most of what the one before has left.
fn shrink<R: Removal>(transaction: &mut R, most: u64, dry_run: bool) -> Result<Pruned, R::Error> {
    let chosen = format!("sessions.id IN ({})", transaction.dialect().ids(1));
    let mut all = Pruned::default();
    loop {
        let Size { entries, rest } = transaction.size()?;
        let size = entries.saturating_add(rest);
        let (oldest, share) = oldest(transaction, entries, size.saturating_sub(most))?;
        let left = if dry_run { size.saturating_sub(share) } else { size };
        let pruned = remove(transaction, &chosen, array(&oldest), dry_run)?;
        all = Pruned {
            sessions: all.sessions + pruned.sessions,
            entries: all.entries + pruned.entries,
            calls: all.calls + pruned.calls,
            bytes: all.bytes + pruned.bytes,
            left: Some(left),
        };
        if dry_run || oldest.is_empty() {
            return Ok(all);
        }
        transaction.merge_words()?;
    }
}

/// The oldest sessions whose entries have this many of the bytes of all entries, and how many they have.
fn oldest<R: Removal>(
    transaction: &mut R,
    size: u64,
    excess: u64,
) -> Result<(Vec<i64>, u64), R::Error> {
    if excess == 0 {
        return Ok((Vec::new(), 0));
    }
    // A row has about this many bytes beside its texts, those in indices included.
    let sql = format!(
        "SELECT sessions.id, sum(200 + octet_length(content) + coalesce(octet_length(output), 0)
                                 + coalesce(octet_length(metadata), 0) + coalesce(octet_length(action), 0))
         FROM sessions JOIN entries ON entries.session = sessions.id
         LEFT JOIN tool_calls ON tool_calls.entry = entries.id
         GROUP BY sessions.id ORDER BY {LATEST} IS NULL, {LATEST}, sessions.id"
    );
    let read = |row: &dyn crate::Row| Ok((row.get::<i64>(0)?, u128::from(row.unsigned(1)?)));
    let sessions = transaction.select(&sql, &[], read)?;
    let total = sessions.iter().map(|(_, weight)| weight).sum::<u128>().max(1);
    let mut weight = 0_u128;
    let share = |weight: u128| {
        u64::try_from(weight.saturating_mul(size.into()) / total).unwrap_or(u64::MAX)
    };
    let mut oldest = Vec::new();
    for (session, its) in sessions {
        if share(weight) >= excess {
            break;
        }
        weight += its;
        oldest.push(session);
    }
    Ok((oldest, share(weight)))
}

/// Removes the entries of the sessions that a condition with a parameter chooses.
fn remove<R: Removal>(
    transaction: &mut R,
    condition: &str,
    parameter: Parameter,
    dry_run: bool,
) -> Result<Pruned, R::Error> {
    let parameters = [parameter];
    let chosen = format!(
        "SELECT sessions.id FROM sessions WHERE {condition}
         AND EXISTS (SELECT 1 FROM entries WHERE entries.session = sessions.id)"
    );
    let Counts { sessions, entries, calls, bytes } = count(transaction, &chosen, &parameters)?;
    if !dry_run && sessions > 0 {
        let unnamed = transaction.dialect().unnamed();
        let sql = format!(
            "UPDATE sessions SET pruned_to =
                 (SELECT \"offset\" FROM sources WHERE sources.id = sessions.source){unnamed}
             WHERE id IN ({chosen})"
        );
        transaction.change(&sql, &parameters)?;
        transaction.sum_sessions(&format!("id IN ({chosen})"), &parameters)?;
        // Triggers or foreign keys remove the words, and foreign keys the tool calls.
        let sql = format!("DELETE FROM entries WHERE session IN ({chosen})");
        transaction.change(&sql, &parameters)?;
    }
    Ok(Pruned { sessions, entries, calls, bytes, left: None })
}
