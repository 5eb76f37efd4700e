//! Checks rows against their checksums and against each other.

use rusqlite::Connection;

use super::finding::{Finding, told};
use crate::sqlite::{
    crc::{Summed, summed},
    schema,
};

/// Rows with a wrong checksum.
pub(super) fn checksums(connection: &Connection) -> rusqlite::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for Summed { table, columns, row } in summed(&schema::empty()?)? {
        let sql = format!(
            "SELECT {row} || ' has a wrong checksum'
             FROM {table} NOT INDEXED WHERE crc32 <> row_crc32({columns})"
        );
        findings.extend(told(connection, &sql, false)?);
    }
    Ok(findings)
}

/// Sessions that lack entries, or state a wrong number of them.
pub(super) fn numbers_of_entries(connection: &Connection) -> rusqlite::Result<Vec<Finding>> {
    let missing = told(
        connection,
        "SELECT 'session ' || sessions.id || ' has ' || count(idx) || ' entries, and the last one has the index '
                || max(idx)
         FROM sessions JOIN entries ON entries.session = sessions.id
         WHERE pruned_to IS NULL GROUP BY sessions.id HAVING count(idx) <> max(idx) + 1",
        false,
    )?;
    let counts = told(
        connection,
        "SELECT 'session ' || sessions.id || ' says that it has ' || entries || ' entries, and the last one has '
                || coalesce('the index ' || max(idx), 'gone')
         FROM sessions LEFT JOIN entries ON entries.session = sessions.id
         GROUP BY sessions.id
         HAVING iif(pruned_to IS NULL, entries <> coalesce(max(idx) + 1, 0), entries < max(idx) + 1)",
        true,
    )?;
    Ok([missing, counts].concat())
}

/// Rows that contradict their parent row.
pub(super) fn positions(connection: &Connection) -> rusqlite::Result<Vec<Finding>> {
    let beyond = told(
        connection,
        "SELECT 'session ' || sessions.id || ' has entries from byte ' || max(entries.offset)
                || ' of a log that was read to byte ' || max_offset
         FROM sessions JOIN sources ON sources.id = sessions.source
         JOIN entries ON entries.session = sessions.id
         GROUP BY sessions.id HAVING max(entries.offset) > max_offset",
        false,
    )?;
    let calls = told(
        connection,
        "SELECT 'entry ' || idx || ' of session ' || entries.session
                || iif(entry IS NULL, ' is a tool call without its details', ' has the details of another tool call')
         FROM entries LEFT JOIN tool_calls ON entry = id
         WHERE iif(type = 'tool_use', tool_calls.session IS NOT entries.session, entry IS NOT NULL)",
        false,
    )?;
    let outputs = told(
        connection,
        "SELECT name || ' has ' || outputs.commits || ' commits, and the database ' || ledger.commits
         FROM outputs JOIN ledger WHERE outputs.commits > ledger.commits
         UNION ALL SELECT 'the table ledger has not exactly one row' WHERE (SELECT count(*) FROM ledger) <> 1",
        false,
    )?;
    Ok([beyond, calls, outputs].concat())
}
