//! [`Feed`]: converts messages of the events topic into segments of rows, and of records for an audit trail.

use std::collections::{BTreeMap, HashMap};

use foldline::{
    conversation::{DomainEvent, Json, Located, SessionId, SessionKey},
    emitters::{
        audit::{EventRecord, EventRecords},
        sqlite::{RowEmitter, Rows},
    },
    ledger::{Checkpoint, Commit, SourceFacts, SourceName},
    transduce::{Emitter, Gather, Resume},
};
use foldline_cli::shared::Records;
use rdkafka::Message;

use crate::{
    error::Error,
    piece::text,
    record::{CHECKPOINT, EVENT, Joiner, KIND, PART, Reached, SOURCE},
};

/// The result of processing a message.
pub(super) enum Fed {
    /// A part of an incomplete segment.
    Gathered,
    /// It completes a segment.
    Segment(Box<Segment>),
    /// Not a message of a worker.
    Foreign,
}

/// The changes of a source between two checkpoints.
pub(super) struct Segment {
    pub(super) commit: Commit<Rows>,
    /// Records for the audit trail, if there is one.
    pub(super) records: Option<Records>,
}

/// Collects the events of each source up to its next checkpoint.
pub(super) struct Feed {
    sources: HashMap<SourceName, Gathering>,
    is_audited: bool,
}

#[derive(Default)]
struct Gathering {
    rows: RowEmitter,
    parts: Joiner,
    /// The names of its sessions, which are the keys of their events.
    names: BTreeMap<SessionKey, SessionId>,
    maker: EventRecords,
    records: Vec<EventRecord>,
}

impl Gathering {
    /// Records the name of a session: the event that named it may belong to an earlier segment.
    fn name(&mut self, session: SessionKey, name: Option<SessionId>) {
        if let Some(name) = name
            && self.names.get(&session) != Some(&name)
        {
            self.names.insert(session, name);
            self.maker.resume(self.names.clone());
        }
    }
}

impl Feed {
    /// `is_audited` states whether there is an audit trail.
    pub(super) fn new(is_audited: bool) -> Self {
        Self { sources: HashMap::new(), is_audited }
    }

    pub(super) fn take(&mut self, message: &impl Message) -> Result<Fed, Error> {
        let Some(headers) = message.headers() else { return Ok(Fed::Foreign) };
        let (source, kind) = (text(headers, SOURCE), text(headers, KIND));
        let Some(source) = source.map(SourceName::from) else { return Ok(Fed::Foreign) };
        let gathering = self.sources.entry(source.clone()).or_default();
        let value = message.payload().unwrap_or_default();
        let Some(value) = gathering.parts.push(value, text(headers, PART)) else {
            return Ok(Fed::Gathered);
        };
        let unreadable = |error: serde_json::Error| {
            let (partition, offset) = (message.partition(), message.offset());
            let reason = format!("its event at offset {offset} of partition {partition}: {error}");
            Error::State { source_name: source.clone(), reason }
        };
        match kind {
            Some(EVENT) => {
                let event: Located<DomainEvent> =
                    serde_json::from_slice(&value).map_err(unreadable)?;
                drop(gathering.rows.emit(&event));
                if self.is_audited {
                    gathering.name(event.session, session(message, &source));
                    gathering.records.push(gathering.maker.record(&event));
                }
                Ok(Fed::Gathered)
            }
            Some(CHECKPOINT) => {
                let reached: Reached = serde_json::from_slice(&value).map_err(unreadable)?;
                let mut gathered = self.sources.remove(&source).unwrap_or_default();
                let commit = commit(source, reached, gathered.rows.cut());
                let SourceFacts { path, task, .. } = &commit.checkpoint.facts;
                let records = self.is_audited.then(|| Records {
                    log: path.clone(),
                    task: task.clone(),
                    events: gathered.records,
                });
                Ok(Fed::Segment(Box::new(Segment { commit, records })))
            }
            _ => Ok(Fed::Foreign),
        }
    }
}

/// The session of an event: its key, unless the event has no session.
fn session(message: &impl Message, source: &SourceName) -> Option<SessionId> {
    let key = std::str::from_utf8(message.key()?).ok()?;
    (key != source.as_str()).then(|| key.into())
}

fn commit(source: SourceName, reached: Reached, output: Rows) -> Commit<Rows> {
    let Reached { mut facts, host, from, position, complete, events: _ } = reached;
    // Files of several machines may have the same path; a path of another machine must not be looked up locally.
    facts.path = format!("{host}:{}", facts.path);
    // The workers keep the state of the reducer.
    let state = Json::default();
    Commit {
        source,
        expected: from,
        checkpoint: Checkpoint { facts, position, state, complete },
        output,
    }
}
