//! `foldline work`: folds the lines that were shipped into events, as one of a fleet's workers.
//!
//! The group gives each worker its partitions. A partition is folded by one worker at a time: whoever takes it over
//! fences the owner before, and reads the states that it has stored. A transaction commits events, states and input
//! offsets together, so a worker may be killed, stopped or cut off at any moment: what it has not committed is folded
//! again by the next owner, and what a stale worker sends is not accepted.

mod figures;
mod group;
mod lane;
mod outgoing;
mod source;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    panic::resume_unwind,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use foldline::ledger::kafka::{Cluster, KafkaLedgerError};
use rdkafka::{
    Message, Offset, TopicPartitionList,
    consumer::{BaseConsumer, CommitMode, Consumer},
    error::KafkaError,
};

use self::{
    figures::figures,
    group::{Change, Group},
    lane::{Counts, Lane, Shared},
};
use super::{cluster::ClusterArgs, exporter::Exporter, say, sound::await_sound};
use crate::{error::Error, exit, options::EXIT_CODES, program::Program, signal::stop_flag};

/// The options of `foldline work`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct WorkArgs {
    #[command(flatten)]
    cluster: ClusterArgs,

    /// Also makes JSON Patches, for sources that begin from now on
    #[arg(long)]
    patches: bool,

    /// The group of the workers; else PREFIX.work
    #[arg(long, value_name = "NAME")]
    group: Option<String>,

    /// Answers requests for /metrics at this address, in the text format of Prometheus
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
}

/// How long to wait for messages.
const POLL: Duration = Duration::from_millis(50);

/// How long the cluster may take to go to another offset.
const SEEK: Duration = Duration::from_secs(10);

/// How long to wait before a partition that failed is taken over again. If the group has given it to another
/// worker, that is known by then.
const PAUSE: Duration = Duration::from_secs(2);

/// The time between two publications of figures.
const PUBLISH: Duration = Duration::from_secs(1);

pub(crate) fn run(program: &Program, args: &WorkArgs) -> Result<u8, Error> {
    let client = args.cluster.client()?;
    let topics = args.cluster.topics();
    let stop = stop_flag()?;
    if !await_sound(&client, &topics, &stop)? {
        return Ok(exit::FINE);
    }
    let group = args.group.clone().unwrap_or_else(|| format!("{}.work", args.cluster.prefix));
    let consumer = Group::join(&client, &group, &topics.logs)?;
    let shared = Shared {
        program: program.clone(),
        cluster: Cluster::new(&client)?,
        topics,
        patches: args.patches,
        group,
    };
    let exporter = args.metrics.map(Exporter::start).transpose()?;
    let mut worker = Worker {
        exporter,
        published: Instant::now(),
        shared,
        consumer,
        lanes: BTreeMap::new(),
        broken: BTreeMap::new(),
        ended: Counts::default(),
        is_said: false,
    };
    worker.run(&stop)?;
    worker.conclude();
    Ok(exit::FINE)
}

struct Worker {
    exporter: Option<Exporter>,
    published: Instant,
    shared: Shared,
    consumer: BaseConsumer<Group>,
    lanes: BTreeMap<i32, Lane>,
    /// Partitions that failed, and when to take them over again.
    broken: BTreeMap<i32, Instant>,
    /// What was done in partitions that were taken away.
    ended: Counts,
    /// A trouble of the brokers was told, and is not over.
    is_said: bool,
}

impl Worker {
    fn run(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        while !stop.load(Ordering::Relaxed) {
            self.step()?;
            self.publish();
        }
        self.commit_where(|_| true, |_| true)
    }

    fn step(&mut self) -> Result<(), Error> {
        let (mut failed, mut troubled, mut is_idle) = (None, None, false);
        match self.consumer.poll(POLL) {
            None => is_idle = true,
            Some(Ok(message)) => {
                self.is_said = false;
                let partition = message.partition();
                if let Some(lane) = self.lanes.get_mut(&partition)
                    && let Err(error) = lane.take(&self.shared, &message)
                {
                    failed = Some((partition, error));
                }
            }
            Some(Err(error @ KafkaError::MessageConsumptionFatal(_))) => {
                return Err(Error::Cluster { doing: "read logs".to_owned(), error });
            }
            Some(Err(error)) => troubled = Some(error),
        }
        if let Some(error) = troubled
            && !std::mem::replace(&mut self.is_said, true)
        {
            say(&format!("{error}; waiting for the brokers"));
        }
        for change in self.consumer.context().changes() {
            self.change(change);
        }
        if let Some((partition, error)) = failed {
            self.break_off(partition, error)?;
        }
        let now = Instant::now();
        self.commit_where(|lane| lane.is_due(now, is_idle), Lane::is_soon_due)?;
        self.mend()
    }

    fn publish(&mut self) {
        let Some(exporter) = &self.exporter else { return };
        if self.published.elapsed() >= PUBLISH {
            let ends = self.consumer.context().ends();
            exporter.publish(&figures(self.ended, &self.lanes, &ends));
            self.published = Instant::now();
        }
    }

