//! [`Lag`]: how far a sink is behind, and its offsets as those of a consumer group.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use rdkafka::{
    ClientContext, Message, Offset, Statistics, TopicPartitionList,
    consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext},
};

use crate::{heartbeat::now, metric::Family};

/// The consumer of a sink.
pub(super) type Reader = BaseConsumer<Ends>;

/// The ends of the partitions, as the client last heard of them.
#[derive(Default)]
pub(super) struct Ends(Mutex<BTreeMap<(String, i32), i64>>);

impl ClientContext for Ends {
    fn stats(&self, statistics: Statistics) {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, topic) in statistics.topics {
            let known = topic.partitions.values().filter(|partition| partition.ls_offset >= 0);
            ends.extend(known.map(|known| ((name.clone(), known.partition), known.ls_offset)));
        }
    }
}

impl ConsumerContext for Ends {}

/// The age of what a sink reads.
#[derive(Debug, Default)]
pub(super) struct Lag {
    /// When the last message of each partition that was not read to its end was sent, in milliseconds since 1970.
    behind: BTreeMap<i32, i64>,
}

impl Lag {
    pub(super) fn read(&mut self, message: &impl Message) {
        let sent_at = message.timestamp().to_millis();
        self.behind.insert(message.partition(), sent_at.unwrap_or_else(now));
    }

    pub(super) fn at_end(&mut self, partition: i32) {
        self.behind.remove(&partition);
    }

    /// The metrics, for the offsets of the next events to be stored.
    pub(super) fn figures(
        &self,
        topic: &str,
        reader: &Reader,
        stored: &BTreeMap<i32, i64>,
    ) -> [Family; 2] {
        let ends = reader.context().0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (now, end) = (now(), |partition| ends.get(&(topic.to_owned(), partition)));
        let messages = stored.iter().filter_map(|(partition, next)| {
            Some((*partition, (end(*partition)? - next).max(0) as f64))
        });
        let seconds = stored.keys().map(|partition| {
            let sent_at = self.behind.get(partition).copied().unwrap_or(now);
            (*partition, (now - sent_at).max(0) as f64 / 1000.0)
        });
        [
            Family::by_partition(
                "foldline_sink_lag_messages",
                "Offsets of events that are not stored yet",
                messages,
            ),
            Family::by_partition(
                "foldline_sink_lag_seconds",
                "Age of the last event that was read, unless it is the last one",
                seconds,
            ),
        ]
    }
}

/// Reports the stored offsets to the group of the sink, for programs that monitor lag. Nothing depends on them: the
/// authoritative offsets are in the database.
pub(super) fn report(topic: &str, reader: &Reader, stored: &BTreeMap<i32, i64>, mode: CommitMode) {
    let mut offsets = TopicPartitionList::new();
    let reported = stored
        .iter()
        .try_for_each(|(&partition, &next)| {
            offsets.add_partition_offset(topic, partition, Offset::Offset(next))
        })
        .and_then(|()| reader.commit(&offsets, mode));
    if let Err(error) = reported {
        tracing::debug!(%error, "cannot report the stored offsets to the group");
    }
}
