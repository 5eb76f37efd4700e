//! [`Feed`]: converts messages of the events topic into segments of rows, and of records for an audit trail.

use std::collections::{BTreeMap, HashMap};

use foldline::{
    conversation::{DomainEvent, Json, Located, SessionId, SessionKey},
    emitters::{
        audit::{EventRecord, EventRecords},
        database::{RowEmitter, Rows},
    },
    ledger::{Checkpoint, Commit, SourceFacts, SourceName},
    transduce::{Emitter, Gather, Resume},
};
use foldline_cli::shared::Records;
use rdkafka::Message;

use crate::{
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
    /// An event that is not stored, because its source is held back.
    Refused,
    /// A message of a worker that cannot be read, and why.
    Unreadable(SourceName, String),
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
    partition: i32,
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

    /// The source of a message, if it is an event or a checkpoint of a worker.
    pub(super) fn source(message: &impl Message) -> Option<SourceName> {
        let headers = message.headers()?;
        let is_known = matches!(text(headers, KIND)?, EVENT | CHECKPOINT);
        is_known.then(|| text(headers, SOURCE).map(SourceName::from)).flatten()
    }

    /// Whether no segment of a partition is incomplete: then all its messages up to here were processed.
    pub(super) fn is_between_segments(&self, partition: i32) -> bool {
        self.sources.values().all(|gathering| gathering.partition != partition)
    }

    /// Drops the events of a source since its last checkpoint.
    pub(super) fn drop_segment(&mut self, source: &SourceName) {
        self.sources.remove(source);
    }

    /// Processes a message of a [source](Self::source).
    pub(super) fn take(&mut self, source: SourceName, message: &impl Message) -> Fed {
        self.try_take(&source, message).unwrap_or_else(|error| {
            self.drop_segment(&source);
            let (partition, offset) = (message.partition(), message.offset());
            let reason = format!("the event at offset {offset} of partition {partition}: {error}");
            Fed::Unreadable(source, reason)
        })
    }

    fn try_take(
        &mut self,
        source: &SourceName,
        message: &impl Message,
    ) -> Result<Fed, serde_json::Error> {
        let Some(headers) = message.headers() else { return Ok(Fed::Foreign) };
        let gathering = self.sources.entry(source.clone()).or_default();
        gathering.partition = message.partition();
        let value = message.payload().unwrap_or_default();
        let Some(value) = gathering.parts.push(value, text(headers, PART)) else {
            return Ok(Fed::Gathered);
        };
        match text(headers, KIND) {
            Some(EVENT) => {
                let event: Located<DomainEvent> = serde_json::from_slice(&value)?;
                drop(gathering.rows.emit(&event));
                if self.is_audited {
                    gathering.name(event.session, session(message, source));
                    gathering.records.push(gathering.maker.record(&event));
                }
                Ok(Fed::Gathered)
            }
            Some(CHECKPOINT) => {
                let reached: Reached = serde_json::from_slice(&value)?;
                let mut gathered = self.sources.remove(source).unwrap_or_default();
                let commit = commit(source.clone(), reached, gathered.rows.cut());
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
