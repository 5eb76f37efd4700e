//! [`Gathering`]: the events and checkpoints of one source that are not stored yet.

use std::collections::{BTreeMap, VecDeque};

use foldline::{
    ledger::{Checkpoint, Commit, Identity, SourceFacts, SourceName},
    transduce::Resume,
};
use foldline_cli::shared::TrailRecords;
use foldline_database::Rows;
use foldline_domain::{
    DomainEvent, Json, Located, Position, SessionId, SessionKey, audit::EventRecords,
};
use serde::de::DeserializeOwned;

use crate::messages::{Extent, Joiner, Reached, Received, UnreadableMessage};

/// The approximate size of events after which they are stored before their checkpoint arrives, in bytes. Only the
/// latest checkpoint of a source may be left, and a log may be longer than the memory.
const SIZE: usize = 8 << 20;

/// The changes of a source that are stored together.
pub(super) struct Segment {
    pub(super) commit: Commit<Rows>,
    /// Records for the audit trail, if there is one.
    pub(super) records: Option<TrailRecords>,
}

/// An event that is not stored yet.
pub(super) struct GatheredEvent {
    pub(super) offset: i64,
    pub(super) sequence: u64,
    pub(super) event: Located<DomainEvent>,
    /// The session, once the log has stated its name.
    pub(super) session: Option<SessionId>,
    /// The length of its message.
    pub(super) size: usize,
}

/// The messages of a source since its last segment.
pub(super) struct Gathering {
    pub(super) partition: i32,
    /// The end of the last segment.
    stored: Extent,
    position: Option<Position>,
    events: VecDeque<GatheredEvent>,
    size: usize,
    /// Checkpoints, with their offsets, whose events have not all arrived.
    checkpoints: VecDeque<(i64, Reached)>,
    parts: Joiner,
    /// The offset of the first part of an incomplete event.
    begun: Option<i64>,
    /// The number of the last event.
    last: u64,
    is_skipping: bool,
}

