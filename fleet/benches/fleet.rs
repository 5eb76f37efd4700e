//! The cost of a worker relative to the broker: `cargo bench -p foldline-fleet`.
//!
//! A worker folds logs, and a bare loop consumes the same logs and produces the very messages of the worker, in
//! transactions of the same size: the difference is Foldline's cost. Both times begin with the start of the program.
//! Then one and two workers that wait for the logs. `FOLDLINE_FLEET_MB` sets the megabytes of logs (128).
//!
//! Further measurements, by name: `cargo bench -p foldline-fleet -- NAME..`
//!
//! - `many`: 10,000 sources, one after the other: memory, and the time to take them over
//! - `at-once`: 10,000 sources that take turns line by line
//! - `paced`: 10,000 sources with a line a second each, for `FOLDLINE_FLEET_SECONDS` (180): the traffic of each topic
//! - `restore`: 1,000,000 stored sources
//! - `partitions`: what a worker needs for 1, 8, 64 and 256 partitions
//!
//! `FOLDLINE_FLEET_SOURCES` sets the number of sources.
#![allow(clippy::unwrap_used, clippy::panic, dead_code, missing_docs)]

#[path = "fleet/at_once.rs"]
mod at_once;
#[path = "../tests/broker/mod.rs"]
mod broker;
#[path = "../../cli/tests/logs/mod.rs"]
mod logs;
#[path = "fleet/restore.rs"]
mod restore;
#[path = "../tests/fleet/topics.rs"]
mod topics;

use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use broker::Cluster;
use rdkafka::{
    ClientConfig, Message, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer},
    message::{Header, OwnedHeaders},
    producer::{BaseProducer, BaseRecord, Producer},
};
use topics::{Read, Sender, Topics};

const PARTITIONS: i32 = 8;

/// A command that runs the fleet's program.
fn foldline_fleet() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foldline-fleet"));
    command.env_remove("RUST_LOG");
    command
}

/// The bytes of logs in a transaction of one partition of a worker with eight partitions.
const BYTES: usize = 2 << 20;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

fn main() {
    let cluster = Cluster::start(1);
    let named: Vec<_> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    if named.is_empty() {
        in_sequence(&cluster);
    }
    for name in named {
        match name.as_str() {
            "many" => many(&cluster, number("FOLDLINE_FLEET_SOURCES", 10_000)),
            "at-once" => at_once::at_once(&cluster),
            "paced" => at_once::paced(&cluster),
            "restore" => restore::restore(&cluster),
            "partitions" => restore::partitions(&cluster),
            other => panic!("there is no measurement {other}"),
        }
    }
}

/// Workers that fold long logs, compared with a bare loop.
fn in_sequence(cluster: &Cluster) {
    let megabytes = number("FOLDLINE_FLEET_MB", 128);
    let contents: Vec<Vec<u8>> =
        (0..64).map(|seed| log(seed, megabytes * (1 << 20) / 64)).collect();
    let bytes: usize = contents.iter().map(Vec::len).sum();
    let lines: usize = contents.iter().flatten().filter(|byte| **byte == b'\n').count();
    println!(
        "{lines} lines, {:.1} MB, {} sources, {PARTITIONS} partitions",
        mega(bytes),
        contents.len()
    );
    for round in 1..=3 {
        let (one, peak, topics) = worked(cluster, &format!("one-{round}"), &contents, 1);
        let bare = copied(cluster, &topics, &format!("bare-{round}"));
        let rate = |time: Duration| {
            let seconds = time.as_secs_f64();
            format!("{:.0} lines/s, {:.1} MB/s", lines as f64 / seconds, mega(bytes) / seconds)
        };
        println!(
            "round {round}: one worker {one:.2?} ({}), {peak} KiB; bare loop {bare:.2?}: {:.2}x",
            rate(one),
            one.as_secs_f64() / bare.as_secs_f64(),
        );
        let [alone, both] = [1, 2].map(|workers| {
            streamed(cluster, &format!("streamed-{workers}-{round}"), &contents, workers)
        });
        println!(
            "  while it is sent: one worker {alone:.2?} ({}), two {both:.2?} ({}): {:.2}x as fast",
            rate(alone),
            rate(both),
            alone.as_secs_f64() / both.as_secs_f64(),
        );
    }
}

