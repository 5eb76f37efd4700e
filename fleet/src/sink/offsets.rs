//! [`Offsets`]: the stored offset of each partition of events.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use foldline::ledger::Mark;
use rdkafka::{
    ClientConfig, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer},
    error::KafkaResult,
    metadata::{MetadataPartition, MetadataTopic},
};

use super::{
    destination::Destination,
    lag::{Ends, Reader},
    quarantine::{name, name_of_deleted},
};
use crate::{
    error::{Error, report},
    marks::{Deleted, Range, mark},
};

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
    /// The offset after the last message that was read.
    read: BTreeMap<i32, i64>,
    /// Offsets that are not committed yet.
    reached: BTreeMap<i32, i64>,
    /// Events of each partition that were deleted before they were stored.
    deleted: BTreeMap<i32, Deleted>,
    /// The offset of each partition when the sink started: earlier messages are read only for released sources.
    begun: BTreeMap<i32, i64>,
    /// The number of such offsets that this run has found.
    found: u64,
    /// Partitions that were read to their end.
    at_end: BTreeSet<i32>,
    /// Partitions whose offset may be before ends of transactions, which are not messages.
    unsettled: BTreeSet<i32>,
    /// An earlier end of each partition: the offset is there once the partition is read to its end.
    settling: BTreeMap<i32, i64>,
}

impl Offsets {
    /// A consumer of these partitions, or of all, each from the offset stored in the database.
    pub(super) fn assign(
        client: &ClientConfig,
        (topic, group): (&str, &str),
        only: Option<&BTreeSet<i32>>,
        released: impl Fn(i32) -> Option<i64>,
        database: &mut Destination,
    ) -> Result<(Reader, Self), Error> {
        let fail = |error| Error::Cluster { doing: format!("read the topic {topic}"), error };
        let mut config = client.clone();
        config
            // It never joins the group.
            .set("group.id", group)
            .set("statistics.interval.ms", "2000")
            .set("enable.auto.commit", "false")
            .set("enable.partition.eof", "true")
            .set("auto.offset.reset", "error")
            .set("isolation.level", "read_committed");
        let consumer: Reader = config.create_with_context(Ends::default()).map_err(fail)?;
        let metadata = patiently(|| consumer.fetch_metadata(Some(topic), ATTEMPT)).map_err(fail)?;
        let partitions = metadata.topics().iter().filter(|found| found.error().is_none());
        let partitions: BTreeSet<i32> =
            partitions.flat_map(MetadataTopic::partitions).map(MetadataPartition::id).collect();
        if partitions.is_empty() {
            return Err(Error::WrongUse(format!(
                "there is no topic {topic}; run `foldline-fleet init`"
            )));
        }
        if let Some(missing) = only.and_then(|only| only.difference(&partitions).next()) {
            return Err(Error::WrongUse(format!("{topic} has no partition {missing}")));
        }
        let partitions = only.cloned().unwrap_or(partitions);
        let mut from = TopicPartitionList::new();
        let mut offsets = Self { topic: topic.to_owned(), partitions, ..Self::default() };
        for partition in offsets.partitions.clone() {
            let ends = patiently(|| consumer.fetch_watermarks(topic, partition, ATTEMPT));
            let ends = ends.map_err(fail)?;
            let next = offsets.begin_at(partition, ends, database)?;
            offsets.begun.insert(partition, next.unwrap_or(0));
            let released = released(partition).map(|released| released.max(ends.0));
            let next = released.map_or(next, |released| next.map(|next| next.min(released)));
            let offset = next.map_or(Offset::Beginning, Offset::Offset);
            from.add_partition_offset(topic, partition, offset).map_err(fail)?;
        }
        consumer.assign(&from).map_err(fail)?;
        Ok((consumer, offsets))
    }

    /// The offset of the next event of a partition whose first and last offsets are `ends`. Records the events before
    /// the first one that were not stored.
    fn begin_at(
        &mut self,
        partition: i32,
        ends: (i64, i64),
        database: &mut Destination,
    ) -> Result<Option<i64>, Error> {
        let name = name(&self.topic, partition);
        let stored = database.mark(&name)?.and_then(|stored| stored.get().parse().ok());
        let mut deleted = Deleted::stored(database.mark(&name_of_deleted(&name))?);
        let topic = &self.topic;
        for range in deleted.ranges() {
            report(&format!(
                "partition {partition} of {topic}: {range} are not in this database, as an earlier run has found"
            ));
        }
        let (first, end) = ends;
        let range = Range::before(first, stored);
        if let Some(range) = range {
            report(&format!(
                "partition {partition} of {topic}: {range} were deleted before they were stored"
            ));
            deleted.add(range);
            self.found += range.length();
            self.reached.insert(partition, first);
        }
        self.stored.insert(partition, stored);
        self.deleted.insert(partition, deleted);
        self.settling.insert(partition, end);
        Ok(range.map(|range| range.to).or(stored))
    }

    /// The number of offsets that were deleted before they were stored, as this run has found.
    pub(super) fn deleted(&self) -> u64 {
        self.found
    }

    /// Records the offset after a message.
    pub(super) fn read(&mut self, partition: i32, next: i64) {
        let read = self.read.entry(partition).or_insert(next);
        *read = next.max(*read);
    }

    /// Moves the offsets to be committed up to the first message that is not stored, by partition.
    pub(super) fn advance(&mut self, unsettled: &BTreeMap<i32, i64>) {
        for (partition, read) in std::mem::take(&mut self.read) {
            let next = unsettled.get(&partition).copied().unwrap_or(read);
            if next < read {
                self.read.insert(partition, read);
            }
            if next > self.next(partition) {
                self.reached.insert(partition, next);
            }
        }
    }

