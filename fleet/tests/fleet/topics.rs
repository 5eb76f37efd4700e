//! The topics of a fleet: created, written, read.
#![allow(dead_code)]

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    admin::{AdminClient, AdminOptions},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer},
    error::KafkaError,
    message::{Header, Headers, OwnedHeaders},
    producer::{BaseProducer, BaseRecord, Producer},
};

use serde_json::value::RawValue;

use super::foldline_fleet;

/// How long anything may take.
pub(crate) const WAIT: Duration = Duration::from_secs(90);

/// The topics of one fleet on a cluster.
pub(crate) struct Topics {
    client: ClientConfig,
    pub(crate) prefix: String,
    pub(crate) partitions: i32,
}

impl Topics {
    pub(crate) fn make(addresses: &str, prefix: &str, partitions: i32, replicas: i32) -> Self {
        let mut client = ClientConfig::new();
        client.set("bootstrap.servers", addresses);
        let (number, replicas) = (partitions.to_string(), replicas.to_string());
        let init = ["init", "--partitions", &number, "--replication", &replicas];
        let mut command = foldline_fleet();
        command.args(init).args(["--brokers", addresses, "--prefix", prefix]);
        let made = command.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self { client, prefix: prefix.to_owned(), partitions }
    }

    pub(crate) fn producer(&self) -> Arc<BaseProducer> {
        Arc::new(self.client.create().unwrap())
    }

    /// The configuration of a client that compresses, as workers do.
    pub(crate) fn compressing(&self) -> ClientConfig {
        let mut client = self.client.clone();
        client.set("compression.type", "zstd").set("linger.ms", "5").clone()
    }

    /// Deletes the messages of a partition before an offset, as retention does.
    pub(crate) fn delete_before(&self, what: &str, partition: i32, offset: Offset) {
        let admin: AdminClient<DefaultClientContext> = self.client.create().unwrap();
        let mut before = TopicPartitionList::new();
        let topic = format!("{}.{what}", self.prefix);
        before.add_partition_offset(&topic, partition, offset).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let options = AdminOptions::new().operation_timeout(Some(WAIT));
        let deleted = runtime.block_on(admin.delete_records(&before, &options)).unwrap();
        deleted.elements().iter().for_each(|partition| partition.error().unwrap());
    }

    /// The first and the last offset of a partition.
    pub(crate) fn ends(&self, what: &str, partition: i32) -> (i64, i64) {
        let consumer: BaseConsumer = self.client.create().unwrap();
        consumer.fetch_watermarks(&format!("{}.{what}", self.prefix), partition, WAIT).unwrap()
    }

    /// Sends a value to a topic, with these headers.
    pub(crate) fn send(&self, what: &str, key: &str, value: &[u8], headers: &[(&str, &str)]) {
        let topic = format!("{}.{what}", self.prefix);
        let producer: BaseProducer = self.client.create().unwrap();
        let header = |all: OwnedHeaders, (key, value): &(&str, &str)| {
            all.insert(Header { key, value: Some(*value) })
        };
        let headers = headers.iter().fold(OwnedHeaders::new(), header);
        let record = BaseRecord::to(&topic).partition(0).key(key).payload(value).headers(headers);
        producer.send(record).map_err(|(error, _)| error).unwrap();
        producer.flush(WAIT).unwrap();
    }

    /// Sends an event of a source, like a worker.
    pub(crate) fn send_event(&self, source: &str, value: &[u8]) {
        self.send("events", source, value, &[("source", source)]);
    }

    /// Sends a state of a source, like a worker.
    pub(crate) fn send_state(&self, source: &str, value: &[u8]) {
        self.send("state", source, value, &[("parts", "1")]);
    }

    /// Replaces the state of a source by the first of two parts.
    pub(crate) fn tear_state(&self, source: &str) {
        self.send("state", source, &self.state(source), &[("parts", "2")]);
    }