fn mega(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// A log of about this many bytes.
fn log(seed: u64, bytes: u64) -> Vec<u8> {
    let mut content = Vec::new();
    for part in 0.. {
        if content.len() as u64 >= bytes {
            break;
        }
        content.extend(
            logs::droid(&format!("session-{seed}-{part}"), 200, seed * 1000 + part).bytes(),
        );
    }
    content
}

fn send(topics: &Topics, contents: &[Vec<u8>], is_final: bool) {
    let producer = topics.producer();
    for (number, content) in contents.iter().enumerate() {
        let (source, format) = (format!("source-{number}"), "droid".to_owned());
        let sender = Sender { topics, producer: producer.clone(), source, format };
        sender.send(content, 0, 0, content.len(), 900 << 10);
        if is_final {
            sender.end(0, content.len());
        }
    }
    producer.flush(Duration::from_secs(300)).unwrap();
}

struct Worker {
    child: Child,
    address: String,
}

impl Worker {
    fn start(cluster: &Cluster, topics: &Topics) -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let mut command = foldline_fleet();
        command.args(["work", "--metrics", &address, "--brokers", &cluster.addresses]);
        command.args(["--prefix", &topics.prefix]).stderr(Stdio::null());
        Self { child: command.spawn().unwrap(), address }
    }

    /// A metric of each partition.
    fn figures(&self, name: &str) -> Vec<f64> {
        let Ok(mut connection) = TcpStream::connect(&self.address) else { return Vec::new() };
        let mut answer = String::new();
        let asked = write!(connection, "GET /metrics HTTP/1.0\r\n\r\n");
        if asked.and_then(|()| connection.read_to_string(&mut answer)).is_err() {
            return Vec::new();
        }
        let figures = answer.lines().filter(|line| line.starts_with(name));
        figures.filter_map(|line| line.rsplit(' ').next()?.parse().ok()).collect()
    }

    fn figure(&self, name: &str) -> f64 {
        self.figures(name).iter().sum()
    }

    fn count(&self, name: &str) -> f64 {
        self.figures(name).len() as f64
    }

    fn id(&self) -> u32 {
        self.child.id()
    }

    /// The CPU time of its threads.
    fn cpu(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
        // The unit of Linux.
        Duration::from_millis(ticks * 10)
    }

    /// Its peak memory, in KiB.
    fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The time that workers take to fold existing logs, from their start to the last commit.
fn worked(
    cluster: &Cluster,
    prefix: &str,
    contents: &[Vec<u8>],
    workers: usize,
) -> (Duration, u64, Topics) {
    let topics = Topics::make(&cluster.addresses, prefix, PARTITIONS, 1);
    send(&topics, contents, true);
    let begun = Instant::now();
    let workers: Vec<_> = (0..workers).map(|_| Worker::start(cluster, &topics)).collect();
    topics.await_last_checkpoints(contents.len());
    let took = begun.elapsed();
    thread::sleep(Duration::from_millis(1100));
    for worker in &workers {
        let figure = |name| worker.figure(&format!("foldline_fleet_{name}"));
        println!(
            "  {} pieces, {} commits in {:.2} s, taken over in {:.2} s together",
            figure("pieces_total"),
            figure("commits_total"),
            figure("commit_seconds_total"),
            figure("restore_seconds")
        );
    }
    let peak = workers.iter().map(Worker::peak).max().unwrap();
    (took, peak, topics)
}

/// The time that workers take if they have their partitions before the logs arrive.
fn streamed(cluster: &Cluster, prefix: &str, contents: &[Vec<u8>], workers: usize) -> Duration {
    let topics = Topics::make(&cluster.addresses, prefix, PARTITIONS, 1);
    let workers: Vec<_> = (0..workers).map(|_| Worker::start(cluster, &topics)).collect();
    let share = f64::from(PARTITIONS) / workers.len() as f64;
    while workers.iter().any(|worker| worker.count("foldline_fleet_sources{") != share) {
        thread::sleep(Duration::from_millis(100));
    }
    let begun = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| send(&topics, contents, true));
        topics.await_last_checkpoints(contents.len());
    });
    begun.elapsed()
}

