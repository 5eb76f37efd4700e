//! Rows of usage, warnings, authority, titles of other sessions, and limits.

use std::collections::BTreeMap;

use foldline_domain::{
    Allowed, CorrId, Json, Limit, RecordTitle, Text, Timestamp, TokenUsage, WarningKind,
};
use rusqlite::params;

use super::super::{
    limits::LimitColumns,
    statements::{find, run},
};
use super::{SourceWriter, StoredSession, signed};
use crate::{Fold, NOT_STATED, NewAuthority, NewLeaf, Warned, usage::UsedFor};

impl SourceWriter<'_> {
    /// Inserts what the agent may do from here on.
    pub(super) fn add_authority(
        &self,
        session: &StoredSession,
        stated: &[NewAuthority],
    ) -> rusqlite::Result<()> {
        for NewAuthority { position, entries, last, authority } in stated {
            let sql = "INSERT INTO authority (session, entries, line, offset, since, last_at, permission_mode,
                                              approval_policy, sandbox, allowed, crc32)
                       SELECT ?1, ?2, ?3, ?4, ?5, last, ?7, ?8, ?9, ?10,
                              row_crc32(?1, ?2, ?3, ?4, ?5, last, ?7, ?8, ?9, ?10)
                       FROM (SELECT max(coalesce(last_at, ?6), coalesce(?6, last_at)) AS last
                             FROM sessions WHERE id = ?1)";
            let text = |text: &Option<Text>| text.as_ref().map(|text| text.decode().into_owned());
            run(
                self.transaction,
                sql,
                params![
                    session.id,
                    session.entries + *entries as i64,
                    signed(position.line),
                    signed(position.offset),
                    authority.since.map(Timestamp::as_millis),
                    last.map(Timestamp::as_millis),
                    text(&authority.permission_mode),
                    text(&authority.approval_policy),
                    text(&authority.sandbox),
                    authority.allowed.map(Allowed::as_str),
                ],
            )?;
        }
        Ok(())
    }

    /// Inserts the records that the conversation may end with, and titles of the sessions with other records.
    pub(super) fn add_titles(&self, session: i64, part: &Fold) -> rusqlite::Result<()> {
        for NewLeaf { record, is_next } in &part.leaves {
            // The last row, not `max(idx)`, for which SQLite would read them all.
            let sql = "INSERT INTO leaves (session, idx, record, crc32)
                       SELECT ?1, idx, ?2, row_crc32(?1, idx, ?2)
                       FROM (SELECT max(coalesce((SELECT idx FROM leaves WHERE session = ?1 ORDER BY idx DESC LIMIT 1), -1)
                                        + ?3, 0) AS idx)
                       WHERE true
                       ON CONFLICT DO UPDATE SET record = excluded.record, crc32 = excluded.crc32";
            run(self.transaction, sql, params![session, record.as_str(), is_next])?;
        }
        for RecordTitle { record, title } in part.facts.record_titles.iter().flatten() {
            let sql = "INSERT INTO record_titles (session, record, title, crc32)
                       VALUES (?1, ?2, ?3, row_crc32(?1, ?2, ?3))
                       ON CONFLICT DO UPDATE SET title = excluded.title, crc32 = excluded.crc32";
            run(self.transaction, sql, params![session, record.as_str(), title.decode()])?;
        }
        Ok(())
    }

    /// Keeps the latest statement of each limit of the account.
    pub(super) fn add_limits(&self, session: i64, limits: &[Limit]) -> rusqlite::Result<()> {
        let sql = "INSERT INTO limits (session, agent, name, used_percent, window_minutes, resets_at, at, crc32)
                   SELECT ?1, agent, ?2, ?3, ?4, ?5, ?6, row_crc32(?1, agent, ?2, ?3, ?4, ?5, ?6)
                   FROM sessions WHERE id = ?1
                   ON CONFLICT (session, name) DO UPDATE SET
                       agent = excluded.agent, used_percent = excluded.used_percent,
                       window_minutes = excluded.window_minutes, resets_at = excluded.resets_at,
                       at = excluded.at, crc32 = excluded.crc32
                   WHERE at IS NULL OR excluded.at >= at";
        limits.iter().try_for_each(|limit| {
            let LimitColumns { name, used_percent, window_minutes, resets_at, at } =
                LimitColumns::of(limit);
            let row = params![session, name, used_percent, window_minutes, resets_at, at];
            run(self.transaction, sql, row).map(drop)
        })
    }

    /// Reads, adds and writes back, so that sums of money do not depend on how the log is split.
    pub(super) fn add_usage(
        &self,
        session: i64,
        usage: &BTreeMap<UsedFor, Vec<TokenUsage>>,
    ) -> rusqlite::Result<()> {
        for (UsedFor { message_id, model, at }, more) in usage {
            let message_id = message_id.as_deref().unwrap_or_default();
            let model = model.as_deref().unwrap_or_default();
            let used_at = at.map_or(NOT_STATED, Timestamp::as_millis);
            let sql = "SELECT input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
                              cache_write_1h_tokens, reasoning_tokens, web_searches, cost_usd
                       FROM message_usage
                       WHERE session = ?1 AND message_id = ?2 AND model = ?3 AND used_at = ?4";
            let key = params![session, message_id, model, used_at];
            let known = find(self.transaction, sql, key, |row| row.tokens(0))?;
            // Two statements: for REPLACE, SQLite would first flush the whole search index to be able to undo
            // it.
            let sql = match known {
                None => {
                    "INSERT INTO message_usage
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
                             row_crc32(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12))"
                }
                Some(_) => {
                    "UPDATE message_usage SET
                         input_tokens = ?5, output_tokens = ?6, cache_read_tokens = ?7,
                         cache_write_tokens = ?8, cache_write_1h_tokens = ?9,
                         reasoning_tokens = ?10, web_searches = ?11, cost_usd = ?12,
                         crc32 = row_crc32(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
                     WHERE session = ?1 AND message_id = ?2 AND model = ?3 AND used_at = ?4"
                }
            };
            let mut total = known.unwrap_or_default();
            more.iter().for_each(|more| total.add(more));
            run(
                self.transaction,
                sql,
                params![
                    session,
                    message_id,
                    model,
                    used_at,
                    total.input_tokens.map(signed),
                    total.output_tokens.map(signed),
                    total.cache_read_tokens.map(signed),
                    total.cache_write_tokens.map(signed),
                    total.cache_write_1h_tokens.map(signed),
                    total.reasoning_tokens.map(signed),
                    total.web_searches.map(signed),
                    total.cost_usd,
                ],
            )?;
        }
        Ok(())
    }

    pub(super) fn add_warning(
        &self,
        session: i64,
        kind: WarningKind,
        subject: &str,
        warned: &Warned,
    ) -> rusqlite::Result<()> {
        let Warned { count, position, first } = warned;
        let sql = "INSERT INTO warnings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
                                              row_crc32(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9))
                 ON CONFLICT DO UPDATE SET
                     count = count + excluded.count,
                     crc32 = row_crc32(session, kind, subject, count + excluded.count, line, offset,
                                       message, corr_id, sample)";
        let row = params![
            session,
            kind.as_str(),
            subject,
            signed(*count),
            signed(position.line),
            signed(position.offset),
            first.message,
            first.corr_id.as_ref().map(CorrId::as_str),
            first.sample.as_ref().map(Json::get),
        ];
        run(self.transaction, sql, row).map(drop)
    }
}
