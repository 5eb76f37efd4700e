//! [`Group`]: the worker as a member of a consumer group; [`Shared`]: what its lanes share.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use foldline_agents::Registry;
use rdkafka::{
    ClientConfig, ClientContext, Statistics,
    consumer::{BaseConsumer, Consumer, ConsumerContext, Rebalance},
    error::KafkaError,
    topic_partition_list::TopicPartitionListElem,
};

use crate::{
    error::{Error, locked},
    ledger::Cluster,
    settings::Topics,
};

/// Timeout of a poll for messages.
pub(super) const POLL: Duration = Duration::from_millis(50);

/// Partitions that were assigned or revoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Given(BTreeSet<i32>),
    Taken(BTreeSet<i32>),
}

/// Stores the decisions of the group until the worker's loop handles them.
#[derive(Default)]
pub(super) struct Group {
    changes: Mutex<Vec<Change>>,
    /// The topic of logs.
    topic: String,
    /// The ends of its partitions.
    ends: Mutex<BTreeMap<i32, i64>>,
}

impl Group {
    /// Joins the group of this name.
    pub(super) fn join(
        client: &ClientConfig,
        group: &str,
        topic: &str,
    ) -> Result<Arc<BaseConsumer<Self>>, Error> {
        let mut config = client.clone();
        config
            .set("group.id", group)
            .set("enable.auto.commit", "false")
            .set("statistics.interval.ms", "2000")
            .set("auto.offset.reset", "earliest")
            .set("isolation.level", "read_committed")
            .set("partition.assignment.strategy", "cooperative-sticky");
        let mut set_default = |name, value: &str| {
            if client.get(name).is_none() {
                config.set(name, value);
            }
        };
        // The prefetch limit of each partition.
        set_default("queued.max.messages.kbytes", "2048");
        // How long fetching pauses when that limit is reached. The default of a second is much longer than folding
        // the prefetched data takes.
        set_default("fetch.queue.backoff.ms", "10");
        let doing = || "join the group of workers".to_owned();
        let member = Self { topic: topic.to_owned(), ..Self::default() };
        let fail = |error| Error::Cluster { doing: doing(), error };
        let consumer: BaseConsumer<Self> = config.create_with_context(member).map_err(fail)?;
        consumer.subscribe(&[topic]).map_err(fail)?;
        Ok(consumer.into())
    }

    /// The latest known ends of the partitions of logs.
    pub(super) fn ends(&self) -> BTreeMap<i32, i64> {
        locked(&self.ends).clone()
    }

    /// The decisions since the last call, in order.
    pub(super) fn changes(&self) -> Vec<Change> {
        std::mem::take(&mut *locked(&self.changes))
    }
}

impl ClientContext for Group {
    fn stats(&self, statistics: Statistics) {
        let Some(topic) = statistics.topics.get(&self.topic) else { return };
        let known = topic.partitions.values().filter(|partition| partition.ls_offset >= 0);
        let ends = known.map(|partition| (partition.partition, partition.ls_offset));
        locked(&self.ends).extend(ends);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::warn!(%error, reason, "the brokers have a problem");
    }
}

impl ConsumerContext for Group {
    fn post_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let (Rebalance::Assign(partitions) | Rebalance::Revoke(partitions)) = rebalance else {
            return;
        };
        let numbers = partitions.elements().iter().map(TopicPartitionListElem::partition).collect();
        let change = match rebalance {
            Rebalance::Assign(_) => Change::Given(numbers),
            _ => Change::Taken(numbers),
        };
        locked(&self.changes).push(change);
    }
}

/// Bytes of logs that all lanes of a worker together fold before they commit: this bounds its memory.
const BYTES: usize = 16 << 20;

/// The minimum and maximum share of one lane.
const BYTES_SHARE: RangeInclusive<usize> = 512 << 10..=4 << 20;

/// The number of sources that all lanes of a worker keep in memory; the others are restored from their stored states.
const OPEN: usize = 16 << 10;

/// The minimum and maximum share of one lane.
const OPEN_SHARE: RangeInclusive<usize> = 64..=8 << 10;

/// Data shared by the lanes of a worker.
pub(super) struct Shared {
    pub(super) registry: Registry,
    pub(super) cluster: Cluster,
    pub(super) consumer: Arc<BaseConsumer<Group>>,
    pub(super) topics: Topics,
    /// Whether patches are produced.
    pub(super) patches: bool,
    /// Whether states that this program cannot read are rebuilt.
    pub(super) rebuild: bool,
    /// How long complete sources are remembered.
    pub(super) expire: Option<Duration>,
    /// Prefix of the transactional ids.
    pub(super) group: String,
    /// The number of lanes.
    pub(super) lanes: AtomicUsize,
}

impl Shared {
    /// The number of bytes of logs after which a lane commits.
    pub(super) fn bytes(&self) -> usize {
        self.share(BYTES, &BYTES_SHARE)
    }

    /// The number of sources that a lane keeps in memory.
    pub(super) fn open(&self) -> usize {
        self.share(OPEN, &OPEN_SHARE)
    }

    fn share(&self, all: usize, within: &RangeInclusive<usize>) -> usize {
        let lanes = self.lanes.load(Ordering::Relaxed).max(1);
        (all / lanes).clamp(*within.start(), *within.end())
    }
}
