//! The limits of an account that no log states.

use foldline_domain::{Limit, Timestamp};
use rusqlite::params;

use super::{
    Database, SqliteError,
    statements::{list, run},
};

/// What a row of `limits` has of a limit: the name, the used part, the length and the end of its window, and the moment at
/// which it is stated.
pub(super) struct LimitColumns {
    pub(super) name: String,
    pub(super) used_percent: f64,
    pub(super) window_minutes: Option<i64>,
    pub(super) resets_at: Option<i64>,
    pub(super) at: Option<i64>,
}

impl LimitColumns {
    pub(super) fn of(limit: &Limit) -> Self {
        let Limit { name, used_percent, window_minutes, resets_at, at } = limit;
        Self {
            name: name.decode().into_owned(),
            // SQLite stores -0.0 as 0.0, which has another checksum.
            used_percent: used_percent + 0.0,
            window_minutes: window_minutes.map(|it| i64::try_from(it).unwrap_or(i64::MAX)),
            resets_at: resets_at.map(Timestamp::as_millis),
            at: at.map(Timestamp::as_millis),
        }
    }
}

impl Database {
    /// Stores what an agent states about the limits of the account outside of its logs. Writes nothing if that
    /// [is not news](Limit::is_news).
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_limits(&mut self, agent: &str, limits: &[Limit]) -> Result<(), SqliteError> {
        let known = self.with(|connection| {
            let sql = "SELECT name, used_percent, window_minutes, resets_at, at FROM limits
                       WHERE session IS NULL AND agent = ?1";
            list(connection, sql, [agent], |row| row.limit(0))
        })?;
        let finite = |limit: &&Limit| limit.used_percent.is_finite();
        let news = limits.iter().filter(finite).filter(|limit| limit.is_news(&known));
        let news: Vec<_> = news.map(LimitColumns::of).collect();
        if news.is_empty() {
            return Ok(());
        }
        let sql = "INSERT INTO limits (session, agent, name, used_percent, window_minutes, resets_at, at, crc32)
                   VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, row_crc32(NULL, ?1, ?2, ?3, ?4, ?5, ?6))
                   ON CONFLICT (agent, name) WHERE session IS NULL DO UPDATE SET
                       used_percent = excluded.used_percent, window_minutes = excluded.window_minutes,
                       resets_at = excluded.resets_at, at = excluded.at, crc32 = excluded.crc32
                   WHERE at IS NULL OR excluded.at >= at";
        self.change(|transaction| {
            news.iter().try_for_each(|limit| {
                let LimitColumns { name, used_percent, window_minutes, resets_at, at } = limit;
                let row = params![agent, name, used_percent, window_minutes, resets_at, at];
                run(transaction, sql, row).map(drop)
            })
        })
    }
}
