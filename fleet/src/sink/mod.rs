//! `foldline-fleet sink`: stores the events of a fleet in a database, and optionally in an audit trail.
//!
//! The offsets up to which events are stored are committed in the transaction of their rows, not to the brokers. Each
//! event is therefore stored exactly once, even if the sink is killed. The same holds for the records of the trail,
//! which are part of that transaction. A database has one sink, which reads all partitions.

mod args;
mod feed;
mod figures;
mod lag;
mod marks;
mod offsets;
mod quarantine;

use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
    mem,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use foldline::{
    emitters::sqlite::{Database, Rows, Totals},
    ledger::{Commit, CommitError, Receipt, SourceName},
};
use foldline_cli::shared::{DistinctFiles, Outputs, Records, stop_flag, whole_trails};
use rdkafka::{
    ClientConfig, Message,
    consumer::CommitMode,
    error::{
        KafkaError,
        RDKafkaErrorCode::{AutoOffsetReset, GroupAuthorizationFailed},
    },
};

pub(crate) use self::{
    args::SinkArgs,
    marks::{name, name_of_deleted},
    quarantine::{Held, held},
};
use self::{
    feed::{Fed, Feed, Segment},
    lag::{Lag, Reader},
    offsets::Offsets,
    quarantine::Quarantine,
};
use crate::{error::Error, exit, exporter::Exporter, say::say, settings::Role, sound::await_sound};

/// Timeout of a poll for messages.
const POLL: Duration = Duration::from_millis(50);

/// The maximum time between commits.
const INTERVAL: Duration = Duration::from_millis(250);

/// The time without events after which the offsets are moved to the ends of the partitions.
const QUIET: Duration = Duration::from_secs(5);

/// The maximum size of uncommitted rows, in bytes.
const SIZE: usize = 8 << 20;

pub(crate) fn run(args: &SinkArgs) -> Result<u8, Error> {
    let path = args.database.path()?;
    let mut files = DistinctFiles::default();
    files.database(&path)?;
    if let Some(audit) = &args.audit {
        files.output("--audit", audit)?;
    }
    if let Some(key) = &args.sign {
        files.input("the key", key)?;
    }
    let stop = stop_flag()?;
    let (client, topics) = (args.cluster.client()?, args.cluster.topics());
    let exporter = args.metrics.map(|address| Exporter::start(address, "sink")).transpose()?;
    if !await_sound(&client, &topics, &[Role::Events], &stop, args.limit())? {
        return Ok(exit::FINE);
    }
    let wait = Duration::from_secs(args.wait.into());
    let trail = args.audit.as_deref().map(|audit| (audit, args.sign.as_deref()));
    let group = topics.sink_group(args.name.as_deref());
    let (consumer, mut sink) = Sink::open(&client, (&topics.events, &group), &path, trail, wait)?;
    sink.exporter = exporter;
    sink.run(&consumer, &stop, args.limit())?;
    let is_incomplete = sink.gaps > 0 || sink.offsets.deleted() > 0;
    let Totals { sessions: all_sessions, entries: all_entries, .. } = sink.database.totals()?;
    let Receipt { sessions, entries, .. } = sink.close()?;
    say(&format!(
        "{entries} entries and {sessions} sessions were added to {}, which has {all_entries} entries of {all_sessions} sessions",
        path.display()
    ));
    Ok(if is_incomplete { exit::FAILED } else { exit::FINE })
}

/// Stores events in a database.
struct Sink {
    feed: Feed,
    offsets: Offsets,
    quarantine: Quarantine,
    database: Database,
    /// The audit trail, if there is one.
    outputs: Outputs,
    /// Trails that were complete when the sink started.
    whole: BTreeMap<String, String>,
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
    published: Option<Instant>,
    lag: Lag,
    commits: u64,
    committing: Duration,
    /// Number of segments that do not begin at the stored position of their source.
    gaps: u64,
    is_said: bool,
}