    /// What was not committed is folded by the next owner.
    fn change(&mut self, change: Change) {
        match change {
            // They are taken over at once.
            Change::Given(partitions) => {
                let now = Instant::now();
                self.broken.extend(partitions.into_iter().map(|partition| (partition, now)));
            }
            Change::Taken(partitions) => {
                for partition in partitions {
                    self.broken.remove(&partition);
                    if let Some(lane) = self.lanes.remove(&partition) {
                        self.ended.add(lane.counts());
                    }
                }
            }
        }
    }

    /// Commits the partitions that are due, if any is, and with them those that soon will be.
    fn commit_where(
        &mut self,
        is_due: impl Fn(&Lane) -> bool,
        is_soon_due: impl Fn(&Lane) -> bool,
    ) -> Result<(), Error> {
        if !self.lanes.values().any(&is_due) {
            return Ok(());
        }
        let due = self.lanes.iter_mut().filter(|(_, lane)| is_due(lane) || is_soon_due(lane));
        // Each waits for brokers most of the time.
        let ended: Vec<_> = thread::scope(|scope| {
            let commits: Vec<_> = due
                .map(|(partition, lane)| (*partition, scope.spawn(move || lane.commit())))
                .collect();
            commits.into_iter().map(|(partition, commit)| (partition, commit.join())).collect()
        });
        for (partition, ended) in ended {
            match ended.unwrap_or_else(|panic| resume_unwind(panic)) {
                Ok(Some(next)) => self.tell_group(partition, next),
                Ok(None) => {}
                Err(error) => self.break_off(partition, error)?,
            }
        }
        Ok(())
    }

    /// Tells the group how far a partition was folded, for those who ask how much waits. Nothing depends on it: the
    /// offset that counts is in the transaction, as a mark of the ledger. (A transaction can commit offsets of a group,
    /// too, but librdkafka waits for ever for that when the group's coordinator is lost at the wrong moment.)
    fn tell_group(&self, partition: i32, next: i64) {
        let mut offsets = TopicPartitionList::new();
        let topic = &self.shared.topics.logs;
        let told = offsets
            .add_partition_offset(topic, partition, Offset::Offset(next))
            .and_then(|()| self.consumer.commit(&offsets, CommitMode::Async));
        if let Err(error) = told {
            tracing::debug!(%error, partition, "the group does not know how far it was folded");
        }
    }

    /// A partition failed: nothing of it is believed any more. It is taken over anew, unless it belongs to another
    /// worker by then. Only what another attempt cannot change ends the worker.
    fn break_off(&mut self, partition: i32, error: Error) -> Result<(), Error> {
        match error {
            Error::KafkaLedger(KafkaLedgerError::Damaged { .. }) => return Err(error),
            Error::KafkaLedger(error) => {
                say(&format!("partition {partition}: {error}; taking it over again"));
            }
            error => return Err(error),
        }
        if let Some(lane) = self.lanes.remove(&partition) {
            self.ended.add(lane.counts());
        }
        self.broken.insert(partition, Instant::now() + PAUSE);
        Ok(())
    }

    /// Takes partitions over.
    fn mend(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        let due: Vec<i32> = self
            .broken
            .iter()
            .filter(|(_, at)| **at <= now)
            .map(|(partition, _)| *partition)
            .collect();
        for partition in &due {
            self.broken.remove(partition);
        }
        // Each waits for brokers most of the time.
        let taken: Vec<_> = thread::scope(|scope| {
            let take_over = |partition| {
                let shared = &self.shared;
                (partition, scope.spawn(move || Lane::take_over(shared, partition)))
            };
            let taking: Vec<_> = due.into_iter().map(take_over).collect();
            let taken = taking.into_iter().map(|(partition, lane)| (partition, lane.join()));
            taken.collect()
        });
        for (partition, lane) in taken {
            let lane = lane.unwrap_or_else(|panic| resume_unwind(panic));
            match lane.and_then(|lane| self.begin(partition, lane)) {
                Ok(lane) => drop(self.lanes.insert(partition, lane)),
                Err(error) => self.break_off(partition, error)?,
            }
        }
        Ok(())
    }

    /// Has the logs of a partition read from where they are to be.
    fn begin(&self, partition: i32, mut lane: Lane) -> Result<Lane, Error> {
        let start = lane.start()?;
        self.consumer.seek(&self.shared.topics.logs, partition, start, SEEK).map_err(|error| {
            let doing = "go to where a partition was left";
            Error::KafkaLedger(KafkaLedgerError::Cluster { doing, error })
        })?;
        Ok(lane)
    }

    fn conclude(&mut self) {
        let mut counts = self.ended;
        self.lanes.values().for_each(|lane| counts.add(lane.counts()));
        let Counts { pieces, bytes, known, gaps, foreign, commits, .. } = counts;
        say(&format!(
            "{pieces} pieces, {bytes} bytes in {commits} commits; {known} known before, {gaps} behind a gap, \
             {foreign} of somebody else"
        ));
    }
}
