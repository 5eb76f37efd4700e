//! `foldline-fleet sink`: stores the events of a fleet in a database, and optionally in an audit trail.
//!
//! The offsets up to which events are stored are committed in the transaction of their rows, not to the brokers. Each
//! event is therefore stored exactly once, even if the sink is killed. The same holds for the records of the trail,
//! which are part of that transaction. A database has one sink, which reads all partitions.
//!
//! Events are stored up to a checkpoint of their source, which is in another topic. The offsets of both topics stay
//! before the first message that is not stored; known messages are recognised by the numbers of the events.

mod args;
mod destination;
mod feed;
mod gathering;
mod lag;
mod offsets;
mod quarantine;
mod reading;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    convert::Infallible,
    mem,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use foldline::ledger::{Commit, CommitError, Receipt, SourceName};
use foldline_cli::shared::{DatabasePlace, DistinctFiles, TrailRecords, stop_flag};
use foldline_database::{Rows, query::Totals};
use rdkafka::{ClientConfig, consumer::CommitMode};

use self::{
    destination::until_reached,
    feed::{Feed, Unsettled},
    lag::{Lag, Reader},
    offsets::Offsets,
    quarantine::Quarantine,
};
use crate::{
    connection::{await_sound, report_offsets},
    error::{Error, report},
    exporter::Exporter,
    settings::{Role, Topics},
};

pub(crate) use self::{
    args::SinkArgs,
    destination::{Destination, marks},
    quarantine::{HeldSource, held, name, name_of_deleted},
};

/// The maximum time between commits.
const INTERVAL: Duration = Duration::from_millis(250);

/// The time without messages after which the offsets are moved to the ends of the partitions.
const QUIET: Duration = Duration::from_secs(5);

/// The maximum size of uncommitted rows, in bytes.
const SIZE: usize = 8 << 20;

