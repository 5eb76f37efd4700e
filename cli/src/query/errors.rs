//! Failed calls and reported errors.

use super::{
    Asked,
    listing::{Kind, Listing},
    sessions::FAILURES,
};
use crate::error::Error;

/// Calls that failed and errors that were reported, of one task or of all, the latest first.
pub(super) fn errors(asked: &Asked<'_>, task: Option<&str>) -> Result<Listing, Error> {
    let columns = [
        ("at", Kind::Moment),
        ("task", Kind::Text),
        ("session", Kind::Number),
        ("index", Kind::Number),
        ("tool", Kind::Text),
        ("status", Kind::Id),
        ("exit_code", Kind::Number),
        ("what", Kind::Text),
        ("message", Kind::Text),
    ];
    let time = asked.within("timestamp");
    let sql = format!(
        "SELECT timestamp, task, sessions.id, idx, tool_name, status, exit_code,
                iif(type = 'tool_use', content, NULL),
                substr(coalesce(output, reason, iif(type = 'tool_use', NULL, content)), 1, 2000)
         FROM entries JOIN sessions ON sessions.id = entries.session
         LEFT JOIN tool_calls ON tool_calls.entry = entries.id
         WHERE entries.id IN (
             SELECT id FROM entries WHERE type = 'error_message'
             UNION ALL SELECT entry FROM tool_calls WHERE {FAILURES}
         ) AND (?1 IS NULL OR task = ?1) AND {time}
         ORDER BY timestamp DESC, entries.id DESC LIMIT ?2"
    );
    Listing::select(asked.database.connection(), &columns, &sql, (task, asked.rows()))
        .map_err(|error| asked.failed(&error))
}
