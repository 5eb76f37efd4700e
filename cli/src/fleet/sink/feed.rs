//! [`Feed`]: messages of the topic of events, as stretches of rows.

use std::collections::HashMap;

use foldline::{
    conversation::{DomainEvent, Json, Located},
    emitters::sqlite::{RowEmitter, Rows},
    ledger::{Checkpoint, Commit, SourceName},
    transduce::{Emitter, Gather},
};
use rdkafka::Message;

use crate::{
    error::Error,
    fleet::{
        piece::text,
        record::{CHECKPOINT, EVENT, Joiner, KIND, PART, Reached, SOURCE},
    },
};

/// What became of a message.
pub(super) enum Fed {
    /// It is a part of a stretch that is not complete.
    Gathered,
    /// It completes a stretch.
    Stretch(Box<Commit<Rows>>),
    /// It is no message of a worker.
    Foreign,
}

/// Gathers the events of each source until it says how far it has come.
#[derive(Default)]
pub(super) struct Feed {
    sources: HashMap<SourceName, Gathering>,
}

#[derive(Default)]
struct Gathering {
    rows: RowEmitter,
    parts: Joiner,
}

impl Feed {
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
                Ok(Fed::Gathered)
            }
            Some(CHECKPOINT) => {
                let reached: Reached = serde_json::from_slice(&value).map_err(unreadable)?;
                let output = gathering.rows.cut();
                self.sources.remove(&source);
                Ok(Fed::Stretch(Box::new(commit(source, reached, output))))
            }
            _ => Ok(Fed::Foreign),
        }
    }
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