    /// The offset of a partition when the sink started.
    pub(super) fn begun(&self, partition: i32) -> i64 {
        self.begun.get(&partition).copied().unwrap_or(0)
    }

    /// The committed offset of a partition.
    pub(super) fn committed_to(&self, partition: i32) -> i64 {
        self.stored.get(&partition).copied().flatten().unwrap_or(0)
    }

    /// The offset to be committed of a partition.
    fn next(&self, partition: i32) -> i64 {
        let reached = self.reached.get(&partition).copied();
        reached.unwrap_or_else(|| self.committed_to(partition))
    }

    /// Records that a partition was read to its end. Returns whether its offset has moved.
    pub(super) fn at_end(&mut self, partition: i32) -> bool {
        self.at_end.insert(partition);
        let Some(end) = self.settling.remove(&partition) else {
            self.unsettled.insert(partition);
            return false;
        };
        let is_ahead = self.next(partition) < end;
        self.read(partition, end);
        is_ahead
    }

    /// Moves the offsets to after the ends of transactions, once no events arrive. Otherwise they would count as
    /// events that were deleted before they were stored, if the brokers delete them before the next event. The client
    /// does not state where a partition ends: it reads it again from the stored offset, and finds nothing up to the
    /// end that was known before.
    pub(super) fn settle(&mut self, consumer: &Reader) {
        for partition in std::mem::take(&mut self.unsettled) {
            let next = self.stored.get(&partition).copied().flatten();
            let from = next.map_or(Offset::Beginning, Offset::Offset);
            let ends = consumer.fetch_watermarks(&self.topic, partition, ATTEMPT);
            let is_behind = |(_, end): &(i64, i64)| next.unwrap_or(0) < *end;
            let Some((_, end)) = ends.ok().filter(is_behind) else { continue };
            if consumer.seek(&self.topic, partition, from, ATTEMPT).is_ok() {
                self.settling.insert(partition, end);
            }
        }
    }

    /// Whether a partition has data of a transaction that is not ended, or may have.
    pub(super) fn has_open_transactions(
        &self,
        consumer: &Reader,
        client: &ClientConfig,
    ) -> KafkaResult<bool> {
        let mut config = client.clone();
        config.set("group.id", "foldline-sink").set("isolation.level", "read_uncommitted");
        let all: BaseConsumer = config.create()?;
        for partition in &self.partitions {
            let ends = consumer.fetch_watermarks(&self.topic, *partition, ATTEMPT)?;
            if ends.1 < all.fetch_watermarks(&self.topic, *partition, ATTEMPT)?.1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether every partition was read to the end that it had at that time.
    pub(super) fn is_at_end(&self) -> bool {
        self.at_end == self.partitions
    }

    /// The marks to be committed.
    pub(super) fn marks(&self) -> Result<Vec<Mark>, Error> {
        let reached = self.reached.iter();
        let marks = reached.map(|(partition, next)| mark(name(&self.topic, *partition), next));
        let mut marks = marks.collect::<Result<Vec<_>, Error>>()?;
        for (partition, deleted) in &self.deleted {
            marks.extend(deleted.mark(name_of_deleted(&name(&self.topic, *partition)))?);
        }
        Ok(marks)
    }

    /// The marks of the last commit.
    fn own(&self) -> Result<Vec<Mark>, Error> {
        let stored = self.stored.iter();
        stored.map(|(partition, next)| mark(name(&self.topic, *partition), next)).collect()
    }

    /// Begins the transaction of the next commit, unless another sink has moved a mark since the last one.
    pub(super) fn begin(all: &[Self], database: &mut Destination) -> Result<(), Error> {
        let own = all.iter().map(Self::own).collect::<Result<Vec<_>, Error>>()?.concat();
        let Some(Mark { name, state: found }) = database.begin_after(&own)? else { return Ok(()) };
        let own = own.into_iter().find(|mark| mark.name == name).map(|mark| mark.state);
        let partition = name.rsplit('/').next().unwrap_or_default().to_owned();
        let (own, found) = (own.unwrap_or_default().get().to_owned(), found.get().to_owned());
        Err(Error::OtherSink { name: database.name(), partition, own, found })
    }

    /// Whether the database has the marks to be committed: the commit before a lost connection was complete.
    pub(super) fn are_stored(all: &[Self], database: &mut Destination) -> Result<bool, Error> {
        let mut has_any = false;
        for offsets in all {
            for (&partition, next) in &offsets.reached {
                let stored = database.mark(&name(&offsets.topic, partition))?;
                if stored.is_none_or(|stored| stored.get() != next.to_string()) {
                    return Ok(false);
                }
                has_any = true;
            }
        }
        Ok(has_any)
    }

    /// Records that the marks were committed.
    pub(super) fn committed(&mut self) {
        self.deleted.values_mut().for_each(Deleted::committed);
        let reached = std::mem::take(&mut self.reached);
        self.stored.extend(reached.into_iter().map(|(partition, next)| (partition, Some(next))));
    }

    /// The offset of the next event to be stored, for each partition of this sink. Those of which nothing is stored are
    /// among them: an offset that is not reported is that of a partition of another sink.
    pub(super) fn stored(&self) -> BTreeMap<i32, i64> {
        let partitions = self.partitions.iter();
        partitions.map(|partition| (*partition, self.committed_to(*partition))).collect()
    }

    pub(super) fn topic(&self) -> &str {
        &self.topic
    }
}

/// Repeats a request until the brokers answer.
fn patiently<T>(mut request: impl FnMut() -> KafkaResult<T>) -> KafkaResult<T> {
    let begun = Instant::now();
    loop {
        match request() {
            Err(_) if begun.elapsed() < PATIENCE => {}
            answer => return answer,
        }
    }
}
