//! The metrics of a sink.

use std::time::{Duration, Instant};

use super::{Sink, lag::Reader, topic::Topic};
use crate::metric::Family;

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
        exporter.report(self.is_said.then_some("the brokers do not answer"));
        let offsets = &self.offsets[Topic::Events as usize];
        let stored = offsets.stored();
        let [messages, seconds] = self.lag.figures(offsets.topic(), consumer, &stored);
        let next = |name, help, value: u64| Family::one(name, help, value as f64);
        exporter.publish(&[
            Family::by_partition(
                "foldline_sink_next_offset",
                "Offset of the next event to be stored",
                stored.into_iter().map(|(partition, next)| (partition, next as f64)),
            ),
            messages,
            seconds,
            next("foldline_sink_entries_total", "Stored entries", self.receipt.entries),
            next("foldline_sink_commits_total", "Transactions", self.commits),
            Family::one(
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
