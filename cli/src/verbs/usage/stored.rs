//! What was used, from a database.

use std::{collections::BTreeMap, path::Path, time::Duration};

use foldline::{
    conversation::{Text, Timestamp, TokenUsage},
    emitters::{
        sqlite::Database,
        usage::{MessageUsage, SessionUsage, UsedFor},
    },
};
use rusqlite::{Connection, Row};

use super::used::UsedSession;
use crate::{distinct::DistinctFiles, error::Error, exit};

/// The sessions, and the exit code.
pub(super) fn sessions(path: &Path) -> Result<(Vec<UsedSession>, u8), Error> {
    DistinctFiles::of_database(path)?;
    let database = Database::open_read_only(path, Duration::from_secs(10))?;
    let read = sessions_of(&database)?;
    database.confirm()?;
    Ok((read, exit::FINE))
}

/// The sessions of a database that is open.
pub(crate) fn sessions_of(database: &Database) -> Result<Vec<UsedSession>, Error> {
    Ok(read(database.connection()).map_err(|error| database.error(&error))?)
}

fn read(connection: &Connection) -> rusqlite::Result<Vec<UsedSession>> {
    let mut sessions = BTreeMap::new();
    let mut query = connection.prepare(
        "SELECT id, session_id, parent_session_id, agent, cwd, branch, task FROM sessions",
    )?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        sessions.insert(row.get::<_, i64>(0)?, session(row)?);
    }
    let mut query = connection.prepare(
        "SELECT session, message_id, model, used_at, input_tokens, output_tokens, cache_read_tokens,
                cache_write_tokens, cache_write_1h_tokens, reasoning_tokens, cost_usd
         FROM usage ORDER BY session, used_at, message_id, model",
    )?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(UsedSession { usage, .. }) = sessions.get_mut(&row.get::<_, i64>(0)?) {
            usage.messages.push(message(row)?);
        }
    }
    Ok(sessions.into_values().collect())
}

fn session(row: &Row<'_>) -> rusqlite::Result<UsedSession> {
    let text = |column| row.get::<_, Option<String>>(column);
    let mut usage = SessionUsage::default();
    usage.session_id = text(1)?.map(Into::into);
    usage.parent_session_id = text(2)?.map(Into::into);
    usage.agent = text(3)?.map(Text::from);
    usage.cwd = text(4)?.map(Text::from);
    usage.branch = text(5)?.map(Text::from);
    Ok(UsedSession { usage, task: text(6)? })
}

fn message(row: &Row<'_>) -> rusqlite::Result<MessageUsage> {
    let stated = |column| {
        let text = row.get::<_, String>(column);
        text.map(|text| Some(text).filter(|text| !text.is_empty()))
    };
    let count = |column| row.get::<_, Option<i64>>(column).map(|n| n.map(i64::cast_unsigned));
    // -1 is a moment that the log does not state.
    let at = Some(row.get::<_, i64>(3)?).filter(|at| *at != -1);
    let of =
        UsedFor { message_id: stated(1)?, model: stated(2)?, at: at.map(Timestamp::from_millis) };
    let usage = TokenUsage {
        input_tokens: count(4)?,
        output_tokens: count(5)?,
        cache_read_tokens: count(6)?,
        cache_write_tokens: count(7)?,
        cache_write_1h_tokens: count(8)?,
        reasoning_tokens: count(9)?,
        cost_usd: row.get(10)?,
    };
    Ok(MessageUsage::new(of, usage))
}
