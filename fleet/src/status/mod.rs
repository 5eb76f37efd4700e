//! `foldline-fleet status`: the progress of the workers, and of a sink.

mod figures;
mod print;
mod shippers;
mod sinks;
mod stored;

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum};
use foldline_cli::shared::{parse_seconds, stop_flag};
use rdkafka::{ClientConfig, consumer::Consumer, groups::GroupInfo};
use serde::Serialize;

use self::{
    shippers::{ShipperStatus, shippers},
    sinks::{SinkStatus, sinks},
    stored::{DeletedRange, Gap, Stored},
};
use crate::{
    cluster::ClusterArgs,
    connection::{Connection, WAIT, missing},
    error::{Error, report},
    exporter::Exporter,
    ledger::{Cluster, INPUT, Place, States},
    marks::{DELETED, Deleted, UNFOLDED, Unfolded},
    settings::{ExistingTopic, Role, Topics, judge},
};

const STATUS_HELP: &str = "\
Exit codes:
  0  fine, whatever was found
  1  there are no topics, or the brokers cannot be reached
  2  wrong use

With --format json: an object with `prefix`, `partitions` (`partition`, `logs_begin`, `logs_end`, `folded_to`, `lag`,
`events_end`, `sources`, `worker`; `null` where the cluster does not say), `lag`, `sources`, `group` (its state),
`workers` (`id`, `host`, `partitions`), `shippers` (`name`, `state`: reporting, silent or ended, `age` of the last
heartbeat in seconds, and its fields; times are milliseconds since 1970), `sinks` (`group`, `lag`, `lag_seconds`,
`partitions`: `partition`, `stored_to`, `lag`, as the sinks report to the brokers), `gaps` (`source`, `note`), `deleted` (`partition`, `from`, `to`: messages that
were deleted before they were folded) and `notes`; with --db also `sink` with `partitions` (`partition`, `stored_to`)
`deleted` and `gaps`, of events. Offsets count messages; those of events count also the ends of transactions.";

/// The topics that are inspected.
const NEEDED: [Role; 3] = [Role::Logs, Role::Events, Role::State];

/// The options of `foldline-fleet status`.
#[derive(Debug, Args)]
#[command(after_help = STATUS_HELP)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    cluster: ClusterArgs,

    /// The group of the workers; else PREFIX.work
    #[arg(long, value_name = "NAME")]
    group: Option<String>,

    /// Also report what the sink of this database has stored
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,

    /// How long a shipper may report nothing before it counts as silent; running shippers report every 30 seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "90")]
    silent_after: Duration,

    /// Run until stopped: serve Prometheus metrics of the whole fleet at /metrics on this address, and the health at
    /// /healthz and /readyz
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,

    /// The output format
    #[arg(long, short, value_enum, default_value_t)]
    format: StatusFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum StatusFormat {
    /// Human-readable, as wide as the terminal
    #[default]
    Table,
    /// For programs
    Json,
}

/// The status of a fleet.
#[derive(Debug, Default, Serialize)]
struct Status {
    prefix: String,
    partitions: Vec<Partition>,
    /// The total of all partitions whose lag is known.
    lag: i64,
    sources: usize,
    /// The state of the group of workers.
    group: String,
    workers: Vec<Member>,
    shippers: Vec<ShipperStatus>,
    /// The sinks that report their offsets to the brokers.
    sinks: Vec<SinkStatus>,
    gaps: Vec<Gap>,
    deleted: Vec<DeletedRange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sink: Option<Stored>,
    notes: Vec<String>,
}

/// The status of one partition. Unknown values are absent.
#[derive(Debug, Serialize)]
struct Partition {
    partition: i32,
    /// The offset of the first retained message.
    logs_begin: Option<i64>,
    logs_end: Option<i64>,
    folded_to: Option<i64>,
    lag: Option<i64>,
    events_end: Option<i64>,
    sources: Option<usize>,
    worker: Option<String>,
}

/// The progress of folding a partition.
#[derive(Clone, Copy, Debug, Default)]
struct Folded {
    folded_to: Option<i64>,
    sources: Option<usize>,
}

/// The interval at which the metrics are renewed, and the pause between two looks at the order to stop.
const INTERVAL: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(100);

pub(super) fn run(args: &StatusArgs) -> Result<ExitCode, Error> {
    if let Some(address) = args.metrics {
        return serve(args, &Exporter::start(address, "status")?, &*stop_flag()?);
    }
    let status = read(args)?;
    match args.format {
        StatusFormat::Table => status.print_table(),
        StatusFormat::Json => status.print_json(),
    }
    .map_err(Error::Output)?;
    if args.format == StatusFormat::Table {
        status.notes.iter().for_each(|note| report(note));
    }
    Ok(ExitCode::SUCCESS)
}