pub(crate) fn run(args: &SinkArgs) -> Result<ExitCode, Error> {
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
    let exporter = args.metrics.map(|address| Exporter::start(address, "sink")).transpose()?;
    if !await_sound(&client, &topics, &[Role::Events, Role::Checkpoints], &stop, args.limit())? {
        return Ok(ExitCode::SUCCESS);
    }
    let wait = Duration::from_secs(args.wait.into());
    let trail = args.audit.as_deref().map(|audit| (audit, args.sign.as_deref()));
    // It may be lost before the first transaction, or start after its sinks.
    let database = until_reached(&stop, args.limit(), || Destination::open(&place, trail, wait))?;
    let only = args.partitions();
    let group = topics.sink_group(args.name.as_deref());
    let (consumers, mut sink) =
        Sink::open(&client, (&topics, &group), only.as_ref(), args.audit.is_some(), database)?;
    sink.exporter = exporter;
    sink.run(&consumers, &stop, args.limit())?;
    let is_incomplete = sink.gaps > 0 || sink.deleted() > 0;
    let Totals { sessions: all_sessions, entries: all_entries, .. } = sink.database.totals()?;
    let name = sink.database.name();
    let Receipt { sessions, entries, .. } = sink.receipt;
    sink.database.close()?;
    report(&format!(
        "{entries} entries and {sessions} sessions were added to {name}, which has {all_entries} entries of {all_sessions} sessions"
    ));
    Ok(if is_incomplete { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Stores events in a database.
struct Sink {
    client: ClientConfig,
    feed: Feed,
    /// Of each [`Topic`].
    offsets: [Offsets; 2],
    quarantine: Quarantine,
    database: Destination,
    /// Known sources whose sessions were all forgotten.
    forgotten: HashSet<SourceName>,
    pending: Vec<Commit<Rows>>,
    /// The partitions of their sources.
    partitions: HashMap<SourceName, i32>,
    /// The audit records of these commits.
    records: Vec<(SourceName, TrailRecords)>,
    pending_size: usize,
    since: Option<Instant>,
    /// When the last event arrived, or the offsets were last moved to the ends.
    quiet: Instant,
    /// No transaction was open when no messages had arrived for a while.
    is_settled: bool,
    /// When the brokers last sent anything.
    heard: Instant,
    receipt: Receipt,
    exporter: Option<Exporter>,
    published: Option<Instant>,
    lag: Lag,
    commits: u64,
    committing: Duration,
    /// Number of segments that do not begin at the stored position of their source.
    gaps: u64,
    is_reported: bool,
}

impl Sink {
    /// Begins to store events in a database; `only` those of some partitions.
    fn open(
        client: &ClientConfig,
        (topics, group): (&Topics, &str),
        only: Option<&BTreeSet<i32>>,
        is_audited: bool,
        mut database: Destination,
    ) -> Result<([Reader; 2], Self), Error> {
        let quarantine = Quarantine::read(&mut database, &topics.events)?;
        let mut assign = |topic: Topic, name| {
            let released = |partition| quarantine.begin(topic, partition);
            Offsets::assign(client, (name, group), only, released, &mut database)
        };
        let (events, event_offsets) = assign(Topic::Events, &topics.events)?;
        let (checkpoints, checkpoint_offsets) = assign(Topic::Checkpoints, &topics.checkpoints)?;
        let sink = Self {
            client: client.clone(),
            feed: Feed::new(is_audited),
            offsets: [event_offsets, checkpoint_offsets],
            quarantine,
            database,
            forgotten: HashSet::new(),
            pending: Vec::new(),
            partitions: HashMap::new(),
            records: Vec::new(),
            pending_size: 0,
            since: None,
            quiet: Instant::now(),
            is_settled: false,
            heard: Instant::now(),
            receipt: Receipt::default(),
            exporter: None,
            published: None,
            lag: Lag::default(),
            commits: 0,
            committing: Duration::ZERO,
            gaps: 0,
            is_reported: false,
        };
        Ok(([events, checkpoints], sink))
    }

    /// Stores events until it is stopped, or with a `limit` until all existing events are stored. It is
    /// an error if nothing arrives for that time.
    fn run(
        &mut self,
        consumers: &[Reader; 2],
        stop: &AtomicBool,
        limit: Option<Duration>,
    ) -> Result<(), Error> {
        // What was deleted is recorded, even if the sink is killed before the next event.
        self.commit(stop, limit)?;
        self.report(consumers, CommitMode::Async);
        while !stop.load(Ordering::Relaxed) {
            self.step(consumers)?;
            if self.is_due() {
                self.commit(stop, limit)?;
                self.report(consumers, CommitMode::Async);
            }
            self.publish(&consumers[Topic::Events as usize]);
            let Some(timeout) = limit else { continue };
            let is_at_end = self.offsets.iter().all(Offsets::is_at_end);
            if is_at_end && self.feed.waiting() == 0 && self.feed.size() == 0 {
                break;
            }
            if self.heard.elapsed() >= timeout {
                self.commit(stop, limit)?;
                return Err(Error::Silent(timeout));
            }
        }
        self.commit(stop, limit)?;
        // Brokers that are unreachable are not waited for.
        if self.heard.elapsed() < QUIET {
            self.report(consumers, CommitMode::Sync);
        }
        Ok(())
    }

    fn report(&self, consumers: &[Reader; 2], mode: CommitMode) {
        for (offsets, consumer) in self.offsets.iter().zip(consumers) {
            report_offsets(offsets.topic(), consumer, offsets.stored(), mode);
        }
    }

    /// Holds the events of a source back, from a message that cannot be read. Other sources are stored nevertheless.
    fn refuse(&mut self, source: &SourceName, partition: i32, at: Option<i64>, reason: &str) {
        self.gaps += 1;
        self.feed.drop_source(source);
        let from = self.offsets[Topic::Events as usize].committed_to(partition);
        report(&format!(
            "{source}: {reason}; later events of this source are not stored until it is released"
        ));
        self.quarantine.refuse(source, partition, (from, at), reason);
    }

    /// The number of offsets that were deleted before they were stored, as this run has found.
    pub(super) fn deleted(&self) -> u64 {
        self.offsets.iter().map(Offsets::deleted).sum()
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
            let Unsettled { events, checkpoints } = self.feed.unsettled();
            let [event_offsets, checkpoint_offsets] = &mut self.offsets;
            event_offsets.advance(&events);
            checkpoint_offsets.advance(&checkpoints);
            let mut marks = self.quarantine.marks()?;
            for offsets in &self.offsets {
                marks.extend(offsets.marks()?);
            }
            if commits.is_empty() && marks.is_empty() {
                return Ok(());
            }
            // Before the segments: another sink may have stored some of them.
            let has_begun =
                Offsets::begin(&self.offsets, &mut self.database).map_err(CommitError::Failed);
            let committed =
                has_begun.and_then(|()| self.database.commit(&commits, &records, &marks));
            match committed {
                Ok(receipt) => {
                    self.committed(receipt, begun);
                    return Ok(());
                }
                Err(CommitError::Moved { source_name, expected, stored }) => {
                    let moved: CommitError<Infallible> =
                        CommitError::Moved { source_name: source_name.clone(), expected, stored };
                    if self.is_forgotten(&source_name)? {
                        self.feed.drop_source(&source_name);
                    } else {
                        let reason = format!(
                            "{moved}: events are missing, which may have been deleted before this sink read them"
                        );
                        let partition = self.partitions.get(&source_name).copied();
                        self.refuse(&source_name, partition.unwrap_or_default(), None, &reason);
                    }
                    commits.retain(|commit| commit.source != source_name);
                    records.retain(|(source, _)| *source != source_name);
                }
                Err(CommitError::Failed(Error::Server(error))) if error.is_transient() => {
                    self.database.reach_again(error, stop, limit)?;
                    if Offsets::are_stored(&self.offsets, &mut self.database)? {
                        self.committed(Receipt::default(), begun);
                        return Ok(());
                    }
                }
                Err(CommitError::Failed(error)) => return Err(error),
            }
        }
    }

    /// Whether all sessions of a source were forgotten, so that its messages are dropped.
    fn is_forgotten(&mut self, source: &SourceName) -> Result<bool, Error> {
        if self.forgotten.contains(source) {
            return Ok(true);
        }
        let is_forgotten = self.database.is_forgotten(source)?;
        if is_forgotten {
            self.forgotten.insert(source.clone());
        }
        Ok(is_forgotten)
    }

    fn committed(&mut self, receipt: Receipt, begun: Instant) {
        self.receipt.add(receipt);
        self.offsets.iter_mut().for_each(Offsets::committed);
        self.feed.committed();
        self.quarantine.committed();
        self.partitions.clear();
        self.commits += 1;
        self.committing += begun.elapsed();
    }
}

/// A topic that a sink reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Events,
    Checkpoints,
}
