//! [`ShipperStatus`]: what shippers report about themselves.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig, Message, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer},
    error::{KafkaError, KafkaResult},
};
use serde::Serialize;

use crate::{
    connection::WAIT,
    error::Error,
    exporter::{Heartbeat, now},
};

/// Timeout of a poll for messages.
const POLL: Duration = Duration::from_millis(100);

/// Whether a shipper runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Liveness {
    /// It has not reported for too long, and has not ended: it has died, or cannot reach the brokers.
    Silent,
    Reporting,
    Ended,
}

impl Liveness {
    pub(super) const ALL: [Self; 3] = [Self::Silent, Self::Reporting, Self::Ended];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Reporting => "reporting",
            Self::Ended => "ended",
        }
    }
}

/// The last report of a shipper.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ShipperStatus {
    pub(super) name: String,
    pub(super) state: Liveness,
    /// Seconds since the report.
    pub(super) age: f64,
    #[serde(flatten)]
    pub(super) heartbeat: Heartbeat,
}

impl ShipperStatus {
    fn new(name: String, heartbeat: Heartbeat, silence: Duration) -> Self {
        let age = (now() - heartbeat.at).max(0) as f64 / 1000.0;
        let state = match heartbeat.ended {
            true => Liveness::Ended,
            false if age > silence.as_secs_f64() => Liveness::Silent,
            false => Liveness::Reporting,
        };
        Self { name, state, age, heartbeat }
    }

    /// Whether an operator has to look at it.
    pub(super) fn is_alarming(&self) -> bool {
        let Heartbeat { unreadable, hole_count, .. } = self.heartbeat;
        self.state == Liveness::Silent || unreadable > 0 || hole_count > 0
    }
}

/// Reads the last report of each shipper; the silent ones come first. A shipper that has reported nothing for the time
/// `silence` is silent.
pub(super) fn shippers(
    client: &ClientConfig,
    topic: &str,
    partitions: i32,
    silence: Duration,
) -> Result<Vec<ShipperStatus>, Error> {
    let failed = |error| Error::Cluster { doing: format!("read the topic {topic}"), error };
    let latest = latest(client, topic, partitions).map_err(failed)?;
    let heartbeat = |(name, value): (Vec<u8>, Vec<u8>)| {
        let heartbeat = serde_json::from_slice(&value).ok()?;
        let name = String::from_utf8_lossy(&name).into_owned();
        Some(ShipperStatus::new(name, heartbeat, silence))
    };
    let mut all: Vec<_> = latest.into_iter().filter_map(heartbeat).collect();
    all.sort_by(|a, b| {
        (a.state, !a.is_alarming(), &a.name).cmp(&(b.state, !b.is_alarming(), &b.name))
    });
    Ok(all)
}

/// The last value of each key of a topic.
fn latest(
    client: &ClientConfig,
    topic: &str,
    partitions: i32,
) -> KafkaResult<BTreeMap<Vec<u8>, Vec<u8>>> {
    let mut config = client.clone();
    config
        // A consumer needs a group name, even if it never joins the group.
        .set("group.id", "foldline-status")
        .set("enable.auto.commit", "false")
        .set("enable.partition.eof", "true");
    let consumer: BaseConsumer = config.create()?;
    let mut from = TopicPartitionList::new();
    for partition in 0..partitions {
        from.add_partition_offset(topic, partition, Offset::Beginning)?;
    }
    consumer.assign(&from)?;
    let (mut latest, mut ended, mut heard) = (BTreeMap::new(), 0, Instant::now());
    while ended < partitions {
        match consumer.poll(POLL) {
            Some(Ok(message)) => {
                heard = Instant::now();
                let key = message.key().unwrap_or_default().to_vec();
                match message.payload() {
                    Some(value) => drop(latest.insert(key, value.to_vec())),
                    None => drop(latest.remove(&key)),
                }
            }
            Some(Err(KafkaError::PartitionEOF(_))) => ended += 1,
            // A partition may have no leader at present.
            Some(Err(error)) if heard.elapsed() >= WAIT => return Err(error),
            None if heard.elapsed() >= WAIT => break,
            Some(Err(_)) | None => {}
        }
    }
    Ok(latest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shipper_is_silent_only_while_it_should_report() {
        let status = |age: i64, ended| {
            let heartbeat = Heartbeat { at: now() - age * 1000, ended, ..Heartbeat::default() };
            ShipperStatus::new("host/1".to_owned(), heartbeat, Duration::from_secs(90)).state
        };
        assert_eq!(status(60, false), Liveness::Reporting);
        assert_eq!(status(120, false), Liveness::Silent);
        assert_eq!(status(120, true), Liveness::Ended);
        // The clock of its machine is ahead.
        assert_eq!(status(-500, false), Liveness::Reporting);
    }
}