impl Sink {
    /// Opens the database at `path`, and an audit trail with its signing key, if requested.
    fn open(
        client: &ClientConfig,
        (topic, group): (&str, &str),
        path: &Path,
        trail: Option<(&Path, Option<&Path>)>,
        wait: Duration,
    ) -> Result<(Reader, Self), Error> {
        let mut database = Database::open_sound(path, wait)?;
        let whole = whole_trails(&database)?;
        let (audit, key) = trail.unzip();
        let (outputs, notes) = Outputs::open(audit, key.flatten(), &[], wait, &mut database)?;
        notes.iter().for_each(|note| say(note));
        let quarantine = Quarantine::read(&mut database, topic)?;
        let (consumer, offsets) =
            Offsets::assign(client, (topic, group), &quarantine, &mut database)?;
        let sink = Self {
            feed: Feed::new(audit.is_some()),
            offsets,
            quarantine,
            database,
            outputs,
            whole,
            pending: Vec::new(),
            partitions: HashMap::new(),
            records: Vec::new(),
            pending_size: 0,
            since: None,
            quiet: Instant::now(),
            heard: Instant::now(),
            receipt: Receipt::default(),
            exporter: None,
            published: None,
            lag: Lag::default(),
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
        consumer: &Reader,
        stop: &AtomicBool,
        limit: Option<Duration>,
    ) -> Result<(), Error> {
        // What was deleted is recorded, even if the sink is killed before the next event.
        self.commit()?;
        self.report(consumer, CommitMode::Async);
        while !stop.load(Ordering::Relaxed) {
            self.step(consumer)?;
            if self.is_due() {
                self.commit()?;
                self.report(consumer, CommitMode::Async);
            }
            self.publish(consumer);
            let Some(limit) = limit else { continue };
            if self.offsets.is_at_end() {
                break;
            }
            if self.heard.elapsed() >= limit {
                self.commit()?;
                return Err(Error::Silent(limit));
            }
        }
        self.commit()?;
        // Brokers that are unreachable are not waited for.
        if self.heard.elapsed() < QUIET {
            self.report(consumer, CommitMode::Sync);
        }
        Ok(())
    }

    fn report(&self, consumer: &Reader, mode: CommitMode) {
        lag::report(self.offsets.topic(), consumer, &self.offsets.stored(), mode);
    }

    fn step(&mut self, consumer: &Reader) -> Result<(), Error> {
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
                self.lag.read(&message);
                self.since.get_or_insert_with(Instant::now);
                self.take(&message);
            }
            Some(Err(KafkaError::PartitionEOF(partition))) => {
                self.is_said = false;
                self.lag.at_end(partition);
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

    fn is_due(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= INTERVAL) || self.pending_size >= SIZE
    }

    /// Ends, and returns what was stored.
    fn close(mut self) -> Result<Receipt, Error> {
        self.outputs.finish(&mut self.database)?;
        let still_whole = whole_trails(&self.database)?;
        for (_, path) in self.whole.iter().filter(|(trail, _)| !still_whole.contains_key(*trail)) {
            say(&format!(
                "the audit trail has no records of this run: it was run without --audit {path}"
            ));
        }
        self.database.close()?;
        Ok(self.receipt)
    }

    /// Commits rows, records and the offsets after their events.
    fn commit(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        self.since = None;
        self.pending_size = 0;
        let mut commits = mem::take(&mut self.pending);
        let mut records = mem::take(&mut self.records);
        let before = self.outputs.state();
        loop {
            let marks = [self.offsets.marks()?, self.quarantine.marks()?].concat();
            if commits.is_empty() && marks.is_empty() {
                return Ok(());
            }
            // Before the segments: another sink may have stored some of them.
            self.offsets.begin(&mut self.database)?;
            records.iter().for_each(|(_, records)| self.outputs.add_records(records));
            match self.outputs.commit(&mut self.database, &commits, &marks) {
                Ok(receipt) => {
                    self.receipt.add(receipt);
                    self.offsets.committed();
                    self.quarantine.committed();
                    self.partitions.clear();
                    self.commits += 1;
                    self.committing += begun.elapsed();
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
                    self.outputs.restore(before.clone());
                }
                Err(CommitError::Failed(error)) => return Err(error.into()),
            }
        }
    }
}
