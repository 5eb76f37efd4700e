//! [`Lag`]: how far a sink is behind, and its offsets as those of a consumer group.

use std::{
    collections::BTreeMap,
    sync::Mutex,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientContext, Message, Statistics,
    consumer::{BaseConsumer, Consumer, ConsumerContext},
};

use super::{Sink, Topic};
use crate::{
    error::locked,
    exporter::now,
    metric::{Family, by_partition, one},
};

/// The consumer of a sink.
pub(super) type Reader = BaseConsumer<Ends>;

/// The ends of the partitions, as the client last heard of them.
#[derive(Default)]
pub(super) struct Ends(Mutex<BTreeMap<(String, i32), i64>>);

impl ClientContext for Ends {
    fn stats(&self, statistics: Statistics) {
        let mut ends = locked(&self.0);
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
        let ends = locked(&reader.context().0).clone();
        let (now, end) = (now(), |partition| ends.get(&(topic.to_owned(), partition)));
        let messages = stored.iter().filter_map(|(partition, next)| {
            Some((*partition, (end(*partition)? - next).max(0) as f64))
        });
        let seconds = stored.keys().map(|partition| {
            let sent_at = self.behind.get(partition).copied().unwrap_or(now);
            (*partition, (now - sent_at).max(0) as f64 / 1000.0)
        });
        [
            by_partition(
                "foldline_sink_lag_messages",
                "Offsets of events that are not stored yet",
                messages,
            ),
            by_partition(
                "foldline_sink_lag_seconds",
                "Age of the last event that was read, unless it is the last one",
                seconds,
            ),
        ]
    }
}

/// The interval at which metrics are published.
const PUBLISH: Duration = Duration::from_secs(1);

impl Sink {
    /// Publishes the metrics and the health, if they are due.
    pub(super) fn publish(&mut self, consumer: &Reader) {
        let Some(exporter) = &self.exporter else { return };
        if self.published.is_some_and(|published| published.elapsed() < PUBLISH) {
            return;
        }
        self.published = Some(Instant::now());
        exporter.report(self.is_reported.then_some("the brokers do not answer"));
        let offsets = &self.offsets[Topic::Events as usize];
        let stored = offsets.stored();
        let [messages, seconds] = self.lag.figures(offsets.topic(), consumer, &stored);
        let next = |name, help, value: u64| one(name, help, value as f64);
        exporter.publish(&[
            by_partition(
                "foldline_sink_next_offset",
                "Offset of the next event to be stored",
                stored.into_iter().map(|(partition, next)| (partition, next as f64)),
            ),
            messages,
            seconds,
            next("foldline_sink_entries_total", "Stored entries", self.receipt.entries),
            next("foldline_sink_commits_total", "Transactions", self.commits),
            one(
                "foldline_sink_commit_seconds_total",
                "Total duration of the transactions",
                self.committing.as_secs_f64(),
            ),
            next(
                "foldline_sink_gaps_total",
                "Segments that do not begin at the stored position",
                self.gaps,
            ),
            next(
                "foldline_sink_deleted_total",
                "Offsets of events that were deleted before they were stored",
                self.deleted(),
            ),
        ]);
    }
}
