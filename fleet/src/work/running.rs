//! [`Running`]: a lane on a thread of its own.

use std::{
    mem,
    panic::resume_unwind,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rdkafka::{
    Offset, TopicPartitionList,
    consumer::{CommitMode, Consumer, base_consumer::PartitionQueue},
    error::KafkaError,
};

use super::{
    group::{Group, POLL},
    lane::{Lane, Progress, Shared},
};
use crate::{error::Error, ledger::KafkaLedgerError, say::say};

/// How long the cluster may take to go to another offset.
const SEEK: Duration = Duration::from_secs(10);

/// How long to wait before it is asked again.
const AGAIN: Duration = Duration::from_millis(50);

/// What a lane is to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// Go on.
    Fold,
    /// Commit what is folded, and end.
    Conclude,
    /// End. What is not committed is folded by the next owner.
    Abandon,
}

/// A lane that a thread folds, from taking the partition over to its end.
pub(super) struct Running {
    thread: JoinHandle<Result<(), Error>>,
    link: Arc<Link>,
}

/// What the thread of a lane and that of the worker tell each other.
struct Link {
    order: AtomicU8,
    progress: Mutex<Progress>,
}

impl Running {
    pub(super) fn start(shared: &Arc<Shared>, partition: i32) -> Self {
        let order = AtomicU8::new(Order::Fold as u8);
        let link = Arc::new(Link { order, progress: Mutex::default() });
        let (shared, theirs) = (shared.clone(), link.clone());
        let thread = thread::spawn(move || fold(&shared, partition, &theirs));
        Self { thread, link }
    }

    /// How far it has come.
    pub(super) fn progress(&self) -> Progress {
        *self.link.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells it what to do; it does so once it has folded the message at hand, or at the end of a commit.
    pub(super) fn order(&self, order: Order) {
        self.link.order.store(order as u8, Ordering::Relaxed);
    }

    pub(super) fn is_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for its end.
    pub(super) fn join(self) -> Result<(), Error> {
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Link {
    fn is_ordered(&self, order: Order) -> bool {
        self.order.load(Ordering::Relaxed) == order as u8
    }

    fn tell(&self, lane: &Lane) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = lane.progress();
    }
}

/// Takes a partition over, and folds it until told otherwise.
fn fold(shared: &Shared, partition: i32, link: &Link) -> Result<(), Error> {
    let mut lane = Lane::take_over(shared, partition)?;
    let queue = queue(shared, partition, lane.start()?)?;
    link.tell(&lane);
    let mut is_told = false;
    while link.is_ordered(Order::Fold) {
        let mut is_idle = false;
        match queue.poll(POLL) {
            None => is_idle = true,
            Some(Ok(message)) => {
                is_told = false;
                lane.take(shared, &message)?;
            }
            Some(Err(error @ KafkaError::MessageConsumptionFatal(_))) => {
                return Err(Error::Cluster { doing: "read logs".to_owned(), error });
            }
            Some(Err(error)) if !mem::replace(&mut is_told, true) => {
                say(&format!("partition {partition}: {error}; waiting for the brokers"));
            }
            Some(Err(_)) => {}
        }
        if lane.is_due(shared, is_idle) {
            commit(shared, partition, &mut lane)?;
            link.tell(&lane);
        }
    }
    if link.is_ordered(Order::Conclude) {
        commit(shared, partition, &mut lane)?;
    }
    link.tell(&lane);
    Ok(())
}

/// The messages of a partition, from an offset on.
fn queue(shared: &Shared, partition: i32, start: Offset) -> Result<PartitionQueue<Group>, Error> {
    let fail = |error| {
        let doing = "go to where a partition was left";
        Error::KafkaLedger(KafkaLedgerError::Cluster { doing, error })
    };
    let Shared { consumer, topics, .. } = shared;
    let Some(queue) = consumer.split_partition_queue(&topics.logs, partition) else {
        return Err(fail(KafkaError::Seek("there is no such partition".to_owned())));
    };
    let begun = Instant::now();
    // The client may not have begun to read a partition that it was just given.
    while let Err(error) = consumer.seek(&topics.logs, partition, start, SEEK) {
        if begun.elapsed() >= SEEK {
            return Err(fail(error));
        }
        thread::sleep(AGAIN);
    }
    Ok(queue)
}

/// Commits what was folded, and tells the group how far that is, for those who ask how much waits. Nothing depends on
/// the latter: the offset that counts is in the transaction, as a mark of the ledger. (A transaction can commit
/// offsets of a group, too, but librdkafka waits for ever for that when the group's coordinator is lost at the wrong
/// moment.)
fn commit(shared: &Shared, partition: i32, lane: &mut Lane) -> Result<(), Error> {
    let Some(next) = lane.commit(shared)? else { return Ok(()) };
    let mut offsets = TopicPartitionList::new();
    let told = offsets
        .add_partition_offset(&shared.topics.logs, partition, Offset::Offset(next))
        .and_then(|()| shared.consumer.commit(&offsets, CommitMode::Async));
    if let Err(error) = told {
        tracing::debug!(%error, partition, "the group does not know how far it was folded");
    }
    Ok(())
}
