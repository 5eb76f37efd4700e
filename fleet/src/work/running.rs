//! [`Running`]: a lane on a separate thread.

use std::{
    mem,
    panic::resume_unwind,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rdkafka::{
    Offset,
    consumer::{CommitMode, Consumer, base_consumer::PartitionQueue},
    error::KafkaError,
};

use super::{
    figures::Progress,
    group::{Group, POLL, Shared},
    lane::Lane,
};
use crate::{
    connection::report_offsets,
    error::{Error, locked, report},
    ledger::KafkaLedgerError,
};

/// Timeout of a seek.
const SEEK: Duration = Duration::from_secs(10);

/// The delay before a seek is retried.
const AGAIN: Duration = Duration::from_millis(50);

/// An order to a lane.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// Continue.
    Fold,
    /// Commit folded data and all states, and end.
    Conclude,
}

/// A lane and its thread, from taking over the partition to its end.
pub(super) struct Running {
    thread: JoinHandle<Result<(), Error>>,
    link: Arc<Link>,
}

/// Data exchanged between the threads of a lane and of the worker.
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

    /// The progress of the lane.
    pub(super) fn progress(&self) -> Progress {
        *locked(&self.link.progress)
    }

    /// Gives an order; it is executed after the current message, or after the current commit.
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

    fn publish(&self, lane: &Lane) {
        *locked(&self.progress) = lane.progress();
    }
}

/// Takes over a partition, and folds it until told to stop.
fn fold(shared: &Shared, partition: i32, link: &Link) -> Result<(), Error> {
    let mut lane = Lane::take_over(shared, partition)?;
    let queue = queue(shared, partition, lane.start(shared)?)?;
    link.publish(&lane);
    let next = lane.commit(shared)?;
    report_offset(shared, partition, next);
    let mut is_reported = false;
    while link.is_ordered(Order::Fold) {
        let mut is_idle = false;
        match queue.poll(POLL) {
            None => is_idle = true,
            Some(Ok(message)) => {
                is_reported = false;
                lane.take(shared, &message)?;
            }
            Some(Err(error @ KafkaError::MessageConsumptionFatal(_))) => {
                return Err(Error::Cluster { doing: "read logs".to_owned(), error });
            }
            Some(Err(error)) if !mem::replace(&mut is_reported, true) => {
                report(&format!("partition {partition}: {error}; waiting for the brokers"));
            }
            Some(Err(_)) => {}
        }
        if lane.is_due(shared, is_idle) {
            let next = lane.commit(shared)?;
            report_offset(shared, partition, next);
            link.publish(&lane);
        }
    }
    if link.is_ordered(Order::Conclude) {
        let next = lane.conclude()?;
        report_offset(shared, partition, next);
    }
    link.publish(&lane);
    Ok(())
}

/// The messages of a partition, starting at an offset.
fn queue(shared: &Shared, partition: i32, start: Offset) -> Result<PartitionQueue<Group>, Error> {
    let fail = |error| {
        let doing = "seek to the stored offset of a partition";
        Error::KafkaLedger(KafkaLedgerError::Cluster { doing, error })
    };
    let Shared { consumer, topics, .. } = shared;
    let Some(queue) = consumer.split_partition_queue(&topics.logs, partition) else {
        return Err(fail(KafkaError::Seek("there is no such partition".to_owned())));
    };
    let begun = Instant::now();
    // The client may not have started to fetch a partition that was just assigned.
    while let Err(error) = consumer.seek(&topics.logs, partition, start, SEEK) {
        if begun.elapsed() >= SEEK {
            return Err(fail(error));
        }
        thread::sleep(AGAIN);
    }
    Ok(queue)
}

/// Reports the folded offset to the group.
fn report_offset(shared: &Shared, partition: i32, next: Option<i64>) {
    let next = next.map(|next| (partition, next));
    report_offsets(&shared.topics.logs, &shared.consumer, next, CommitMode::Async);
}