    /// The stored state of a source, which is compressed.
    pub(crate) fn state(&self, source: &str) -> Vec<u8> {
        let states = self.read("state").into_iter().filter(|state| state.key == source.as_bytes());
        let state = states.max_by_key(|state| state.offset).unwrap().value;
        let mut json = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(&*state), &mut json)
            .unwrap();
        json
    }

    /// Waits until the state of a source is stored.
    pub(crate) fn await_state(&self, source: &str) {
        let begun = Instant::now();
        while !self.read("state").iter().any(|state| state.key == source.as_bytes()) {
            assert!(begun.elapsed() < WAIT, "the state of {source} is not stored");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The byte up to which a source is folded.
    pub(crate) fn folded_to(&self, source: &str) -> Option<u64> {
        let is_of_source = |message: &Read| message.headers["source"] == source;
        let checkpoints = self.read("checkpoints").into_iter().filter(is_of_source);
        let last = checkpoints.max_by_key(|checkpoint| checkpoint.offset)?;
        let reached: serde_json::Value = serde_json::from_slice(&last.value).unwrap();
        reached["position"]["offset"].as_u64()
    }

    /// All committed messages of a topic with their headers, in the order of their partitions.
    pub(crate) fn read(&self, what: &str) -> Vec<Read> {
        let mut config = self.client.clone();
        config
            .set("group.id", "reader")
            .set("enable.auto.commit", "false")
            .set("enable.partition.eof", "true")
            .set("isolation.level", "read_committed");
        let consumer: BaseConsumer = config.create().unwrap();
        let mut from = TopicPartitionList::new();
        let topic = format!("{}.{what}", self.prefix);
        for partition in 0..self.partitions {
            from.add_partition_offset(&topic, partition, Offset::Beginning).unwrap();
        }
        consumer.assign(&from).unwrap();
        let (mut read, mut ended, begun) = (Vec::new(), 0, Instant::now());
        while ended < self.partitions {
            assert!(begun.elapsed() < WAIT, "the topic cannot be read");
            match consumer.poll(Duration::from_millis(100)) {
                None => {}
                Some(Err(KafkaError::PartitionEOF(_))) => ended += 1,
                Some(message) => {
                    let message = message.unwrap();
                    let header = |header: Header<'_, &[u8]>| {
                        let value = header.value.unwrap_or_default();
                        (header.key.to_owned(), String::from_utf8(value.to_vec()).unwrap())
                    };
                    let headers = message.headers().map(|all| all.iter().map(header).collect());
                    read.push(Read {
                        partition: message.partition(),
                        offset: message.offset(),
                        key: message.key().unwrap_or_default().to_vec(),
                        headers: headers.unwrap_or_default(),
                        value: message.payload().unwrap_or_default().to_vec(),
                    });
                }
            }
        }
        read.sort_by_key(|message| message.partition);
        read
    }

    /// The events of each source as lines, in the form of `replay --format events`; or its patches.
    pub(crate) fn events(&self, what: &str) -> BTreeMap<String, Vec<u8>> {
        let mut events = BTreeMap::<String, Vec<u8>>::new();
        let mut sequences = BTreeMap::<(String, u64), u64>::new();
        let mut joined = String::new();
        for Read { headers, value, .. } in self.read(what) {
            // Other clients may have sent something else.
            let Ok(message) = serde_json::from_slice::<Message<'_>>(&value) else { continue };
            assert_eq!((message.version, &message.source), (1, &headers["source"]));
            // Numbers have no gaps, and none is there twice.
            let session = if what == "events" { 0 } else { message.session_number };
            let number = sequences.entry((message.source.clone(), session)).or_default();
            if message.part.is_none_or(|part| part == 1) {
                *number += 1;
                joined.clear();
            }
            assert_eq!(*number, message.sequence, "{}", message.source);
            let lines = events.entry(message.source.clone()).or_default();
            let prefix = format!(
                "{{\"position\":{},\"session\":{},",
                message.position, message.session_number
            );
            let item = match (&message.text, message.event, message.data, message.patch) {
                (Some(text), ..) => {
                    joined.push_str(text);
                    if message.part < message.parts {
                        continue;
                    }
                    joined
                        .strip_prefix('{')
                        .and_then(|item| item.strip_suffix('}'))
                        .unwrap()
                        .to_owned()
                }
                (None, Some(event), Some(data), _) => format!("\"event\":{event},\"data\":{data}"),
                (None, Some(event), None, _) => format!("\"event\":{event}"),
                (None, None, _, patch) => format!("\"patch\":{}", patch.unwrap()),
            };
            lines.extend(format!("{prefix}{item}}}\n").bytes());
        }
        events
    }

    /// The partition of each source that was folded.
    pub(crate) fn partitions_of_sources(&self) -> BTreeMap<String, i64> {
        let checkpoints = self.read("checkpoints").into_iter();
        let source =
            |mut message: Read| Some((message.headers.remove("source")?, message.partition));
        let partitions = checkpoints.filter_map(source);
        partitions.map(|(source, partition)| (source, i64::from(partition))).collect()
    }

    /// Follows the checkpoints until this number of sources is complete: cheaper for the brokers than polling.
    pub(crate) fn await_last_checkpoints(&self, count: usize) {
        let mut config = self.client.clone();
        config.set("group.id", "follower").set("enable.auto.commit", "false");
        config.set("isolation.level", "read_committed");
        let consumer: BaseConsumer = config.create().unwrap();
        let mut from = TopicPartitionList::new();
        let topic = format!("{}.checkpoints", self.prefix);
        for partition in 0..self.partitions {
            from.add_partition_offset(&topic, partition, Offset::Beginning).unwrap();
        }
        consumer.assign(&from).unwrap();
        let mut complete = 0;
        while complete < count {
            let Some(message) = consumer.poll(WAIT) else { panic!("no checkpoints any more") };
            complete += usize::from(is_complete(message.unwrap().payload().unwrap_or_default()));
        }
    }

    /// Waits until this number of sources is reported as complete.
    pub(crate) fn await_complete(&self, count: usize) {
        let begun = Instant::now();
        loop {
            let checkpoints = self.read("checkpoints");
            let complete = checkpoints.iter().filter(|read| is_complete(&read.value)).count();
            assert!(complete <= count, "{complete} sources are complete, of {count}");
            if complete == count {
                return;
            }
            assert!(begun.elapsed() < WAIT, "{complete} of {count} sources are complete");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// A message that was read.
pub(crate) struct Read {
    pub(crate) partition: i32,
    offset: i64,
    pub(crate) key: Vec<u8>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) value: Vec<u8>,
}

/// The value of a message of events or patches.
#[derive(serde::Deserialize)]
struct Message<'a> {
    version: u64,
    source: String,
    session_number: u64,
    sequence: u64,
    #[serde(borrow)]
    position: &'a RawValue,
    part: Option<u64>,
    parts: Option<u64>,
    text: Option<String>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    patch: Option<&'a RawValue>,
}

/// Whether a checkpoint states that its source is complete. That of an expired source is empty.
fn is_complete(checkpoint: &[u8]) -> bool {
    !checkpoint.is_empty()
        && serde_json::from_slice::<serde_json::Value>(checkpoint).unwrap()["complete"] == true
}

/// Sends pieces of a log like a shipper.
pub(crate) struct Sender<'t> {
    pub(crate) topics: &'t Topics,
    pub(crate) producer: Arc<BaseProducer>,
    pub(crate) source: String,
    pub(crate) format: String,
}

