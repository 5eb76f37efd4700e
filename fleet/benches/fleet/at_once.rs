//! Many sources that grow at the same time: the cost of a line, and the traffic of each topic.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rdkafka::producer::{BaseProducer, Producer};

use super::{
    Cluster, PARTITIONS, Worker, logs, mega, number,
    topics::{Sender, Topics},
};

/// The logs of all sources: their lines, with the position of each.
struct Logs {
    lines: Vec<Vec<(usize, Vec<u8>)>>,
}

impl Logs {
    fn new(sources: u64, most: usize) -> Self {
        let lines = |seed| {
            let log = logs::droid(&format!("session-{seed}"), 200, seed).into_bytes();
            let mut lines = Vec::new();
            let mut at = 0;
            for line in log.split_inclusive(|byte| *byte == b'\n').take(most) {
                lines.push((at, line.to_vec()));
                at += line.len();
            }
            lines
        };
        Self { lines: (0..sources).map(lines).collect() }
    }

    fn bytes(&self) -> usize {
        self.lines.iter().flatten().map(|(_, line)| line.len()).sum()
    }

    /// Sends the line of this number of each source.
    fn send(&self, topics: &Topics, producer: &Arc<BaseProducer>, number: usize) -> u64 {
        let mut sent = 0;
        for (source, lines) in self.lines.iter().enumerate() {
            let Some((at, line)) = lines.get(number) else { continue };
            let (source, format) =
                (format!("host/2f-{source:08}-0a1b2c3d4e5f"), "droid".to_owned());
            let sender = Sender { topics, producer: producer.clone(), source, format };
            sender.message(line, &format!("0:{at}"), None, false);
            sent += 1;
        }
        sent
    }
}

/// Waits until a worker has read this number of pieces, and has committed them.
fn await_pieces(worker: &Worker, pieces: u64) {
    while worker.figure("foldline_fleet_pieces_total") < pieces as f64 {
        thread::sleep(Duration::from_millis(50));
    }
}

/// Prints the bytes that the broker has stored of each topic.
fn print_traffic(cluster: &Cluster, topics: &Topics, sources: u64, seconds: f64) {
    for topic in ["logs", "events", "checkpoints", "state"] {
        let bytes = cluster.stored(&format!("{}.{topic}", topics.prefix));
        let each = bytes as f64 / sources as f64 / seconds;
        println!("  {topic}: {:.1} MB stored, {each:.0} bytes a source and second", mega(bytes));
    }
}

/// Folds existing logs, whose sources take turns line by line.
pub(crate) fn at_once(cluster: &Cluster) {
    let (sources, lines) = (number("FOLDLINE_FLEET_SOURCES", 10_000), 60);
    let logs = Logs::new(sources, lines);
    let topics = Topics::make(&cluster.addresses, "at-once", PARTITIONS, 1);
    let producer = topics.producer();
    let sent: u64 = (0..lines).map(|number| logs.send(&topics, &producer, number)).sum();
    producer.flush(Duration::from_secs(300)).unwrap();
    let begun = Instant::now();
    let worker = Worker::start(cluster, &topics);
    await_pieces(&worker, sent);
    let took = begun.elapsed();
    println!(
        "{sources} sources at once: {sent} lines, {:.1} MB in {took:.2?}: {:.1} µs a line, {:.1} µs of them CPU; {} KiB",
        mega(logs.bytes()),
        took.as_secs_f64() * 1e6 / sent as f64,
        worker.cpu().as_secs_f64() * 1e6 / sent as f64,
        worker.peak(),
    );
    let from = worker.figure("foldline_fleet_restore_seconds");
    println!("  taken over in {from:.2} s together");
    thread::sleep(Duration::from_secs(10));
    print_traffic(cluster, &topics, sources, lines as f64);
}

/// Each source sends a line a second.
pub(crate) fn paced(cluster: &Cluster) {
    let sources = number("FOLDLINE_FLEET_SOURCES", 10_000);
    let seconds = number("FOLDLINE_FLEET_SECONDS", 180);
    let logs = Logs::new(sources, seconds as usize);
    let topics = Topics::make(&cluster.addresses, "paced", PARTITIONS, 1);
    let producer = topics.producer();
    let worker = Worker::start(cluster, &topics);
    while worker.figure("foldline_fleet_sources{") < 0.0
        || worker.count("foldline_fleet_sources{") < 8.0
    {
        thread::sleep(Duration::from_millis(100));
    }
    let (begun, mut sent, before) = (Instant::now(), 0, worker.cpu());
    for number in 0..seconds {
        sent += logs.send(&topics, &producer, number as usize);
        producer.flush(Duration::from_secs(60)).unwrap();
        let next = begun + Duration::from_secs(number + 1);
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    await_pieces(&worker, sent);
    thread::sleep(Duration::from_secs(3));
    println!(
        "{sources} sources, a line a second each: {sent} lines, {:.1} MB in {:.1?}: {:.1} µs of CPU a line; {} KiB",
        mega(logs.bytes()),
        begun.elapsed(),
        (worker.cpu() - before).as_secs_f64() * 1e6 / sent as f64,
        worker.peak(),
    );
    print_traffic(cluster, &topics, sources, seconds as f64);
}
