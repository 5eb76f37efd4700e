//! Removes sessions for good.
//!
//! Each removed session leaves a mark in the table `forgotten`: its number within its source, and the agent's id of it.
//! No row of that session is written again when its log grows, nor of another log with the id, unless a session of that
//! id was kept. A source without further sessions is forgotten as a whole, with everything that is added to its log
//! later: its row only keeps the path and the digests by which the log, its copies and its growth are recognised. A
//! source with sessions that were not chosen, such as the database of an agent, is read on. Of neither, a copy of the raw
//! log is kept.

use super::{Counts, Removal, array, count};
use crate::{Parameter, query::with_companions};

/// Counts of what was forgotten, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Sessions, without the further logs that belong to them.
    pub sessions: u64,
    /// Entries.
    pub entries: u64,
    /// Tool calls among them.
    pub calls: u64,
    /// Bytes of text in them.
    pub bytes: u64,
    /// The paths of the logs that they were read from.
    pub logs: Vec<String>,
    /// The files of copies of these logs, which are to be removed.
    pub kept: Vec<String>,
}

/// Removes these sessions and everything that belongs to them.
pub(crate) fn forget<R: Removal>(
    transaction: &mut R,
    sessions: &[i64],
    dry_run: bool,
) -> Result<Forgotten, R::Error> {
    let ids = transaction.dialect().ids(1);
    let id = |row: &dyn crate::Row| row.get::<i64>(0);
    let sql = format!("SELECT id FROM sessions WHERE id IN ({ids})");
    let chosen = transaction.select(&sql, &[array(sessions)], id)?;
    let all = transaction.select(&with_companions(&ids), &[array(&chosen)], id)?;
    let all = array(&all);
    let one = std::slice::from_ref(&all);
    let Counts { entries, calls, bytes, .. } = count(transaction, &ids, one)?;
    let sql = format!(
        "SELECT DISTINCT path FROM sources WHERE id IN (SELECT source FROM sessions WHERE id IN ({ids}))
         ORDER BY path"
    );
    let logs = transaction.select(&sql, one, |row| row.get(0))?;
    let is_dry = dry_run || chosen.is_empty();
    let kept = transaction.take_kept(&all, is_dry)?;
    if !is_dry {
        remove(transaction, &all)?;
    }
    Ok(Forgotten { sessions: chosen.len() as u64, entries, calls, bytes, logs, kept })
}

fn remove<R: Removal>(transaction: &mut R, chosen: &Parameter) -> Result<(), R::Error> {
    let dialect = transaction.dialect();
    let (ids, one) = (dialect.ids(1), std::slice::from_ref(chosen));
    let columns = "name, number, agent, session_id, anywhere";
    let (column, sum) = dialect.summed(columns);
    let mark = format!(
        "INSERT INTO forgotten (source, number, agent, session_id, anywhere{column})
         SELECT {columns}{sum}
         FROM (SELECT name, number, agent, session_id, session_id IS NOT NULL AND NOT EXISTS (
                   SELECT 1 FROM sessions AS kept WHERE kept.session_id = chosen.session_id
                   AND kept.agent IS NOT DISTINCT FROM chosen.agent AND kept.id NOT IN ({ids})) AS anywhere
               FROM sessions AS chosen JOIN sources ON sources.id = chosen.source
               WHERE chosen.id IN ({ids})) AS marks"
    );
    transaction.change(&mark, one)?;
    let sql = format!("SELECT DISTINCT source FROM sessions WHERE id IN ({ids})");
    let sources = transaction.select(&sql, one, |row| row.get::<i64>(0))?;
    let sql = format!("UPDATE sources SET session = NULL WHERE session IN ({ids})");
    transaction.change(&sql, one)?;
    // Triggers or foreign keys remove the words, and foreign keys everything else that belongs to a session.
    transaction.change(&format!("DELETE FROM sessions WHERE id IN ({ids})"), one)?;
    let sum = dialect.sets_sum(
        "name, path, format, device, inode, size, modified_at, changed_ns, read_length, read_edges, read_sha256,
         first_line, 0, 0, '{}', complete, host, user_name",
    );
    // A run that has read from the position before finds that it is overtaken: no line has the number 0.
    let empty = format!(
        "UPDATE sources SET forgotten = true, state = '{{}}', line = 0, \"offset\" = 0{sum}
         WHERE id IN ({ids}) AND NOT EXISTS (SELECT 1 FROM sessions WHERE source = sources.id)"
    );
    transaction.change(&empty, &[array(&sources)])?;
    let unused =
        "DELETE FROM folders WHERE folder NOT IN (SELECT cwd FROM sessions WHERE cwd IS NOT NULL)";
    transaction.change(unused, &[])?;
    transaction.remove_unused()
}