/// The time to consume the logs and to produce a worker's output, without any other work.
fn copied(cluster: &Cluster, topics: &Topics, id: &str) -> Duration {
    let mut outputs = BTreeMap::<i32, Vec<Read>>::new();
    for message in topics.read("events") {
        outputs.entry(message.partition).or_default().push(message);
    }
    let target = Topics::make(&cluster.addresses, id, PARTITIONS, 1);
    let mut client = ClientConfig::new();
    client.set("bootstrap.servers", &cluster.addresses);
    let logs = format!("{}.logs", topics.prefix);
    let sizes = sizes(&client, &logs);
    let begun = Instant::now();
    let mut config = client.clone();
    config.set("group.id", id).set("enable.auto.commit", "false");
    let consumer: BaseConsumer = config.create().unwrap();
    let mut from = TopicPartitionList::new();
    let mut lanes = BTreeMap::new();
    for (&partition, messages) in &outputs {
        from.add_partition_offset(&logs, partition, Offset::Beginning).unwrap();
        let mut config = client.clone();
        config.set("transactional.id", format!("{id}.{partition}"));
        config.set("compression.type", "zstd").set("linger.ms", "5");
        let producer: BaseProducer = config.create().unwrap();
        producer.init_transactions(Duration::from_secs(60)).unwrap();
        lanes.insert(partition, (producer, messages, 0, 0_usize, 0_usize));
    }
    consumer.assign(&from).unwrap();
    let topic = format!("{}.events", target.prefix);
    while lanes.iter().any(|(partition, lane)| lane.4 < sizes[partition]) {
        let Some(message) = consumer.poll(Duration::from_millis(100)) else { continue };
        let message = message.unwrap();
        let partition = message.partition();
        let (producer, messages, sent, pending, all) = lanes.get_mut(&partition).unwrap();
        let length = message.payload().map_or(0, <[u8]>::len) + 1;
        (*pending, *all) = (*pending + length, *all + length);
        if *pending < BYTES && *all < sizes[&partition] {
            continue;
        }
        *pending = 0;
        producer.begin_transaction().unwrap();
        let end = messages.len() * *all / sizes[&partition];
        for Read { headers, value, .. } in &messages[*sent..end] {
            let headers = headers.iter().fold(OwnedHeaders::new(), |all, (key, value)| {
                all.insert(Header { key, value: Some(value) })
            });
            let key = "a key of thirty-two characters..";
            let mut record = BaseRecord::to(&topic)
                .partition(partition)
                .key(key)
                .payload(value)
                .headers(headers);
            while let Err((_, full)) = producer.send(record) {
                producer.poll(Duration::from_millis(1));
                record = full;
            }
        }
        *sent = end;
        let mut offsets = TopicPartitionList::new();
        offsets
            .add_partition_offset(&logs, partition, Offset::Offset(message.offset() + 1))
            .unwrap();
        let group = consumer.group_metadata().unwrap();
        producer.send_offsets_to_transaction(&offsets, &group, Duration::from_secs(60)).unwrap();
        while producer.in_flight_count() > 0 {
            producer.poll(Duration::from_millis(1));
        }
        producer.commit_transaction(Duration::from_secs(60)).unwrap();
    }
    begun.elapsed()
}

/// The bytes of each partition, and one of its messages.
fn sizes(client: &ClientConfig, topic: &str) -> BTreeMap<i32, usize> {
    let mut config = client.clone();
    config.set("group.id", "sizes").set("enable.auto.commit", "false");
    let consumer: BaseConsumer = config.create().unwrap();
    let mut ends = BTreeMap::new();
    let mut from = TopicPartitionList::new();
    for partition in 0..PARTITIONS {
        from.add_partition_offset(topic, partition, Offset::Beginning).unwrap();
        let (_, end) =
            consumer.fetch_watermarks(topic, partition, Duration::from_secs(10)).unwrap();
        ends.insert(partition, end);
    }
    consumer.assign(&from).unwrap();
    let (mut sizes, mut read) = (BTreeMap::<i32, usize>::new(), 0);
    while read < ends.values().sum::<i64>() {
        let Some(message) = consumer.poll(Duration::from_millis(100)) else { continue };
        let message = message.unwrap();
        *sizes.entry(message.partition()).or_default() +=
            message.payload().map_or(0, <[u8]>::len) + 1;
        read += 1;
    }
    sizes
}

/// A worker with many open sources.
fn many(cluster: &Cluster, count: u64) {
    let topics = Topics::make(&cluster.addresses, "many", PARTITIONS, 1);
    let contents: Vec<Vec<u8>> = (0..count)
        .map(|seed| logs::droid(&format!("session-{seed}"), 2, seed).into_bytes())
        .collect();
    send(&topics, &contents, false);
    let await_all = |worker: &Worker| {
        while worker.figure("foldline_fleet_sources") < count as f64 {
            thread::sleep(Duration::from_millis(200));
        }
    };
    let begun = Instant::now();
    let worker = Worker::start(cluster, &topics);
    await_all(&worker);
    println!("{count} sources: folded in {:.2?}, {} KiB", begun.elapsed(), worker.peak());
    drop(worker);
    // Like adding a worker: nothing waits for the killed one.
    let worker = Worker::start(cluster, &topics);
    await_all(&worker);
    println!(
        "taken over in {:.2} s together, {} KiB",
        worker.figure("foldline_fleet_restore_seconds"),
        worker.peak()
    );
}
