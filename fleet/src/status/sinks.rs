//! [`SinkStatus`]: how far sinks are, by the offsets that they report to the brokers.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig, Message, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer},
    error::KafkaResult,
};
use serde::Serialize;

use crate::{
    connection::{Connection, WAIT},
    error::Error,
    exporter::now,
    settings::Topics,
};

/// Timeout of a poll for messages.
const POLL: Duration = Duration::from_millis(100);

/// How long to wait for the events that a sink has not stored.
const PATIENCE: Duration = Duration::from_secs(5);

/// The progress of a sink.
#[derive(Debug, Serialize)]
pub(super) struct SinkStatus {
    pub(super) group: String,
    /// Offsets that are not stored.
    pub(super) lag: i64,
    /// The age of the oldest event that is not stored, in seconds; unknown if it cannot be read.
    pub(super) lag_seconds: Option<f64>,
    /// The partitions that it stores.
    pub(super) partitions: Vec<SinkPartition>,
}

impl SinkStatus {
    /// The numbers of its partitions.
    pub(super) fn numbers(&self) -> impl Iterator<Item = i32> {
        self.partitions.iter().map(|row| row.partition)
    }
}

/// The progress of a sink in one partition.
#[derive(Debug, Serialize)]
pub(super) struct SinkPartition {
    pub(super) partition: i32,
    pub(super) stored_to: i64,
    pub(super) lag: i64,
}

/// The sinks that have reported offsets. `ends` are the ends of the partitions of events.
pub(super) fn sinks(
    connection: &Connection,
    client: &ClientConfig,
    topics: &Topics,
    ends: &BTreeMap<i32, i64>,
) -> Result<Vec<SinkStatus>, Error> {
    let own = topics.sink_group(None);
    let failed = connection.failed("read the groups of the sinks");
    let groups = connection.consumer.client().fetch_group_list(None, WAIT).map_err(&failed)?;
    let is_sink = |name: &str| {
        name.strip_prefix(&own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let names = groups.groups().iter().map(|group| group.name().to_owned());
    let mut names: Vec<_> = names.filter(|name| is_sink(name)).collect();
    names.sort_unstable();
    names.into_iter().map(|name| sink(client, name, topics, ends).map_err(&failed)).collect()
}

fn sink(
    client: &ClientConfig,
    group: String,
    topics: &Topics,
    ends: &BTreeMap<i32, i64>,
) -> KafkaResult<SinkStatus> {
    let mut config = client.clone();
    config
        .set("group.id", &group)
        .set("enable.auto.commit", "false")
        .set("isolation.level", "read_committed");
    let consumer: BaseConsumer = config.create()?;
    let mut asked = TopicPartitionList::new();
    for partition in ends.keys() {
        asked.add_partition(&topics.events, *partition);
    }
    let mut partitions = Vec::new();
    for found in consumer.committed_offsets(asked, WAIT)?.elements() {
        let (partition, offset) = (found.partition(), found.offset());
        let Some(end) = ends.get(&partition) else { continue };
        // A sink reports an offset of each of its partitions; the others are not its own.
        let Some(stored_to) = offset.to_raw().filter(|offset| *offset >= 0) else { continue };
        let lag = (end - stored_to).max(0);
        partitions.push(SinkPartition { partition, stored_to, lag });
    }
    let lag = partitions.iter().map(|partition| partition.lag).sum();
    let lag_seconds = oldest(&consumer, &topics.events, &partitions)?;
    Ok(SinkStatus { group, lag, lag_seconds, partitions })
}

/// The age of the oldest event that is not stored: 0 if only ends of transactions are left.
fn oldest(
    consumer: &BaseConsumer,
    topic: &str,
    partitions: &[SinkPartition],
) -> KafkaResult<Option<f64>> {
    let behind: Vec<_> = partitions.iter().filter(|partition| partition.lag > 0).collect();
    if behind.is_empty() {
        return Ok(Some(0.0));
    }
    let mut from = TopicPartitionList::new();
    for SinkPartition { partition, stored_to, .. } in &behind {
        from.add_partition_offset(topic, *partition, Offset::Offset(*stored_to))?;
    }
    consumer.assign(&from)?;
    let (mut oldest, begun) = (BTreeMap::new(), Instant::now());
    let mut quiet = Instant::now();
    while oldest.len() < behind.len()
        && begun.elapsed() < PATIENCE
        && quiet.elapsed() < PATIENCE / 5
    {
        if let Some(Ok(message)) = consumer.poll(POLL) {
            quiet = Instant::now();
            let sent_at = message.timestamp().to_millis().unwrap_or_else(now);
            oldest.entry(message.partition()).or_insert(sent_at);
        }
    }
    let age = oldest.into_values().min().map(|sent_at| (now() - sent_at).max(0) as f64 / 1000.0);
    // Nothing was sent after the last end of a transaction.
    let is_settled = behind.iter().all(|partition| partition.lag <= 1);
    Ok(age.or(is_settled.then_some(0.0)))
}
