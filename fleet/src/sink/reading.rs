//! Reads the topics of events and checkpoints.

use std::{
    mem,
    time::{Duration, Instant},
};

use rdkafka::{
    Message,
    error::{
        KafkaError,
        RDKafkaErrorCode::{AutoOffsetReset, GroupAuthorizationFailed},
    },
};

use super::{
    QUIET, Sink, Topic,
    feed::{Feed, FeedResult},
    gathering::Segment,
    lag::Reader,
};
use crate::error::{Error, report};

/// Timeout of a poll for messages.
const POLL: Duration = Duration::from_millis(50);

/// Limits of what waits for messages of the other topic, which is then read first: events in bytes, and checkpoints.
/// Both are more than a transaction has.
const MOST_GATHERED: usize = 96 << 20;
const MOST_WAITING: usize = 10_000;

impl Sink {
    /// Processes the next message of each topic. A topic that is far ahead of the other one waits.
    pub(super) fn step(&mut self, consumers: &[Reader; 2]) -> Result<(), Error> {
        let mut is_read = false;
        if self.feed.waiting() < MOST_WAITING {
            is_read = self.poll(consumers, Topic::Checkpoints, Duration::ZERO)?;
        }
        if !is_read || self.feed.size() < MOST_GATHERED {
            let wait = if is_read { Duration::ZERO } else { POLL };
            is_read |= self.poll(consumers, Topic::Events, wait)?;
        }
        if !is_read && self.feed.waiting() >= MOST_WAITING {
            is_read = self.poll(consumers, Topic::Checkpoints, Duration::ZERO)?;
        }
        if !is_read && self.since.is_none() && self.quiet.elapsed() >= QUIET {
            self.quiet = Instant::now();
            self.settle(consumers);
        }
        Ok(())
    }

    /// Processes the next message of a topic. Returns whether there was one.
    fn poll(
        &mut self,
        consumers: &[Reader; 2],
        topic: Topic,
        wait: Duration,
    ) -> Result<bool, Error> {
        let polled = consumers[topic as usize].poll(wait);
        if matches!(polled, Some(Ok(_) | Err(KafkaError::PartitionEOF(_)))) {
            self.heard = Instant::now();
        }
        match polled {
            None => {}
            Some(Ok(message)) => {
                self.quiet = Instant::now();
                (self.is_reported, self.is_settled) = (false, false);
                self.since.get_or_insert_with(Instant::now);
                if topic == Topic::Events {
                    self.lag.read(&message);
                }
                self.take(topic, &message)?;
                return Ok(true);
            }
            Some(Err(KafkaError::PartitionEOF(partition))) => {
                self.is_reported = false;
                if topic == Topic::Events {
                    self.lag.at_end(partition);
                }
                self.quarantine.caught_up(topic, partition);
                let moved = self.offsets[topic as usize].at_end(partition).then(Instant::now);
                self.since = self.since.or(moved);
            }
            Some(Err(KafkaError::MessageConsumption(AutoOffsetReset))) => {
                return Err(Error::DeletedMeanwhile);
            }
            // The group has a name only because the client requires one: no right to join it is needed.
            Some(Err(KafkaError::MessageConsumption(GroupAuthorizationFailed))) => {}
            Some(Err(error @ KafkaError::MessageConsumptionFatal(_))) => {
                return Err(Error::Cluster { doing: "read events".to_owned(), error });
            }
            Some(Err(error)) if !mem::replace(&mut self.is_reported, true) => {
                report(&format!("{error}; waiting for the brokers"));
            }
            Some(Err(_)) => {}
        }
        Ok(false)
    }

    /// Moves the offsets to the ends of the partitions, if no messages arrive. Events and checkpoints that still wait
    /// for each other then wait in vain: a transaction commits both, and no transaction is open.
    fn settle(&mut self, consumers: &[Reader; 2]) {
        let both = self.offsets.iter_mut().zip(consumers);
        both.for_each(|(offsets, consumer)| offsets.settle(consumer));
        if mem::take(&mut self.is_settled) {
            for (source, partition, reason) in self.feed.incomplete() {
                self.refuse(&source, partition, None, &reason);
                self.since.get_or_insert_with(Instant::now);
            }
        } else if self.feed.waiting() > 0 || self.feed.size() > 0 {
            let open = self.offsets.iter().zip(consumers);
            let mut open = open.map(|(offsets, consumer)| {
                offsets.has_open_transactions(consumer, &self.client).unwrap_or(true)
            });
            self.is_settled = !open.any(|is_open| is_open);
        }
    }

    /// Adds a message to the data to be committed.
    fn take(&mut self, topic: Topic, message: &impl Message) -> Result<(), Error> {
        let (partition, offset) = (message.partition(), message.offset());
        let begun = self.offsets[topic as usize].begun(partition);
        if offset >= begun {
            self.quarantine.caught_up(topic, partition);
        }
        self.offsets[topic as usize].read(partition, offset + 1);
        let Some(source) = Feed::source(message) else {
            if offset >= begun {
                report(&format!("partition {partition}, offset {offset}: not an event; skipped"));
            }
            return Ok(());
        };
        if !self.quarantine.admits(topic, &source, (offset, begun)) {
            self.gaps += u64::from(offset >= begun && topic == Topic::Events);
            return Ok(());
        }
        if self.forgotten.contains(&source) {
            return Ok(());
        }
        if !self.feed.knows(&source) {
            let stored = self.database.load(&source)?;
            // Every other position has a line.
            let has_none = stored.as_ref().is_some_and(|stored| stored.position.line == 0);
            if has_none && self.is_forgotten(&source)? {
                return Ok(());
            }
            self.feed.begin(&source, partition, stored);
        }
        let fed = match topic {
            Topic::Events if self.quarantine.skips(&source, offset) => {
                self.feed.skip(&source);
                FeedResult::Nothing
            }
            Topic::Events => self.feed.event(source, message),
            Topic::Checkpoints => self.feed.checkpoint(source, message),
        };
        match fed {
            FeedResult::Nothing => {}
            FeedResult::Unreadable(source, reason) => {
                let at = (topic == Topic::Events).then_some(offset);
                self.refuse(&source, partition, at, &reason);
            }
            FeedResult::Segment(segment) => {
                let Segment { commit, records } = *segment;
                self.pending_size += commit.output.size();
                let records = records.map(|records| (commit.source.clone(), records));
                self.records.extend(records);
                self.partitions.insert(commit.source.clone(), partition);
                self.pending.push(commit);
            }
        }
        Ok(())
    }
}
