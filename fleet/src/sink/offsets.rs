//! [`Offsets`]: the stored offset of each partition of events.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use foldline::{
    conversation::Json,
    emitters::sqlite::Database,
    ledger::{Ledger, Mark},
};
use rdkafka::{
    ClientConfig, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer},
    metadata::{MetadataPartition, MetadataTopic},
};

use crate::error::Error;

/// How long the brokers may be unreachable.
const PATIENCE: Duration = Duration::from_secs(60);

/// Timeout of one request.
const ATTEMPT: Duration = Duration::from_secs(5);

/// The offset of the next message of each partition.
#[derive(Default)]
pub(super) struct Offsets {
    topic: String,
    partitions: BTreeSet<i32>,
    /// Committed offsets; `None` of a partition of which nothing is stored.
    stored: BTreeMap<i32, Option<i64>>,
    /// Offsets that are not committed yet.
    reached: BTreeMap<i32, i64>,
    /// Partitions that were read to their end.
    at_end: BTreeSet<i32>,
}

impl Offsets {
    /// A consumer of all partitions, each from the offset stored in the database.
    pub(super) fn assign(
        client: &ClientConfig,
        topic: &str,
        database: &mut Database,
    ) -> Result<(BaseConsumer, Self), Error> {
        let fail = |error| Error::Cluster { doing: format!("read the topic {topic}"), error };
        let mut config = client.clone();
        config
            // A consumer needs a group name, even if it never joins the group.
            .set("group.id", "foldline-sink")
            .set("enable.auto.commit", "false")
            .set("enable.partition.eof", "true")
            .set("auto.offset.reset", "earliest")
            .set("isolation.level", "read_committed");
        let consumer: BaseConsumer = config.create().map_err(fail)?;
        let begun = Instant::now();
        let metadata = loop {
            match consumer.fetch_metadata(Some(topic), ATTEMPT) {
                Err(_) if begun.elapsed() < PATIENCE => {}
                metadata => break metadata.map_err(fail)?,
            }
        };
        let partitions = metadata.topics().iter().filter(|found| found.error().is_none());
        let partitions: BTreeSet<i32> =
            partitions.flat_map(MetadataTopic::partitions).map(MetadataPartition::id).collect();
        if partitions.is_empty() {
            return Err(Error::WrongUse(format!(
                "there is no topic {topic}; run `foldline-fleet init`"
            )));
        }
        let mut from = TopicPartitionList::new();
        let mut all = BTreeMap::new();
        for &partition in &partitions {
            let stored = database.mark(&name(topic, partition))?;
            let stored = stored.and_then(|stored| stored.get().parse().ok());
            all.insert(partition, stored);
            let offset = stored.map_or(Offset::Beginning, Offset::Offset);
            from.add_partition_offset(topic, partition, offset).map_err(fail)?;
        }
        consumer.assign(&from).map_err(fail)?;
        let topic = topic.to_owned();
        Ok((consumer, Self { topic, partitions, stored: all, ..Self::default() }))
    }

    pub(super) fn reached(&mut self, partition: i32, next: i64) {
        self.reached.insert(partition, next);
    }

    pub(super) fn at_end(&mut self, partition: i32) {
        self.at_end.insert(partition);
    }

    /// Whether every partition was read to the end that it had at that time.
    pub(super) fn is_at_end(&self) -> bool {
        self.at_end == self.partitions
    }

    /// The marks to be committed.
    pub(super) fn marks(&self) -> Result<Vec<Mark>, Error> {
        let mark = |(&partition, next): (&i32, &i64)| {
            let state = Json::of(next).map_err(|error| Error::Output(error.into()))?;
            Ok(Mark { name: name(&self.topic, partition), state })
        };
        self.reached.iter().map(mark).collect()
    }

    /// Begins the transaction of the next commit, unless another sink has moved a mark since the last one.
    pub(super) fn begin(&self, database: &mut Database) -> Result<(), Error> {
        let own = |(&partition, stored): (&i32, &Option<i64>)| {
            let state = Json::of(stored).map_err(|error| Error::Output(error.into()))?;
            Ok(Mark { name: name(&self.topic, partition), state })
        };
        let own = self.stored.iter().map(own).collect::<Result<Vec<_>, Error>>()?;
        let Some(Mark { name, state: found }) = database.begin_after(&own)? else { return Ok(()) };
        let own = own.into_iter().find(|mark| mark.name == name).map(|mark| mark.state);
        let partition = name.rsplit('/').next().unwrap_or_default().to_owned();
        let (own, found) = (own.unwrap_or_default().get().to_owned(), found.get().to_owned());
        Err(Error::OtherSink { path: database.path().to_owned(), partition, own, found })
    }

    /// Records that the marks were committed.
    pub(super) fn committed(&mut self) {
        let reached = std::mem::take(&mut self.reached);
        self.stored.extend(reached.into_iter().map(|(partition, next)| (partition, Some(next))));
    }

    /// The offset of the next event to be stored, for each partition of which events are stored.
    pub(super) fn stored(&self) -> impl Iterator<Item = (i32, f64)> {
        self.stored.iter().filter_map(|(partition, next)| Some((*partition, (*next)? as f64)))
    }
}

fn name(topic: &str, partition: i32) -> String {
    format!("kafka:{topic}/{partition}")
}
