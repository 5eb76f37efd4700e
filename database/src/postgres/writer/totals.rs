//! Rows of usage, warnings, authority, titles of other sessions, and limits.

use std::collections::{BTreeMap, BTreeSet};

use foldline_domain::{
    Allowed, CorrId, Json, Limit, RecordTitle, Text, Timestamp, TokenUsage, WarningKind,
    pricing::{ModelRates, Prices},
    title,
};
use postgres::types::ToSql;

use super::{RowWriter, WrittenSession};
use crate::{
    Fold, NOT_STATED, NewAuthority, NewLeaf, Warned,
    postgres::{
        error::PostgresFailure,
        statements::{signed, text},
    },
    usage::UsedFor,
};

impl RowWriter<'_> {
    /// Inserts what the agent may do from here on.
    pub(super) fn add_authority(
        &mut self,
        session: &WrittenSession,
        stated: &[NewAuthority],
    ) -> Result<(), PostgresFailure> {
        for NewAuthority { position, entries, last, authority } in stated {
            let sql = "INSERT INTO authority (session, entries, line, \"offset\", since, last_at, permission_mode,
                                              approval_policy, sandbox, allowed)
                       SELECT $1, $2, $3, $4, $5, greatest(last_at, $6), $7, $8, $9, $10
                       FROM sessions WHERE id = $1";
            let words = |words: &Option<Text>| words.as_ref().map(|it| encoded(Some(&it.decode())));
            self.session.run(
                sql,
                &[
                    &session.id,
                    &(session.entries + *entries as i64),
                    &signed(position.line),
                    &signed(position.offset),
                    &authority.since.map(Timestamp::as_millis),
                    &last.map(Timestamp::as_millis),
                    &words(&authority.permission_mode),
                    &words(&authority.approval_policy),
                    &words(&authority.sandbox),
                    &authority.allowed.map(Allowed::as_str),
                ],
            )?;
        }
        Ok(())
    }

    /// Inserts the records that the conversation may end with, and titles of the sessions with other records.
    pub(super) fn add_titles(&mut self, session: i64, part: &Fold) -> Result<(), PostgresFailure> {
        for NewLeaf { record, is_next } in &part.leaves {
            let sql = "INSERT INTO leaves (session, idx, record)
                       SELECT $1, greatest(coalesce(max(idx), -1) + $3, 0), $2 FROM leaves WHERE session = $1
                       ON CONFLICT (session, idx) DO UPDATE SET record = excluded.record";
            let record = text(record.as_str());
            self.session.run(sql, &[&session, &record, &i64::from(*is_next)])?;
        }
        for RecordTitle { record, title } in part.facts.record_titles.iter().flatten() {
            let sql = "INSERT INTO record_titles (session, record, title, line) VALUES ($1, $2, $3, $4)
                       ON CONFLICT (session, md5(record)) DO UPDATE SET title = excluded.title, line = excluded.line";
            let (record, title) = (text(record.as_str()), title.decode());
            let line = title::line(&title, true);
            let (title, line) = (text(&title), line.as_deref().map(text));
            self.session.run(sql, &[&session, &record, &title, &line])?;
        }
        Ok(())
    }

    /// Keeps the latest statement of each limit of the account.
    pub(super) fn add_limits(
        &mut self,
        session: i64,
        limits: &[Limit],
    ) -> Result<(), PostgresFailure> {
        for Limit { name, used_percent, window_minutes, resets_at, at, .. } in limits {
            let sql = "INSERT INTO limits (session, agent, name, used_percent, window_minutes, resets_at, at)
                       SELECT $1, agent, $2, $3, $4, $5, $6 FROM sessions WHERE id = $1
                       ON CONFLICT (session, md5(name)) DO UPDATE SET
                           agent = excluded.agent, used_percent = excluded.used_percent,
                           window_minutes = excluded.window_minutes, resets_at = excluded.resets_at,
                           at = excluded.at
                       WHERE limits.at IS NULL OR excluded.at >= limits.at";
            self.session.run(
                sql,
                &[
                    &session,
                    &encoded(Some(&name.decode())),
                    used_percent,
                    &window_minutes.map(signed),
                    &resets_at.map(Timestamp::as_millis),
                    &at.map(Timestamp::as_millis),
                ],
            )?;
        }
        Ok(())
    }

    /// Reads, adds and writes back, so that sums of money do not depend on how the log is split.
    pub(super) fn add_usage(
        &mut self,
        session: i64,
        usage: &BTreeMap<UsedFor, Vec<TokenUsage>>,
    ) -> Result<(), PostgresFailure> {
        if usage.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = usage.keys().map(|of| encoded(of.message_id.as_deref())).collect();
        let sql = "SELECT message_id, model, used_at, input_tokens, output_tokens, cache_read_tokens,
                          cache_write_tokens, cache_write_1h_tokens, reasoning_tokens, web_searches, cost_usd
                   FROM message_usage WHERE session = $1 AND md5(message_id) IN (SELECT md5(unnest($2::text[])))";
        let known = self.session.list(sql, &[&session, &ids], |row| {
            Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.tokens(3)?))
        })?;
        let known: BTreeMap<(String, String, i64), TokenUsage> = known.into_iter().collect();
        let models: BTreeSet<String> =
            usage.keys().map(|of| encoded(of.model.as_deref())).collect();
        let models: Vec<String> = models.into_iter().collect();
        let sql =
            "INSERT INTO models SELECT unnest($1::text[]) ON CONFLICT (md5(model)) DO NOTHING";
        if self.session.run(sql, &[&models])? > 0 {
            self.add_prices(&models)?;
        }
        let sql =
            "INSERT INTO message_usage VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
                   ON CONFLICT (session, md5(message_id), md5(model), used_at) DO UPDATE SET
                       input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
                       cache_read_tokens = excluded.cache_read_tokens,
                       cache_write_tokens = excluded.cache_write_tokens,
                       cache_write_1h_tokens = excluded.cache_write_1h_tokens,
                       reasoning_tokens = excluded.reasoning_tokens,
                       web_searches = excluded.web_searches, cost_usd = excluded.cost_usd";
        for (UsedFor { message_id, model, at }, more) in usage {
            let used_at = at.map_or(NOT_STATED, Timestamp::as_millis);
            let key = (
                message_id.as_deref().unwrap_or_default().to_owned(),
                model.as_deref().unwrap_or_default().to_owned(),
                used_at,
            );
            let mut total = known.get(&key).copied().unwrap_or_default();
            more.iter().for_each(|more| total.add(more));
            let count = |tokens: Option<u64>| tokens.map(signed);
            self.session.run(
                sql,
                &[
                    &session,
                    &encoded(message_id.as_deref()),
                    &encoded(model.as_deref()),
                    &used_at,
                    &count(total.input_tokens),
                    &count(total.output_tokens),
                    &count(total.cache_read_tokens),
                    &count(total.cache_write_tokens),
                    &count(total.cache_write_1h_tokens),
                    &count(total.reasoning_tokens),
                    &count(total.web_searches),
                    &total.cost_usd,
                ],
            )?;
        }
        Ok(())
    }

    /// Adds the prices of models that have none yet, for the view `cost`.
    fn add_prices(&mut self, models: &[String]) -> Result<(), PostgresFailure> {
        let sql = "INSERT INTO prices VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                   ON CONFLICT (md5(model), until, more_than) DO NOTHING";
        for model in models {
            for ModelRates { until, more_than, rates } in Prices::builtin().rates_of(model) {
                let (until, over) =
                    (until.map_or(-1, Timestamp::as_millis), more_than.map_or(-1, signed));
                let [input, output, read, write, write_1h] = rates;
                let row: [&(dyn ToSql + Sync); 8] =
                    [model, &until, &over, &input, &output, &read, &write, &write_1h];
                self.session.run(sql, &row)?;
            }
        }
        Ok(())
    }

    /// Adds to the warnings of a session.
    pub(super) fn add_warnings<'w>(
        &mut self,
        session: i64,
        warnings: impl Iterator<Item = (WarningKind, &'w str, &'w Warned)>,
    ) -> Result<(), PostgresFailure> {
        for (kind, subject, Warned { count, position, first }) in warnings {
            // A subject may be longer than an entry of an index, so no unique index finds it.
            let sql = "UPDATE warnings SET count = count + $4
                       WHERE session = $1 AND kind = $2 AND subject = $3";
            let (kind, subject, count) = (kind.as_str(), text(subject), signed(*count));
            if self.session.run(sql, &[&session, &kind, &subject, &count])? > 0 {
                continue;
            }
            let sql = "INSERT INTO warnings VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
            self.session.run(
                sql,
                &[
                    &session,
                    &kind,
                    &subject,
                    &count,
                    &signed(position.line),
                    &signed(position.offset),
                    &text(&first.message),
                    &first.corr_id.as_ref().map(CorrId::as_str).map(text),
                    &first.sample.as_ref().map(Json::get).map(text),
                ],
            )?;
        }
        Ok(())
    }
}

fn encoded(stated: Option<&str>) -> String {
    text(stated.unwrap_or_default()).into_owned()
}
