//! [`CopilotSource`]: the events of a session with the requests that the database of all sessions has of it.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use foldline::{
    ledger::Identity,
    source::{Opener, StoredLog, status},
};
use serde_json::{Value, json};

use super::{STORE, STORED};
use crate::{
    siblings::folder_name,
    sqlite::{self, cell, existing, for_each},
};

/// Opens the events of a session of which the database has requests.
///
/// The first line says that there are requests, which follow the events.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopilotSource;

/// The database, in the folder above those of sessions.
pub(super) const DATABASE: &str = "session-store.db";

/// The columns of a request of which something is read.
const COLUMNS: &str = "id created_at model input_tokens output_tokens cache_read_tokens cache_write_tokens \
    reasoning_tokens";

impl Opener for CopilotSource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        let is_one = path.ends_with("events.jsonl") && head.starts_with(b"{");
        let folder = path.parent().filter(|_| is_one)?;
        let database = folder.parent()?.parent()?.join(DATABASE);
        let session = folder_name(Some(folder)).filter(|_| database.is_file())?;
        let log = StoredEvents { events: path.to_owned(), database, session };
        (log.count() > 0).then(|| Box::new(log) as _)
    }
}

/// The events of a session, and its requests in the database.
#[derive(Debug)]
struct StoredEvents {
    events: PathBuf,
    database: PathBuf,
    session: String,
}

impl StoredEvents {
    /// The number of requests.
    fn count(&self) -> u64 {
        let sql = "SELECT count(*) FROM assistant_usage_events WHERE session_id = ?1";
        let database = sqlite::connect(&self.database).ok();
        let count = database.and_then(|database| cell(&database, sql, &self.session));
        count.map_or(0, i64::unsigned_abs)
    }
}

impl StoredLog for StoredEvents {
    /// The status of the events; the database changes with every session.
    fn status(&self, _: Identity) -> io::Result<Identity> {
        let whole = status(&fs::metadata(&self.events)?);
        Ok(Identity { size: whole.size.saturating_add(self.count()), ..whole })
    }

    fn write(&self, _: &File, out: &mut dyn Write) -> io::Result<()> {
        let events = fs::read(&self.events)?;
        // The last event may not be complete yet.
        let end = events.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (events, rest) = events.split_at(end);
        writeln!(out, "{}", line(STORE, &json!({})))?;
        out.write_all(events)?;
        let database = sqlite::connect(&self.database).map_err(io::Error::other)?;
        let columns = existing(&database, "assistant_usage_events", COLUMNS);
        let sql = format!(
            "SELECT {columns} FROM assistant_usage_events WHERE session_id = ?1 ORDER BY created_at, id"
        );
        for_each(&database, &sql, [&self.session], |row| {
            writeln!(out, "{}", line(STORED, &row.into()))
        })?;
        out.write_all(rest)
    }
}

/// A line in the form of an event.
fn line(name: &str, data: &Value) -> Value {
    let (id, at) = (&data["id"], &data["created_at"]);
    json!({"type": name, "data": data, "id": id, "parentId": null, "timestamp": at})
}
