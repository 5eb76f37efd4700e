//! [`Feed`]: converts events and checkpoints into segments of rows, and of records for an audit trail.
//!
//! Events and checkpoints are in separate topics, and arrive in any order. The events of a source are kept until their
//! checkpoint has arrived, and the other way round. Events are numbered: those that are stored already are dropped,
//! and missing ones are detected.

use std::collections::{BTreeMap, HashMap};

use foldline::ledger::{Checkpoint, SourceName};
use foldline_domain::{DomainEvent, Located, SessionId};
use rdkafka::Message;

use super::gathering::{GatheredEvent, Gathering, Segment, Unusable};
use crate::{
    messages::{Reached, Received, SOURCE},
    piece::text,
};

/// The result of processing a message.
pub(super) enum FeedResult {
    /// Nothing can be stored yet.
    Nothing,
    /// It completes a segment.
    Segment(Box<Segment>),
    /// A message of a worker that cannot be used, and why.
    Unreadable(SourceName, String),
}

/// Collects the events of each source up to its next checkpoint.
pub(super) struct Feed {
    sources: HashMap<SourceName, Gathering>,
    is_audited: bool,
    /// The approximate size of the events that wait for their checkpoint, in bytes.
    size: usize,
    /// The number of checkpoints that wait for their events.
    waiting: usize,
}

/// The first offsets of messages that are not stored, by partition.
#[derive(Default)]
pub(super) struct Unsettled {
    pub(super) events: BTreeMap<i32, i64>,
    pub(super) checkpoints: BTreeMap<i32, i64>,
}

impl Feed {
    /// `is_audited` states whether there is an audit trail.
    pub(super) fn new(is_audited: bool) -> Self {
        Self { sources: HashMap::new(), is_audited, size: 0, waiting: 0 }
    }

    /// The source of a message of a worker.
    pub(super) fn source(message: &impl Message) -> Option<SourceName> {
        text(message.headers()?, SOURCE).map(SourceName::from)
    }

    /// Whether a source has messages since its last segment, or a segment that is not committed.
    pub(super) fn knows(&self, source: &SourceName) -> bool {
        self.sources.contains_key(source)
    }

    /// Begins a source, of which this is stored.
    pub(super) fn begin(
        &mut self,
        source: &SourceName,
        partition: i32,
        stored: Option<Checkpoint>,
    ) {
        self.sources.insert(source.clone(), Gathering::new(partition, stored));
    }

    /// The approximate size of the events that wait for their checkpoint, in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The number of checkpoints that wait for their events.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The sources of which something is not stored, with their partitions, and the reason if nothing follows.
    pub(super) fn incomplete(&self) -> Vec<(SourceName, i32, String)> {
        let incomplete = |(source, gathering): (&SourceName, &Gathering)| {
            Some((source.clone(), gathering.partition, gathering.lacks()?))
        };
        self.sources.iter().filter_map(incomplete).collect()
    }

    /// The first offsets of messages that are not in a segment.
    pub(super) fn unsettled(&self) -> Unsettled {
        let mut unsettled = Unsettled::default();
        for gathering in self.sources.values() {
            let first = |all: &mut BTreeMap<i32, i64>, offset: Option<i64>| {
                let Some(offset) = offset else { return };
                let first = all.entry(gathering.partition).or_insert(offset);
                *first = offset.min(*first);
            };
            first(&mut unsettled.events, gathering.first_event());
            first(&mut unsettled.checkpoints, gathering.first_checkpoint());
        }
        unsettled
    }

    /// Records that the segments were committed.
    pub(super) fn committed(&mut self) {
        self.sources.retain(|_, gathering| !gathering.is_empty());
    }

    /// Drops what is gathered of a source.
    pub(super) fn drop_source(&mut self, source: &SourceName) {
        if let Some(gathering) = self.sources.remove(source) {
            self.size -= gathering.size();
            self.waiting -= gathering.waiting();
        }
    }

    /// The next event of a source that [is known](Self::knows) may have any number: the one before it is skipped.
    pub(super) fn skip(&mut self, source: &SourceName) {
        if let Some(gathering) = self.sources.get_mut(source) {
            gathering.skip();
        }
    }

    /// Processes an event of a source that [is known](Self::knows).
    pub(super) fn event(&mut self, source: SourceName, message: &impl Message) -> FeedResult {
        self.change(source, message, "event", |gathering| {
            let value = message.payload().unwrap_or_default();
            let received = Received::read(value)?;
            let offset = message.offset();
            let is_new = gathering.expect(received.sequence, offset)?;
            let joined = is_new.then(|| gathering.join::<DomainEvent>(value, &received));
            if let Some(event) = joined.transpose()?.flatten() {
                let Received { sequence, position, session_number, .. } = received;
                let event = Located::new(position, event).in_session(session_number);
                let session = received.session.map(|session| SessionId::from(&*session));
                let size = value.len();
                gathering.push(GatheredEvent { offset, sequence, event, session, size });
            }
            Ok(())
        })
    }

    /// Processes a checkpoint of a source that [is known](Self::knows).
    pub(super) fn checkpoint(&mut self, source: SourceName, message: &impl Message) -> FeedResult {
        // The checkpoint of an expired source is removed.
        let Some(value) = message.payload() else { return FeedResult::Nothing };
        self.change(source, message, "checkpoint", |gathering| {
            gathering.reach(message.offset(), Reached::read(value)?);
            Ok(())
        })
    }

    fn change(
        &mut self,
        source: SourceName,
        message: &impl Message,
        what: &str,
        add: impl FnOnce(&mut Gathering) -> Result<(), Unusable>,
    ) -> FeedResult {
        let Some(gathering) = self.sources.get_mut(&source) else { return FeedResult::Nothing };
        let before = (gathering.size(), gathering.waiting());
        let added = add(gathering);
        let segment = added.map(|()| gathering.segment(&source, self.is_audited));
        self.size = self.size + gathering.size() - before.0;
        self.waiting = self.waiting + gathering.waiting() - before.1;
        match segment {
            Ok(None) => FeedResult::Nothing,
            Ok(Some(segment)) => FeedResult::Segment(Box::new(segment)),
            Err(error) => {
                self.drop_source(&source);
                let (partition, offset) = (message.partition(), message.offset());
                let place = format!("the {what} at offset {offset} of partition {partition}");
                FeedResult::Unreadable(source, format!("{place}: {error}"))
            }
        }
    }
}
