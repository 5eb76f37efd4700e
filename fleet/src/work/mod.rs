//! `foldline-fleet work`: folds shipped lines into events, as a worker of a fleet.
//!
//! The group assigns partitions to workers. A partition is folded by one worker at a time: a worker that takes it
//! over fences the previous owner and reads its stored states. A transaction commits events, states and input offsets
//! together, so a worker may be killed, paused or disconnected at any moment: the next owner folds uncommitted data
//! again, and messages of a stale worker are rejected.
//!
//! Each partition has a thread, which reads its messages from a separate queue: while one waits for brokers, others
//! fold. The main thread of the worker only handles group changes.

mod expiry;
mod figures;
mod group;
mod lane;
mod outgoing;
mod running;
mod source;
mod unfinished;
mod unsaved;

use std::{
    collections::BTreeMap,
    mem,
    net::SocketAddr,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use clap::Args;
use foldline_agents::Registry;
use foldline_cli::shared::stop_flag;
use rdkafka::{consumer::Consumer, error::KafkaError};

use self::{
    figures::{Counts, figures},
    group::{Change, Group, POLL, Shared},
    running::{Order, Running},
};
use crate::{
    cluster::ClusterArgs,
    connection::await_sound,
    error::{EXIT_CODES, Error, report},
    exporter::Exporter,
    ledger::Cluster,
    settings::Role,
};

/// The options of `foldline-fleet work`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct WorkArgs {
    #[command(flatten)]
    cluster: ClusterArgs,

    /// Also produce JSON Patches, for sources that begin from now on
    #[arg(long)]
    patches: bool,

    /// Fold sources again from their beginning if another version of this program has stored their states. Events that
    /// were sent are not sent again. Stop all workers of the other version first
    #[arg(long)]
    rebuild: bool,

    /// Forget complete sources after this many days; more than the retention of the events. Without it, they are
    /// remembered for ever
    #[arg(long, value_name = "DAYS", value_parser = parse_days)]
    expire: Option<Duration>,

    /// The group of the workers; else PREFIX.work
    #[arg(long, value_name = "NAME")]
    group: Option<String>,

    /// Serve Prometheus metrics at /metrics on this address, and the health at /healthz and /readyz
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
}

/// Reads a number of days, such as `30` or `0.5`.
fn parse_days(text: &str) -> Result<Duration, String> {
    const DAY: f64 = 24.0 * 60.0 * 60.0;
    let days = text.parse::<f64>().map_err(|error| error.to_string())?;
    Duration::try_from_secs_f64(days * DAY).map_err(|error| error.to_string())
}

/// The delay before a failed partition is taken over again. If the group has assigned it to another worker, this is
/// known by then.
const PAUSE: Duration = Duration::from_secs(2);

/// The interval at which a persistent problem of the brokers is reported again.
const REPORT_AGAIN: Duration = Duration::from_secs(60);

/// The interval at which metrics are published.
const PUBLISH: Duration = Duration::from_secs(1);

