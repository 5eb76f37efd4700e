//! One session's entries.

use std::io::{self, Write};

use foldline_database::{
    StoredEntry,
    query::{SessionFilter, SessionName, SessionOrder},
};
use foldline_domain::Timestamp;
use serde::Serialize;

use crate::{
    answer::{Asked, Layout, Listing, OutputFormat, Printed, Value, find, write_json},
    error::Error,
    verbs::sessions,
};

/// The number of entries shown before and after the requested entry.
pub(super) const AROUND: i64 = 5;

/// One session and some of its entries.
#[derive(Serialize)]
pub(super) struct SessionAnswer {
    session: Listing,
    entries: Vec<StoredEntry>,
    #[serde(skip)]
    is_cut: bool,
}

/// The first or the last entries; only displayed entries are read.
pub(super) fn answer(
    asked: &Asked<'_>,
    id: &str,
    entry: Option<u64>,
    last: Option<u32>,
) -> Result<SessionAnswer, Error> {
    let row = find::session(&*asked.database, id, asked.filters)?;
    let filter = SessionFilter { name: Some(SessionName::from(row)), ..asked.filter.clone() };
    let sessions = asked.database.sessions(&filter, SessionOrder::Latest)?;
    let count = sessions.first().map_or(0, |session| session.entries);
    let session = sessions::listing(&sessions);
    let limit = i64::try_from(asked.print.limit()).unwrap_or(i64::MAX);
    let entry = entry.map(|entry| i64::try_from(entry).unwrap_or(i64::MAX));
    let (indices, is_cut) = match (entry, last) {
        (Some(entry), _) => {
            (entry.saturating_sub(AROUND).max(0)..entry.saturating_add(AROUND + 1), false)
        }
        (None, Some(last)) => ((count - i64::from(last)).max(0)..count, false),
        (None, None) => (0..count.min(limit), count > limit),
    };
    let mut entries = Vec::new();
    asked.database.entries(row, indices, |entry| {
        if asked.filter.period.has(entry.entry.timestamp) {
            entries.push(entry);
        }
    })?;
    Ok(SessionAnswer { session, entries, is_cut })
}

impl Printed for SessionAnswer {
    fn limit(&mut self, _: usize) -> bool {
        // Entries beyond the limit were not read.
        self.is_cut
    }

    fn write(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()> {
        match layout.format {
            OutputFormat::Json => write_json(out, self),
            OutputFormat::Csv => self.listing().write_csv(out),
            OutputFormat::Table => self.listing().write_table(out, layout),
        }
    }
}

impl SessionAnswer {
    fn listing(&self) -> Listing {
        let mut listing = Listing::named("index at type tool status duration_ms content output");
        for StoredEntry { index, entry, .. } in &self.entries {
            let tool = entry.tool();
            let name = tool.map(|tool| Value::Text(tool.tool_name.decode().into_owned()));
            let duration = tool.and_then(|tool| tool.duration_ms);
            let output = tool.and_then(|tool| tool.action_type.result_text());
            listing.rows.push(vec![
                Some(index.get()).into(),
                entry.timestamp.map(Timestamp::as_millis).into(),
                entry.entry_type.name().into(),
                name.unwrap_or(Value::Null),
                tool.map_or(Value::Null, |tool| tool.status.name().into()),
                duration.into(),
                Value::Text(entry.content.decode().into_owned()),
                output.map_or(Value::Null, |output| Value::Text(output.into_string())),
            ]);
        }
        listing
    }
}
