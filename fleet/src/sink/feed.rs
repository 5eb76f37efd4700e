//! [`Feed`]: messages of the topic of events, as segments of rows, and of records for an audit trail.

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

/// What became of a message.
pub(super) enum Fed {
    /// It is a part of a segment that is not complete.
    Gathered,
    /// It completes a segment.
    Segment(Box<Segment>),
    /// It is no message of a worker.
    Foreign,
}

/// What a source has become since it last said how far it has come.
pub(super) struct Segment {
    pub(super) commit: Commit<Rows>,
    /// For the audit trail, if there is one.
    pub(super) records: Option<Records>,
}

/// Gathers the events of each source until it says how far it has come.
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
    /// Takes note of what a session is called: the event that said so may be of an earlier segment.
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
    /// `is_audited` says whether there is an audit trail.
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

/// The session that an event belongs to: its key, unless there is none.
fn session(message: &impl Message, source: &SourceName) -> Option<SessionId> {
    let key = std::str::from_utf8(message.key()?).ok()?;
    (key != source.as_str()).then(|| key.into())
}

fn commit(source: SourceName, reached: Reached, output: Rows) -> Commit<Rows> {
    let Reached { mut facts, host, from, position, complete, events: _ } = reached;
    // Files of several machines may have one path; that of another machine is not looked for on this one.
    facts.path = format!("{host}:{}", facts.path);
    // The reducer's state is the workers'.
    let state = Json::default();
    Commit {
        source,
        expected: from,
        checkpoint: Checkpoint { facts, position, state, complete },
        output,
    }
}
