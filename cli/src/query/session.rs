//! One session's entries.

use std::io::{self, Write};

use serde::Serialize;

use super::{
    Asked, find,
    listing::{Kind, Listing, OutputFormat, Value, write_json},
    sessions::{Which, sessions},
};
use crate::{error::Error, table::clip};
use foldline::{
    conversation::Timestamp,
    emitters::{sqlite::StoredEntry, terminal::neutralise_line},
};

/// One session and some of its entries.
#[derive(Serialize)]
pub(super) struct SessionAnswer {
    session: Listing,
    entries: Vec<StoredEntry>,
    /// The agent's own id, as a heading.
    #[serde(skip)]
    id: Option<String>,
    #[serde(skip)]
    is_cut: bool,
}

/// The first entries, or the last ones: those that are not shown are not read.
pub(super) fn answer(
    asked: &Asked<'_>,
    id: &str,
    last: Option<u32>,
) -> Result<SessionAnswer, Error> {
    let row = find::session(&asked.database, id)?;
    let session = sessions(asked, Some(Which::Row(row)))?;
    let (count, id): (i64, Option<String>) = asked
        .database
        .connection()
        .query_row("SELECT entries, session_id FROM sessions WHERE id = ?1", [row], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .map_err(|error| asked.failed(&error))?;
    let limit = i64::try_from(asked.limit()).unwrap_or(i64::MAX);
    let (indices, is_cut) = match last {
        Some(last) => ((count - i64::from(last)).max(0)..count, false),
        None => (0..count.min(limit), count > limit),
    };
    let mut entries = Vec::new();
    let (since, until) = asked.span();
    let is_asked_for = |entry: &StoredEntry| {
        let (None, None) = (asked.args.since, asked.args.until) else {
            let at = entry.entry.timestamp.map(Timestamp::as_millis);
            return at.is_some_and(|at| (since..until).contains(&at));
        };
        true
    };
    asked.database.entries(row, indices, |entry| {
        if is_asked_for(&entry) {
            entries.push(entry);
        }
    })?;
    Ok(SessionAnswer { session, entries, id, is_cut })
}

impl SessionAnswer {
    /// Whether there are more entries than are shown.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        format: OutputFormat,
        width: usize,
    ) -> io::Result<()> {
        match format {
            OutputFormat::Json => write_json(out, self),
            OutputFormat::Csv => self.listing(true).write_csv(out),
            OutputFormat::Table => {
                if let Some(id) = &self.id {
                    writeln!(
                        out,
                        "session {}",
                        clip(&neutralise_line(id), width.saturating_sub(8))
                    )?;
                }
                self.session.write_table(out, width)?;
                writeln!(out)?;
                self.listing(false).write_table(out, width)
            }
        }
    }

    fn listing(&self, with_output: bool) -> Listing {
        let columns = [
            ("index", Kind::Number),
            ("at", Kind::Moment),
            ("type", Kind::Id),
            ("tool", Kind::Id),
            ("status", Kind::Id),
            ("duration_ms", Kind::Duration),
            ("content", Kind::Text),
            ("output", Kind::Text),
        ];
        let columns = if with_output { &columns[..] } else { &columns[..7] };
        let mut listing = Listing::new(columns);
        for StoredEntry { index, entry, .. } in &self.entries {
            let tool = entry.tool();
            let name = tool.map(|tool| Value::Text(tool.tool_name.decode().into_owned()));
            let duration = tool.and_then(|tool| tool.duration_ms);
            let output =
                tool.filter(|_| with_output).and_then(|tool| tool.action_type.result_text());
            let mut row = vec![
                i64::try_from(index.get()).ok().into(),
                entry.timestamp.map(Timestamp::as_millis).into(),
                entry.entry_type.name().into(),
                name.unwrap_or(Value::Null),
                tool.map_or(Value::Null, |tool| tool.status.name().into()),
                duration.and_then(|millis| i64::try_from(millis).ok()).into(),
                Value::Text(entry.content.decode().into_owned()),
                output.map_or(Value::Null, |output| Value::Text(output.into_string())),
            ];
            row.truncate(columns.len());
            listing.rows.push(row);
        }
        listing
    }
}
