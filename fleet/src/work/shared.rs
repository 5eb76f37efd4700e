//! [`Shared`]: what the lanes of a worker share.

use std::{
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use foldline_agents::Registry;
use rdkafka::consumer::BaseConsumer;

use super::group::Group;
use crate::{ledger::Cluster, topics::Topics};

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
