//! [`SentOutput`]: an output that is sent to a collector, and waits in the database until the collector has taken it.

use std::collections::BTreeSet;

use foldline::ledger::{Mark, SourceName};
use foldline_database::sqlite::{Database, KnownOutput, Output, SqliteError};
use foldline_domain::{Digest, Json};
use foldline_render::human;
use serde::{Deserialize, Serialize};

use super::totals::SavedTotals;
use crate::{
    error::Error,
    sink::{Delivery, Endpoints, Sent},
};

/// The stored state, in addition to the outbox.
#[derive(Default, Serialize, Deserialize)]
struct SentState {
    /// The outbox begins here: the collector has everything before.
    begin: u64,
    /// What it has of the outbox.
    sent: Sent,
    totals: SavedTotals,
}

/// An output of a database that a collector gets.
pub(super) struct SentOutput {
    /// Its name in the database.
    name: String,
    delivery: Delivery,
    /// The collector has everything before this position.
    begin: u64,
    /// The same, according to the database.
    known: SentState,
    /// The position after all committed data.
    committed: u64,
    /// The data for the next commit.
    staged: Vec<u8>,
    /// The signals in it of logs that are rewritten.
    recorded: BTreeSet<(SourceName, Digest)>,
}

impl SentOutput {
    /// Opens the output. Also returns the number of commits that were made without it.
    pub(super) fn open(
        sink: &str,
        endpoints: Endpoints,
        database: &Database,
        commits: u64,
    ) -> Result<(Self, u64), Error> {
        let name = format!("sink {sink} {endpoints}");
        let known = database.outputs()?.into_iter().find(|known| known.name == name);
        let missed = known.as_ref().map_or(0, |known| commits.saturating_sub(known.commits));
        let state = known.map(|KnownOutput { state, .. }| serde_json::from_str(state.get()));
        let known: SentState = state.transpose().map_err(unreadable(database))?.unwrap_or_default();
        let (begin, mut committed) = (known.begin, known.begin);
        while let Some(piece) = database.outbox(&name, committed)? {
            committed += piece.len() as u64;
        }
        let delivery = Delivery::new(endpoints, known.sent);
        let (staged, recorded) = (Vec::new(), BTreeSet::new());
        Ok((Self { name, delivery, begin, known, committed, staged, recorded }, missed))
    }

    /// The totals of the last points, and the data for the next commit.
    pub(super) fn totals_and_staged(&mut self) -> (&mut SavedTotals, &mut Vec<u8>) {
        (&mut self.known.totals, &mut self.staged)
    }

    /// Adds lines of a log for the next commit. A signal of a log that is rewritten is added once.
    pub(super) fn add(
        &mut self,
        lines: &[u8],
        rewritten: Option<&SourceName>,
        database: &Database,
    ) -> Result<(), SqliteError> {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            if let Some(source) = rewritten {
                let key = (source.clone(), identity(line));
                if database.is_recorded(&self.name, source, key.1)? || !self.recorded.insert(key) {
                    continue;
                }
            }
            self.staged.extend_from_slice(line);
        }
        Ok(())
    }

    pub(super) fn staged_length(&self) -> usize {
        self.staged.len()
    }

    /// The position after all committed data.
    pub(super) fn committed(&self) -> u64 {
        self.committed
    }

    /// Discards what was staged, and committed after this position.
    pub(super) fn undo(&mut self, committed: u64) {
        self.staged.clear();
        self.recorded.clear();
        self.committed = committed;
    }

    /// Whether the collector has got something since the last commit.
    pub(super) fn has_delivered(&self) -> bool {
        self.known.begin != self.begin || self.known.sent != self.delivery.sent()
    }

    /// Takes the staged data for a commit of the database.
    pub(super) fn output(&mut self) -> Result<Output, Error> {
        (self.known.begin, self.known.sent) = (self.begin, self.delivery.sent());
        let state = Json::of(&self.known).map_err(|error| Error::Output(error.into()))?;
        let (bytes, offset) = (std::mem::take(&mut self.staged), self.committed);
        self.committed += bytes.len() as u64;
        let recorded = std::mem::take(&mut self.recorded);
        let mark = Mark { name: self.name.clone(), state };
        Ok(Output { mark, written: self.begin, offset, bytes, recorded })
    }

    /// Sends what is committed, unless the collector is away.
    pub(super) fn deliver(&mut self, database: &Database) -> Result<(), Error> {
        let mut lines = Vec::new();
        while self.delivery.away().is_none()
            && let Some(piece) = database.outbox(&self.name, self.begin + lines.len() as u64)?
        {
            lines.extend(piece);
            // A piece may end within a line, and a commit does not.
            if lines.last() != Some(&b'\n') {
                continue;
            }
            if self.delivery.deliver(self.begin, &String::from_utf8_lossy(&lines)) {
                self.begin += lines.len() as u64;
                lines.clear();
            }
        }
        Ok(())
    }

    /// Sends the rest, also to a collector that was away. Returns messages about what it did not get.
    pub(super) fn finish(&mut self, database: &Database) -> Result<Vec<String>, Error> {
        self.delivery.try_again();
        self.deliver(database)?;
        let mut notes = Vec::new();
        if let Some((count, reason)) = self.delivery.take_refused() {
            notes.push(format!("{} not delivered: {reason}", human::number_of(count, "signal")));
        }
        if let Some(reason) = self.delivery.away() {
            let bytes = human::number_of(self.committed - self.begin, "byte");
            notes.push(format!(
                "the collector is away ({reason}): {bytes} wait for the next ingest with this --sink"
            ));
        }
        Ok(notes)
    }
}

/// What a signal is known by: the ids of a span, which may grow; other signals are known by all of them.
fn identity(line: &[u8]) -> Digest {
    const SPAN: &[u8] = br#""spans":[{"traceId":""#;
    const IDS: usize = 32 + r#"","spanId":""#.len() + 16;
    let begin = line.windows(SPAN.len()).position(|part| part == SPAN);
    let ids = begin.and_then(|begin| line.get(begin + SPAN.len()..)?.get(..IDS));
    Digest::of(ids.unwrap_or(line))
}

fn unreadable(database: &Database) -> impl Fn(serde_json::Error) -> SqliteError {
    let path = database.path().to_owned();
    move |error| SqliteError::Damaged { path: path.clone(), message: error.to_string() }
}
