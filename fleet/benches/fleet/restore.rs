//! A worker that takes over partitions with many stored sources, and the cost of partitions.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use rdkafka::{
    message::{Header, OwnedHeaders},
    producer::{BaseProducer, BaseRecord, Producer},
};

use super::{
    Cluster, PARTITIONS, Worker, logs, mega, number, send,
    topics::{Read, Topics},
};

/// Copies of the state or the checkpoint of a source, under other names. A state is compressed: copies of it get other
/// bytes, which the broker cannot compress either.
fn multiply(topics: &Topics, what: &str, count: u64) -> usize {
    let mut messages = topics.read(what).into_iter();
    let Read { key, value, headers, .. } =
        messages.rfind(|read| read.key.starts_with(b"source")).unwrap();
    let (key, topic) = (String::from_utf8(key).unwrap(), format!("{}.{what}", topics.prefix));
    let producer: BaseProducer = topics.compressing().create().unwrap();
    for number in 0..count {
        let name = format!("host/2f-{number:08}-0a1b2c3d4e5f");
        let value = match what {
            "state" => noise(&value, number),
            _ => replaced(&value, key.as_bytes(), name.as_bytes()),
        };
        let headers = headers.iter().fold(OwnedHeaders::new(), |headers, (key, value)| {
            headers.insert(Header { key, value: Some(value) })
        });
        let partition = (number % PARTITIONS as u64) as i32;
        let mut record =
            BaseRecord::to(&topic).partition(partition).key(&name).payload(&value).headers(headers);
        while let Err((_, full)) = producer.send(record) {
            producer.poll(Duration::from_millis(10));
            record = full;
        }
    }
    producer.flush(Duration::from_secs(300)).unwrap();
    value.len()
}

/// Random bytes of the same length, after the first byte.
fn noise(value: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    value[..1].iter().copied().chain((1..value.len()).map(&mut next)).collect()
}

fn replaced(value: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    match value.windows(from.len()).position(|window| window == from) {
        Some(at) => [&value[..at], to, &value[at + from.len()..]].concat(),
        None => value.to_vec(),
    }
}

/// Restores sources from synthetic topics of states and checkpoints.
pub(crate) fn restore(cluster: &Cluster) {
    let count = number("FOLDLINE_FLEET_SOURCES", 1_000_000);
    let topics = Topics::make(&cluster.addresses, "restore", PARTITIONS, 1);
    send(&topics, &[logs::droid("session", 50, 1).into_bytes()], false);
    let worker = Worker::start(cluster, &topics);
    while topics.read("state").iter().filter(|read| read.key.starts_with(b"source")).count() == 0 {
        thread::sleep(Duration::from_millis(500));
    }
    drop(worker);
    let [state, checkpoint] = ["state", "checkpoints"].map(|what| multiply(&topics, what, count));
    let stored = ["state", "checkpoints"]
        .map(|what| mega(cluster.stored(&format!("{}.{what}", topics.prefix))));
    let begun = Instant::now();
    let worker = Worker::start(cluster, &topics);
    while worker.figure("foldline_fleet_sources{") < count as f64 {
        thread::sleep(Duration::from_millis(200));
    }
    println!(
        "{count} stored sources, each with a state of {state} and a checkpoint of {checkpoint} bytes ({:.0} and {:.0} MB \
         on disk): restored in {:.1?}, {} KiB",
        stored[0],
        stored[1],
        begun.elapsed(),
        worker.peak(),
    );
}

/// What a worker needs for each of its partitions, each of which has a producer.
pub(crate) fn partitions(cluster: &Cluster) {
    for partitions in [1, 8, 64, 256] {
        let prefix = format!("partitions-{partitions}");
        let topics = Topics::make(&cluster.addresses, &prefix, partitions, 1);
        let begun = Instant::now();
        let worker = Worker::start(cluster, &topics);
        let is_ready = || {
            let restored = worker.figures("foldline_fleet_restore_seconds{");
            restored.len() == partitions as usize && restored.iter().all(|seconds| *seconds > 0.0)
        };
        while !is_ready() {
            thread::sleep(Duration::from_millis(50));
        }
        let ready = begun.elapsed();
        thread::sleep(Duration::from_secs(5));
        let before = worker.cpu();
        thread::sleep(Duration::from_secs(10));
        let idle = (worker.cpu() - before).as_secs_f64() / 10.0 * 100.0;
        let tasks = fs::read_dir(format!("/proc/{}/task", worker.id())).unwrap().count();
        let files = fs::read_dir(format!("/proc/{}/fd", worker.id())).unwrap().count();
        println!(
            "{partitions} partitions: ready in {ready:.2?}, {} KiB, {tasks} threads, {files} open files, {idle:.1} % of a \
             core when idle",
            worker.peak()
        );
    }
}
