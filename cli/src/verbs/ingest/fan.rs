//! The emitters of ingest, and what is committed of their output.

use foldline::processor::Collect;
use foldline_database::{RowChanges, RowEmitter};
use foldline_domain::{
    audit::{EventRecord, EventRecords},
    metrics::Metrics,
};

use crate::sink::{Gathered, Sinks};

/// The emitters of ingest. The metrics have no output: they are a memory, and so part of the stored state.
pub(crate) type Fan = (Metrics, RowEmitter, Option<EventRecords>, Sinks);

/// What is committed of their output.
pub(crate) type Collected = ((), RowChanges, KeptRecords, Gathered);

/// The emitters, with the records of an audit trail or without.
pub(super) fn fan_of(records: Option<EventRecords>, sinks: Sinks) -> Fan {
    (Metrics::default(), RowEmitter, records, sinks)
}

/// The records of the audit trail.
#[derive(Default)]
pub(crate) struct KeptRecords {
    pub(super) events: Vec<EventRecord>,
    size: usize,
}

impl Collect for KeptRecords {
    type Item = EventRecord;

    fn add(&mut self, event: EventRecord) {
        self.size += event.size();
        self.events.push(event);
    }

    fn size(&self) -> usize {
        self.size
    }
}