impl Gathering {
    /// A source of which this is stored.
    pub(super) fn new(partition: i32, stored: Option<Checkpoint>) -> Self {
        let position = stored.as_ref().map(|stored| stored.position);
        let stored = stored.and_then(|stored| serde_json::from_str(stored.state.get()).ok());
        let stored: Extent = stored.unwrap_or_default();
        Self {
            partition,
            stored,
            position,
            events: VecDeque::new(),
            size: 0,
            checkpoints: VecDeque::new(),
            parts: Joiner::default(),
            begun: None,
            last: stored.events,
            is_skipping: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first_event().is_none() && self.checkpoints.is_empty()
    }

    /// The approximate size of the events in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The number of checkpoints.
    pub(super) fn waiting(&self) -> usize {
        self.checkpoints.len()
    }

    /// The offset of the first event that is not in a segment.
    pub(super) fn first_event(&self) -> Option<i64> {
        self.events.front().map(|event| event.offset).or(self.begun)
    }

    /// The offset of the first checkpoint that is not in a segment.
    pub(super) fn first_checkpoint(&self) -> Option<i64> {
        self.checkpoints.front().map(|(offset, _)| *offset)
    }

    /// What is missing, if nothing more arrives.
    pub(super) fn lacks(&self) -> Option<String> {
        match self.checkpoints.back() {
            Some((_, reached)) => {
                let (first, last) = (self.last + 1, reached.events);
                Some(format!(
                    "the events {first} to {last} are missing, which may have been deleted before this sink read them"
                ))
            }
            None if !self.is_empty() => {
                Some("the checkpoint after its last events is missing".to_owned())
            }
            None => None,
        }
    }

    /// The next event may have any number.
    pub(super) fn skip(&mut self) {
        self.is_skipping = true;
    }

    /// Whether an event of this number is new; `false` if it is known.
    pub(super) fn expect(&mut self, sequence: u64, offset: i64) -> Result<bool, Unusable> {
        if sequence <= self.last {
            return Ok(false);
        }
        let first = self.last + 1;
        if sequence > first && !self.is_skipping {
            return Err(Unusable::Missing { first, last: sequence - 1 });
        }
        self.is_skipping = false;
        self.last = sequence - 1;
        self.begun.get_or_insert(offset);
        Ok(true)
    }

    /// Adds a value, which may be a part of an event.
    pub(super) fn join<T: DeserializeOwned>(
        &mut self,
        value: &[u8],
        received: &Received<'_>,
    ) -> Result<Option<T>, UnreadableMessage> {
        self.parts.push(value, received)
    }

    /// Adds an event.
    pub(super) fn push(&mut self, event: GatheredEvent) {
        let offset = self.begun.take().unwrap_or(event.offset);
        self.last = event.sequence;
        self.size += event.size;
        self.events.push_back(GatheredEvent { offset, ..event });
    }

    /// Adds a checkpoint, unless it is known.
    pub(super) fn reach(&mut self, offset: i64, reached: Reached) {
        let known = self.checkpoints.back().map_or(self.stored, |(_, last)| last.extent());
        if reached.extent() > known || self.position.is_none() && self.checkpoints.is_empty() {
            self.checkpoints.push_back((offset, reached));
        }
    }

    /// The segment up to the last checkpoint whose events are there, or up to the last event if there are many.
    pub(super) fn segment(&mut self, source: &SourceName, is_audited: bool) -> Option<Segment> {
        let is_covered = |(_, reached): &(i64, Reached)| reached.events <= self.last;
        let is_long = self.size >= SIZE;
        let (reached, extent) = match self.checkpoints.iter().rposition(is_covered) {
            Some(index) => {
                let (_, reached) = self.checkpoints.drain(..=index).next_back()?;
                let extent = reached.extent();
                (reached, extent)
            }
            None if is_long => {
                let (_, later) = self.checkpoints.front()?;
                let position = self.events.back()?.event.position;
                let extent = Extent { events: self.last, ..self.stored };
                (Reached { position, complete: false, ..later.clone() }, extent)
            }
            None => return None,
        };
        let count = self.events.partition_point(|event| event.sequence <= extent.events);
        let events: Vec<_> = self.events.drain(..count).collect();
        self.size -= events.iter().map(|event| event.size).sum::<usize>();
        let records = is_audited.then(|| records(&reached, &events));
        let output: Rows = events.iter().map(|event| &event.event).collect();
        let expected = self.position.replace(reached.position);
        self.stored = extent;
        let checkpoint = checkpoint(reached, extent);
        let commit = Commit { source: source.clone(), expected, checkpoint, output };
        Some(Segment { commit, records })
    }
}

/// The records of events in the audit trail.
fn records(reached: &Reached, events: &[GatheredEvent]) -> TrailRecords {
    let (mut maker, mut names) =
        (EventRecords::default(), BTreeMap::<SessionKey, SessionId>::new());
    let record = |GatheredEvent { event, session, .. }: &GatheredEvent| {
        // The event that named a session may belong to an earlier segment.
        if let Some(name) = session
            && names.get(&event.session) != Some(name)
        {
            names.insert(event.session, name.clone());
            maker.resume(names.clone());
        }
        maker.record(event)
    };
    let events = events.iter().map(record).collect();
    let task = reached.task.as_ref().map(ToString::to_string);
    TrailRecords { log: path(reached), task, events, is_rewritten: false }
}

/// Files of several machines may have the same path; a path of another machine must not be looked up locally.
fn path(reached: &Reached) -> String {
    format!("{}:{}", reached.host, reached.path)
}

/// What the database stores of a source: the workers keep the state of its reducer.
fn checkpoint(reached: Reached, extent: Extent) -> Checkpoint {
    let mut identity = Identity::default();
    // Only the length of a file on another machine is known.
    let length = reached.position.offset;
    (identity.size, identity.read.length) = (length, length);
    let path = path(&reached);
    let Reached { host, user, format, task, position, complete, .. } = reached;
    let task = task.map(|task| task.to_string());
    let host = Some(host).filter(|host| !host.is_empty());
    let facts = SourceFacts { path, format, task, host, user, identity };
    let state = Json::of(&extent).unwrap_or_default();
    Checkpoint { facts, position, state, complete }
}

/// The reason why a message cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    #[error(transparent)]
    Message(#[from] UnreadableMessage),

    #[error(
        "the events {first} to {last} before it are missing, which may have been deleted before this sink read them"
    )]
    Missing { first: u64, last: u64 },
}