impl Sender<'_> {
    /// Sends `log[from..to]`, one line per message, but at most `most` bytes per message.
    pub(crate) fn send(&self, log: &[u8], file: u64, from: usize, to: usize, most: usize) {
        let mut at = from;
        while at < to {
            let line =
                log[at..to].iter().position(|byte| *byte == b'\n').map_or(to, |end| at + end + 1);
            let end = line.min(at + most);
            self.message(&log[at..end], &format!("{file}:{at}"), None, false);
            at = end;
        }
    }

    /// Declares the log complete.
    pub(crate) fn end(&self, file: u64, at: usize) {
        self.message(&[], &format!("{file}:{at}"), None, true);
    }

    pub(crate) fn message(&self, bytes: &[u8], position: &str, before: Option<u64>, is_end: bool) {
        let before = before.map(|before| ("before", before.to_string()));
        let end = is_end.then(|| ("end", "1".to_owned()));
        self.with(bytes, position, before.into_iter().chain(end));
    }

    /// Sends the first bytes of a log whose file was created at this time.
    pub(crate) fn created(&self, bytes: &[u8], at: i64) {
        self.with(bytes, "0:0", [("created", at.to_string())]);
    }

    /// Sends bytes with further headers.
    fn with(
        &self,
        bytes: &[u8],
        position: &str,
        more: impl IntoIterator<Item = (&'static str, String)>,
    ) {
        let usual = [
            ("position", position),
            ("format", &self.format),
            ("path", &self.source),
            ("host", "test"),
        ];
        let usual = usual.map(|(key, value)| (key, value.to_owned()));
        let header = |headers: OwnedHeaders, (key, value): (&str, String)| {
            headers.insert(Header { key, value: Some(&value) })
        };
        let headers = usual.into_iter().chain(more).fold(OwnedHeaders::new(), header);
        let topic = format!("{}.logs", self.topics.prefix);
        let mut record =
            BaseRecord::to(&topic).key(self.source.as_bytes()).payload(bytes).headers(headers);
        while let Err((_, full)) = self.producer.send(record) {
            self.producer.poll(Duration::from_millis(10));
            record = full;
        }
    }

    pub(crate) fn flush(&self) {
        self.producer.flush(WAIT).unwrap();
    }
}
