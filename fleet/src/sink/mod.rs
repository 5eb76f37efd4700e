//! `foldline-fleet sink`: stores the events of a fleet in a database, and optionally in an audit trail.
//!
//! The offsets up to which events are stored are committed in the transaction of their rows, not to the brokers. Each
//! event is therefore stored exactly once, even if the sink is killed. The same holds for the records of the trail,
//! which are part of that transaction. A database has one sink, which reads all partitions.

mod args;
mod destination;
mod feed;
mod marks;
mod offsets;
mod quarantine;

use std::{
    collections::{BTreeSet, HashMap},
    convert::Infallible,
    mem,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use foldline::{
    emitters::database::{Rows, query::Totals},
    ledger::{Commit, CommitError, Receipt, SourceName},
};
use foldline_cli::shared::{DatabasePlace, DistinctFiles, Records, stop_flag};
use rdkafka::{
    ClientConfig, Message,
    consumer::BaseConsumer,
    error::{
        KafkaError,
        RDKafkaErrorCode::{AutoOffsetReset, GroupAuthorizationFailed},
    },
};

pub(crate) use self::{
    args::SinkArgs,
    destination::{Destination, marks},
    marks::{name, name_of_deleted},
    quarantine::{Held, held},
};
use self::{
    feed::{Fed, Feed, Segment},
    offsets::Offsets,
    quarantine::Quarantine,
};
use crate::{
    error::Error,
    exit,
    exporter::{Exporter, Family},
    say::say,
    settings::Role,
    sound::await_sound,
};

/// Timeout of a poll for messages.
const POLL: Duration = Duration::from_millis(50);

/// The maximum time between commits.
const INTERVAL: Duration = Duration::from_millis(250);

/// The time without events after which the offsets are moved to the ends of the partitions.
const QUIET: Duration = Duration::from_secs(5);

/// The maximum size of uncommitted rows, in bytes.
const SIZE: usize = 8 << 20;

pub(crate) fn run(args: &SinkArgs) -> Result<u8, Error> {
    let place = args.database.place()?;
    let mut files = DistinctFiles::default();
    if let DatabasePlace::File(path) = &place {
        files.database(path)?;
    }
    if let Some(audit) = &args.audit {
        files.output("--audit", audit)?;
    }
    if let Some(key) = &args.sign {
        files.input("the key", key)?;
    }
    let stop = stop_flag()?;
    let (client, topics) = (args.cluster.client()?, args.cluster.topics());
    if !await_sound(&client, &topics, &[Role::Events], &stop, args.limit())? {
        return Ok(exit::FINE);
    }
    let wait = Duration::from_secs(args.wait.into());
    let trail = args.audit.as_deref().map(|audit| (audit, args.sign.as_deref()));
    let database = Destination::open(&place, trail, wait)?;
    let only = args.partitions();
    let (consumer, mut sink) =
        Sink::open(&client, &topics.events, only.as_ref(), args.audit.is_some(), database)?;
    sink.exporter = args.metrics.map(Exporter::start).transpose()?;
    sink.run(&consumer, &stop, args.limit())?;
    let is_incomplete = sink.gaps > 0 || sink.offsets.deleted() > 0;
    let Totals { sessions: all_sessions, entries: all_entries, .. } = sink.database.totals()?;
    let name = sink.database.name();
    let Receipt { sessions, entries, .. } = sink.receipt;
    sink.database.close()?;
    say(&format!(
        "{entries} entries and {sessions} sessions were added to {name}, which has {all_entries} entries of {all_sessions} sessions"
    ));
    Ok(if is_incomplete { exit::FAILED } else { exit::FINE })
}

/// Stores events in a database.
struct Sink {
    feed: Feed,
    offsets: Offsets,
    quarantine: Quarantine,
    database: Destination,
    pending: Vec<Commit<Rows>>,
    /// The partitions of their sources.
    partitions: HashMap<SourceName, i32>,
    /// The audit records of these commits.
    records: Vec<(SourceName, Records)>,
    pending_size: usize,
    since: Option<Instant>,
    /// When the last event arrived, or the offsets were last moved to the ends.
    quiet: Instant,
    /// When the brokers last sent anything.
    heard: Instant,
    receipt: Receipt,
    exporter: Option<Exporter>,
    commits: u64,
    committing: Duration,
    /// Number of segments that do not begin at the stored position of their source.
    gaps: u64,
    is_said: bool,
}

impl Sink {
    /// Begins to store events in a database; `only` those of some partitions.
    fn open(
        client: &ClientConfig,
        topic: &str,
        only: Option<&BTreeSet<i32>>,
        is_audited: bool,
        mut database: Destination,
    ) -> Result<(BaseConsumer, Self), Error> {
        let quarantine = Quarantine::read(&mut database, topic)?;
        let (consumer, offsets) = Offsets::assign(client, topic, only, &quarantine, &mut database)?;
        let sink = Self {
            feed: Feed::new(is_audited),
            offsets,
            quarantine,
            database,
            pending: Vec::new(),
            partitions: HashMap::new(),
            records: Vec::new(),
            pending_size: 0,
            since: None,
            quiet: Instant::now(),
            heard: Instant::now(),
            receipt: Receipt::default(),
            exporter: None,
            commits: 0,
            committing: Duration::ZERO,
            gaps: 0,
            is_said: false,
        };
        Ok((consumer, sink))
    }

    /// Stores events until it is stopped, or with a `limit` until all existing events are stored. It is
    /// an error if nothing arrives for that time.
    fn run(
        &mut self,
        consumer: &BaseConsumer,
        stop: &AtomicBool,
        limit: Option<Duration>,
    ) -> Result<(), Error> {
        // What was deleted is recorded, even if the sink is killed before the next event.
        self.commit(stop, limit)?;
        while !stop.load(Ordering::Relaxed) {
            self.step(consumer)?;
            if self.is_due() {
                self.commit(stop, limit)?;
                self.publish();
            }
            let Some(timeout) = limit else { continue };
            if self.offsets.is_at_end() {
                break;
            }
            if self.heard.elapsed() >= timeout {
                self.commit(stop, limit)?;
                return Err(Error::Silent(timeout));
            }
        }
        self.commit(stop, limit)
    }

    fn step(&mut self, consumer: &BaseConsumer) -> Result<(), Error> {
        let polled = consumer.poll(POLL);
        if matches!(polled, Some(Ok(_) | Err(KafkaError::PartitionEOF(_)))) {
            self.heard = Instant::now();
        }
        match polled {
            None if self.since.is_none() && self.quiet.elapsed() >= QUIET => {
                self.quiet = Instant::now();
                self.offsets.settle(consumer);
            }
            None => {}
            Some(Ok(message)) => {
                self.quiet = Instant::now();
                self.is_said = false;
                self.since.get_or_insert_with(Instant::now);
                self.take(&message);
            }
            Some(Err(KafkaError::PartitionEOF(partition))) => {
                self.quarantine.caught_up(partition);
                let moved = self.offsets.at_end(partition).then(Instant::now);
                self.since = self.since.or(moved);
            }
            Some(Err(KafkaError::MessageConsumption(AutoOffsetReset))) => {
                return Err(Error::DeletedMeanwhile);
            }
            // The group has a name only because the client requires one: no right to join it is needed.
            Some(Err(KafkaError::MessageConsumption(GroupAuthorizationFailed))) => {}
            Some(Err(error @ KafkaError::MessageConsumptionFatal(_))) => {
                return Err(Error::Cluster { doing: "read events".to_owned(), error });
            }
            Some(Err(error)) if !mem::replace(&mut self.is_said, true) => {
                say(&format!("{error}; waiting for the brokers"));
            }
            Some(Err(_)) => {}
        }
        Ok(())
    }

    /// Adds a message to the data to be committed.
    fn take(&mut self, message: &impl Message) {
        let (partition, offset) = (message.partition(), message.offset());
        let begun = self.offsets.begun(partition);
        if offset >= begun {
            self.quarantine.caught_up(partition);
        }
        let fed = match Feed::source(message) {
            None => Fed::Foreign,
            Some(source) if self.quarantine.admits(&source, offset, begun) => {
                self.feed.take(source, message)
            }
            Some(_) => Fed::Refused,
        };
        match fed {
            Fed::Gathered => return,
            Fed::Foreign if offset < begun => {}
            Fed::Foreign => {
                say(&format!("partition {partition}, offset {offset}: not an event; skipped"));
            }
            Fed::Refused => self.gaps += u64::from(offset >= begun),
            Fed::Unreadable(source, reason) => {
                let place = (self.offsets.next(partition), Some(offset));
                self.refuse(&source, partition, place, &reason);
            }
            Fed::Segment(segment) => {
                let Segment { commit, records } = *segment;
                if !self.quarantine.is_stored(&commit) {
                    self.pending_size += commit.output.size();
                    let records = records.map(|records| (commit.source.clone(), records));
                    self.records.extend(records);
                    self.partitions.insert(commit.source.clone(), partition);
                    self.pending.push(commit);
                }
            }
        }
        // A foreign message may be within a segment, which is read again from its beginning.
        if self.feed.is_between_segments(partition) {
            self.offsets.reached(partition, offset + 1);
        }
    }

    /// Holds the events of a source back. Other sources are stored nevertheless.
    fn refuse(
        &mut self,
        source: &SourceName,
        partition: i32,
        place: (i64, Option<i64>),
        reason: &str,
    ) {
        self.gaps += 1;
        say(&format!(
            "{source}: {reason}; later events of this source are not stored until it is released"
        ));
        self.quarantine.refuse(source, partition, place, reason);
    }

    fn publish(&self) {
        let Some(exporter) = &self.exporter else { return };
        let next = |name, help, value: u64| Family::one(name, help, value as f64);
        exporter.publish(&[
            Family::by_partition(
                "foldline_sink_next_offset",
                "Offset of the next event to be stored",
                self.offsets.stored(),
            ),
            next("foldline_sink_entries_total", "Stored entries", self.receipt.entries),
            next("foldline_sink_commits_total", "Transactions", self.commits),
            Family::one(
                "foldline_sink_commit_seconds_total",
                "Total duration of the transactions",
                self.committing.as_secs_f64(),
            ),
            next(
                "foldline_sink_gaps_total",
                "Segments that do not begin at the stored position",
                self.gaps,
            ),
            next(
                "foldline_sink_deleted_total",
                "Offsets of events that were deleted before they were stored",
                self.offsets.deleted(),
            ),
        ]);
    }

    fn is_due(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= INTERVAL) || self.pending_size >= SIZE
    }

    /// Commits rows, records and the offsets after their events.
    fn commit(&mut self, stop: &AtomicBool, limit: Option<Duration>) -> Result<(), Error> {
        let begun = Instant::now();
        self.since = None;
        self.pending_size = 0;
        let mut commits = mem::take(&mut self.pending);
        let mut records = mem::take(&mut self.records);
        loop {
            let marks = [self.offsets.marks()?, self.quarantine.marks()?].concat();
            if commits.is_empty() && marks.is_empty() {
                return Ok(());
            }
            // Before the segments: another sink may have stored some of them.
            let begun_after = self.offsets.begin(&mut self.database).map_err(CommitError::Failed);
            let committed =
                begun_after.and_then(|()| self.database.commit(&commits, &records, &marks));
            match committed {
                Ok(receipt) => {
                    self.committed(receipt, begun);
                    return Ok(());
                }
                Err(CommitError::Moved { source_name, expected, stored }) => {
                    let moved: CommitError<Infallible> =
                        CommitError::Moved { source_name: source_name.clone(), expected, stored };
                    let reason = format!(
                        "{moved}: events are missing, which may have been deleted before this sink read them"
                    );
                    let partition = self.partitions.get(&source_name).copied().unwrap_or_default();
                    let from = self.offsets.committed_to(partition);
                    self.refuse(&source_name, partition, (from, None), &reason);
                    self.feed.drop_segment(&source_name);
                    commits.retain(|commit| commit.source != source_name);
                    records.retain(|(source, _)| *source != source_name);
                }
                Err(CommitError::Failed(Error::Server(error))) if error.is_transient() => {
                    self.database.reach_again(&error, stop, limit)?;
                    if self.offsets.are_stored(&mut self.database)? {
                        self.committed(Receipt::default(), begun);
                        return Ok(());
                    }
                }
                Err(CommitError::Failed(error)) => return Err(error),
            }
        }
    }

    fn committed(&mut self, receipt: Receipt, begun: Instant) {
        self.receipt.add(receipt);
        self.offsets.committed();
        self.quarantine.committed();
        self.partitions.clear();
        self.commits += 1;
        self.committing += begun.elapsed();
    }
}