pub(crate) fn run(registry: &Registry, args: &WorkArgs) -> Result<ExitCode, Error> {
    let client = args.cluster.client()?;
    let topics = args.cluster.topics();
    let stop = stop_flag()?;
    let exporter = args.metrics.map(|address| Exporter::start(address, "work")).transpose()?;
    let needed = [Role::Logs, Role::Events, Role::Patches, Role::State];
    if !await_sound(&client, &topics, &needed, &stop, None)? {
        return Ok(ExitCode::SUCCESS);
    }
    let group = args.group.clone().unwrap_or_else(|| format!("{}.work", args.cluster.prefix));
    let shared = Shared {
        registry: registry.clone(),
        cluster: Cluster::new(&client)?,
        consumer: Group::join(&client, &group, &topics.logs)?,
        topics,
        patches: args.patches,
        rebuild: args.rebuild,
        expire: args.expire,
        group,
        lanes: AtomicUsize::new(0),
    };
    let mut worker = Worker {
        exporter,
        published: Instant::now(),
        shared: shared.into(),
        lanes: BTreeMap::new(),
        leaving: BTreeMap::new(),
        broken: BTreeMap::new(),
        ended: Counts::default(),
        reported: None,
    };
    worker.run(&stop)?;
    worker.conclude()?;
    Ok(if worker.ended.deleted > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

struct Worker {
    exporter: Option<Exporter>,
    published: Instant,
    shared: Arc<Shared>,
    lanes: BTreeMap<i32, Running>,
    /// The lanes of revoked partitions, until they end. Two lanes of one partition would take each other's messages.
    leaving: BTreeMap<i32, Running>,
    /// Partitions to be taken over, and when.
    broken: BTreeMap<i32, Instant>,
    /// The counts of revoked partitions.
    ended: Counts,
    /// When a problem of the brokers was last reported.
    reported: Option<Instant>,
}

impl Worker {
    fn run(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        while !stop.load(Ordering::Relaxed) {
            self.heed()?;
            for change in self.shared.consumer.context().changes() {
                self.change(change);
            }
            self.collect()?;
            self.take_over();
            self.publish();
        }
        Ok(())
    }

    /// Lets the client process group changes. Messages that arrive here were fetched before their partition had a
    /// separate queue, and are read again there.
    fn heed(&mut self) -> Result<(), Error> {
        match self.shared.consumer.poll(POLL) {
            Some(Err(error @ KafkaError::MessageConsumptionFatal(_))) => {
                return Err(Error::Cluster { doing: "read logs".to_owned(), error });
            }
            Some(Err(error))
                if self.reported.is_none_or(|reported| reported.elapsed() >= REPORT_AGAIN) =>
            {
                self.reported = Some(Instant::now());
                report(&format!("{error}; waiting for the brokers"));
            }
            Some(_) | None => {}
        }
        Ok(())
    }

    fn publish(&mut self) {
        let Some(exporter) = &self.exporter else { return };
        if self.published.elapsed() >= PUBLISH {
            let ends = self.shared.consumer.context().ends();
            let lanes = self.lanes.iter().map(|(partition, lane)| (*partition, lane.progress()));
            exporter.publish(&figures(self.ended, &lanes.collect(), &ends));
            let is_waiting =
                self.reported.is_some_and(|reported| reported.elapsed() < REPORT_AGAIN);
            exporter.report(is_waiting.then_some("the brokers do not answer"));
            self.published = Instant::now();
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            // Assigned partitions are taken over immediately.
            Change::Given(partitions) => {
                let now = Instant::now();
                self.broken.extend(partitions.into_iter().map(|partition| (partition, now)));
            }
            // If the next owner has not fenced this one yet, it finds all states.
            Change::Taken(partitions) => {
                for partition in partitions {
                    self.broken.remove(&partition);
                    if let Some(lane) = self.lanes.remove(&partition) {
                        lane.order(Order::Conclude);
                        self.leaving.insert(partition, lane);
                    }
                }
            }
        }
    }

    /// Handles lanes that have ended.
    fn collect(&mut self) -> Result<(), Error> {
        // The outcome of lanes of revoked partitions does not matter.
        for partition in ended(&self.leaving) {
            if let Some(lane) = self.leaving.remove(&partition) {
                self.ended.add(lane.progress().counts);
                drop(lane.join());
            }
        }
        for partition in ended(&self.lanes) {
            if let Some(lane) = self.lanes.remove(&partition) {
                self.break_off(partition, lane)?;
            }
        }
        Ok(())
    }

    /// Handles a failed partition: its state in memory is discarded. The partition is taken over again, unless it
    /// belongs to another worker by then. Only an error that a retry cannot change ends the worker.
    fn break_off(&mut self, partition: i32, lane: Running) -> Result<(), Error> {
        self.ended.add(lane.progress().counts);
        match lane.join() {
            Err(Error::KafkaLedger(error)) => {
                report(&format!("partition {partition}: {error}; taking it over again"));
            }
            ended => ended?,
        }
        self.broken.insert(partition, Instant::now() + PAUSE);
        Ok(())
    }

    /// Takes over partitions that are due.
    fn take_over(&mut self) {
        let now = Instant::now();
        let is_due = |(partition, at): (&i32, &Instant)| {
            (*at <= now && !self.leaving.contains_key(partition)).then_some(*partition)
        };
        for partition in self.broken.iter().filter_map(is_due).collect::<Vec<_>>() {
            self.broken.remove(&partition);
            self.lanes.insert(partition, Running::start(&self.shared, partition));
        }
        self.shared.lanes.store(self.lanes.len(), Ordering::Relaxed);
    }

    /// Commits folded data, and prints a summary.
    fn conclude(&mut self) -> Result<(), Error> {
        self.lanes.values().for_each(|lane| lane.order(Order::Conclude));
        for (partition, lane) in mem::take(&mut self.lanes) {
            self.break_off(partition, lane)?;
        }
        for (_, lane) in mem::take(&mut self.leaving) {
            self.ended.add(lane.progress().counts);
            drop(lane.join());
        }
        let Counts { pieces, bytes, known, gaps, foreign, commits, .. } = self.ended;
        report(&format!(
            "{pieces} pieces, {bytes} bytes in {commits} commits; {known} duplicates, {gaps} after a gap, \
             {foreign} foreign messages"
        ));
        Ok(())
    }
}

/// The partitions of lanes that have ended.
fn ended(lanes: &BTreeMap<i32, Running>) -> Vec<i32> {
    let ended = lanes.iter().filter(|(_, lane)| lane.is_ended());
    ended.map(|(partition, _)| *partition).collect()
}