/// Serves the metrics of the fleet until a signal ends the program.
fn serve(args: &StatusArgs, exporter: &Exporter, stop: &AtomicBool) -> Result<ExitCode, Error> {
    // Wrong options end the program.
    args.cluster.client()?;
    while !stop.load(Ordering::Relaxed) {
        match read(args) {
            Ok(status) => {
                exporter.publish(&status.figures());
                exporter.report(None);
            }
            Err(error) => {
                report(&error.to_string());
                exporter.report(Some(&error.to_string()));
            }
        }
        let begun = Instant::now();
        while begun.elapsed() < INTERVAL && !stop.load(Ordering::Relaxed) {
            thread::sleep(PAUSE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the status of the fleet.
fn read(args: &StatusArgs) -> Result<Status, Error> {
    let client = args.cluster.client()?;
    let topics = args.cluster.topics();
    let group = args.group.clone().unwrap_or_else(|| topics.group());
    let connection = Connection::open(&client, &group)?;
    let cluster = connection.look(&topics)?;
    if let Some(missing) = missing(&topics, &cluster.found, &NEEDED) {
        return Err(Error::Unsound(vec![missing]));
    }
    let verdict = judge(&cluster.found, cluster.brokers, None, None);
    let mut status = Status { prefix: args.cluster.prefix.clone(), ..Status::default() };
    status.notes.extend(verdict.wrong.into_iter().chain(verdict.notes));
    status.ask_group(&connection, &group, &topics)?;
    let folded = status.read_states(&client, &topics, &cluster.found)?;
    status.ask_partitions(&connection, &topics, &cluster.found, &folded)?;
    let sink =
        args.db.as_deref().map(|db| Stored::read(db, &topics.events, partitions(&cluster.found)));
    status.sink = sink.transpose()?;
    let ends = status.partitions.iter().filter_map(|row| Some((row.partition, row.events_end?)));
    status.sinks = sinks(&connection, &client, &topics, &ends.collect())?;
    if let Some(heartbeats) = cluster.found.iter().find(|topic| topic.role == Role::Shippers) {
        let partitions = i32::try_from(heartbeats.partitions).unwrap_or(0);
        status.shippers = shippers(&client, &topics.shippers, partitions, args.silent_after)?;
    }
    Ok(status)
}

impl Status {
    fn ask_group(
        &mut self,
        connection: &Connection,
        name: &str,
        topics: &Topics,
    ) -> Result<(), Error> {
        let failed = connection.failed("read the group of workers");
        let groups = connection.consumer.client().fetch_group_list(Some(name), WAIT);
        let groups = groups.map_err(failed)?;
        let group = groups.groups().iter().find(|group| group.name() == name);
        self.group = group.map_or("", |group| group.state()).to_owned();
        self.workers = group.map(|group| members(group, &topics.logs)).unwrap_or_default();
        Ok(())
    }

    fn ask_partitions(
        &mut self,
        connection: &Connection,
        topics: &Topics,
        found: &[ExistingTopic],
        folded: &BTreeMap<i32, Folded>,
    ) -> Result<(), Error> {
        for partition in 0..partitions(found) {
            let Folded { folded_to, sources } = folded.get(&partition).copied().unwrap_or_default();
            let ends = |role: Role| {
                let name = role.topic(topics);
                if leads(found, role, partition) {
                    let failed = connection.failed(&format!("read the end of {name}"));
                    let ends = connection.consumer.fetch_watermarks(name, partition, WAIT);
                    ends.map(Some).map_err(failed)
                } else {
                    Ok(None)
                }
            };
            let (logs, events) = (ends(Role::Logs)?, ends(Role::Events)?);
            let workers = &self.workers;
            let worker = workers.iter().find(|worker| worker.partitions.contains(&partition));
            let row = Partition {
                partition,
                logs_begin: logs.map(|(begin, _)| begin),
                logs_end: logs.map(|(_, end)| end),
                folded_to,
                lag: logs.map(|(begin, end)| end - folded_to.map_or(begin, |to| to.max(begin))),
                events_end: events.map(|(_, end)| end),
                sources,
                worker: worker.map(|worker| worker.host.clone()),
            };
            self.lag += row.lag.unwrap_or(0);
            self.notes.extend(row.note(&topics.logs));
            self.partitions.push(row);
        }
        Ok(())
    }

    /// Reads how far the partitions are folded, and which sources have gaps.
    fn read_states(
        &mut self,
        client: &ClientConfig,
        topics: &Topics,
        found: &[ExistingTopic],
    ) -> Result<BTreeMap<i32, Folded>, Error> {
        let cluster = Cluster::new(client)?;
        let mut folded = BTreeMap::new();
        for partition in 0..partitions(found) {
            if !leads(found, Role::State, partition) {
                let topic = &topics.state;
                self.notes.push(format!("partition {partition} of {topic} has no leader"));
                continue;
            }
            let place = Place { topic: topics.state.clone(), partition };
            let States { checkpoints, marks, damaged, .. } = cluster.states(&place)?;
            self.sources += checkpoints.len();
            let folded_to = marks.get(INPUT).and_then(|mark| mark.get().parse().ok());
            folded.insert(partition, Folded { folded_to, sources: Some(checkpoints.len()) });
            let deleted = Deleted::stored(marks.get(DELETED).cloned());
            self.deleted.extend(DeletedRange::all(partition, &deleted));
            self.gaps.extend(marks.iter().filter_map(|(name, note)| {
                let source = name.strip_prefix(UNFOLDED)?.to_owned();
                Some(Gap { source, note: Unfolded::read(note)?.note })
            }));
            // The next worker that gets data of it will report it, too.
            let unread = damaged.into_iter().map(|(source, reason)| Gap {
                source: source.to_string(),
                note: format!("its stored state is damaged: {reason}"),
            });
            let known: BTreeSet<_> = self.gaps.iter().map(|gap| gap.source.clone()).collect();
            self.gaps.extend(unread.filter(|gap| !known.contains(&gap.source)));
        }
        self.gaps.sort_by(|a, b| a.source.cmp(&b.source));
        Ok(folded)
    }
}

impl Partition {
    /// A remark about a problem of the partition.
    fn note(&self, topic: &str) -> Option<String> {
        let Self { partition, .. } = self;
        let Some(begin) = self.logs_begin else {
            return Some(format!("partition {partition} of {topic} has no leader"));
        };
        match self.folded_to {
            Some(to) if to < begin => Some(format!(
                "partition {partition} of {topic}: {} messages were deleted before they were folded; increase \
                 retention.ms",
                begin - to
            )),
            None if begin > 0 => Some(format!(
                "partition {partition} of {topic}: {begin} messages are deleted, and no worker has reported its \
                 progress yet"
            )),
            _ => None,
        }
    }
}

/// Whether this partition of the topic has a leader, and the leader answers.
fn leads(found: &[ExistingTopic], role: Role, partition: i32) -> bool {
    let topic = found.iter().find(|topic| topic.role == role);
    topic.is_some_and(|topic| {
        let is_there = usize::try_from(partition).is_ok_and(|number| number < topic.partitions);
        is_there && !topic.leaderless.contains(&partition)
    })
}

/// The number of partitions of the logs.
fn partitions(found: &[ExistingTopic]) -> i32 {
    let logs = found.iter().find(|topic| topic.role == Role::Logs);
    logs.and_then(|topic| i32::try_from(topic.partitions).ok()).unwrap_or(0)
}

/// A worker.
#[derive(Debug, Serialize)]
pub(super) struct Member {
    /// The member id in the group.
    id: String,
    /// The address of the client.
    pub(super) host: String,
    /// The assigned partitions of the logs.
    pub(super) partitions: Vec<i32>,
}

/// The members of a group that read this topic.
pub(super) fn members(group: &GroupInfo, topic: &str) -> Vec<Member> {
    let member = |member: &rdkafka::groups::GroupMemberInfo| {
        let mut rest = member.assignment().unwrap_or_default();
        Member {
            id: member.id().to_owned(),
            // Brokers print addresses like Java, with a leading slash.
            host: member.client_host().trim_start_matches('/').to_owned(),
            partitions: assigned_partitions(&mut rest, topic).unwrap_or_default(),
        }
    };
    let mut members: Vec<_> = group.members().iter().map(member).collect();
    members.sort_by(|a, b| (&a.partitions, &a.id).cmp(&(&b.partitions, &b.id)));
    members
}

/// The partitions of a topic in an assignment of Kafka's consumer protocol: a version, then the name and the
/// partitions of each topic. `None` if the bytes are not an assignment.
fn assigned_partitions(rest: &mut &[u8], topic: &str) -> Option<Vec<i32>> {
    let mut assigned = Vec::new();
    let _version = short(rest)?;
    for _ in 0..int(rest)? {
        let length = usize::try_from(short(rest)?).ok()?;
        let (name, after) = rest.split_at_checked(length)?;
        *rest = after;
        for _ in 0..int(rest)? {
            let partition = int(rest)?;
            if name == topic.as_bytes() {
                assigned.push(partition);
            }
        }
    }
    assigned.sort_unstable();
    Some(assigned)
}

fn short(rest: &mut &[u8]) -> Option<i16> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(i16::from_be_bytes(*bytes))
}

fn int(rest: &mut &[u8]) -> Option<i32> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(i32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_is_read() {
        let assignment = b"\0\0\0\0\0\x02\
            \0\x01b\0\0\0\x01\0\0\0\x07\
            \0\x01a\0\0\0\x02\0\0\0\x02\0\0\0\x01\
            \0\0\0\0";
        assert_eq!(assigned_partitions(&mut &assignment[..], "a"), Some(vec![1, 2]));
        assert_eq!(assigned_partitions(&mut &assignment[..], "c"), Some(vec![]));
        for length in 0..assignment.len() - 4 {
            assert_eq!(assigned_partitions(&mut &assignment[..length], "a"), None);
        }
        assert_eq!(assigned_partitions(&mut &[0xff; 40][..], "a"), Some(vec![]));
    }
}
