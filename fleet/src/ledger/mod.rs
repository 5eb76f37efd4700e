//! [`KafkaLedger`]: the commit rule on Apache Kafka and compatible brokers.
//!
//! A commit is one transaction: messages of the outputs, the states of the sources to a compacted topic, and the
//! input offset as a mark, all of them or none (KIP-98). Readers with `isolation.level=read_committed` see nothing of
//! an uncommitted transaction.
//!
//! The broker does not compare positions. A partition of states has one owner at a time, by its `transactional.id`:
//! opening the ledger fences the previous owner, aborts its open transaction, and reads the states to their end. The
//! ledger's copy therefore equals the stored states, and positions are compared with this copy.

mod error;
mod restore;
mod stored;

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
    time::{Duration, Instant},
};

use foldline::ledger::{Checkpoint, Commit, CommitError, Ledger, Mark, SourceName};
use foldline_domain::{Json, Position};
use rdkafka::{
    ClientConfig,
    consumer::BaseConsumer,
    error::{KafkaError, RDKafkaErrorCode},
    message::{Header, OwnedHeaders},
    producer::{BaseProducer, BaseRecord, Producer},
};

use self::{
    restore::PATIENCE,
    stored::{PART, Stored},
};
use crate::error::locked;

pub use self::{
    error::KafkaLedgerError,
    stored::{Message, Place},
};

/// Timeout of one attempt.
const ATTEMPT: Duration = Duration::from_secs(10);

/// The number of partitions whose states are read at the same time.
const READERS: usize = 4;

/// The name of the [`Mark`] that holds the offset of the next input message.
pub const INPUT: &str = "input";

/// A cluster, for the ledgers that a process opens there.
pub struct Cluster {
    client: ClientConfig,
    /// A few readers for all partitions: a consumer needs half a second before it reads at all.
    readers: Vec<Mutex<BaseConsumer>>,
}

impl Cluster {
    /// A cluster with this client configuration (`bootstrap.servers` and the like).
    ///
    /// # Errors
    /// The configuration is invalid. Nothing is sent yet.
    pub fn new(client: &ClientConfig) -> Result<Self, KafkaLedgerError> {
        let mut readers = Vec::with_capacity(READERS);
        for _ in 0..READERS {
            readers.push(Mutex::new(restore::reader(client)?));
        }
        Ok(Self { client: client.clone(), readers })
    }

    /// Reads the stored states at a place without taking it over: no owner is fenced, and uncommitted data of the
    /// owner is not visible.
    ///
    /// # Errors
    /// The cluster cannot be reached.
    pub fn states(&self, place: &Place) -> Result<States, KafkaLedgerError> {
        let restore::Restored { sources, marks, mut damaged } = self.read(place)?;
        let mut checkpoints = HashMap::new();
        for (source, stored) in sources {
            match stored.read(&source) {
                Ok(checkpoint) => drop(checkpoints.insert(source, checkpoint)),
                Err(KafkaLedgerError::Damaged { reason, .. }) => {
                    damaged.insert(source, reason);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(States { checkpoints, marks, damaged })
    }

    /// Passes the key and the value of each message of a partition to `each`, in their order; a removed key has no
    /// value. Open transactions are not waited for.
    ///
    /// # Errors
    /// The cluster cannot be reached.
    pub fn read_topic(
        &self,
        place: &Place,
        mut each: impl FnMut(&[u8], Option<&[u8]>),
    ) -> Result<(), KafkaLedgerError> {
        restore::each(&self.reader(place), place, |key, value, _| each(key, value))
    }

    /// A reader for a place.
    fn reader(&self, place: &Place) -> MutexGuard<'_, BaseConsumer> {
        let number = usize::try_from(place.partition).unwrap_or_default() % self.readers.len();
        locked(&self.readers[number])
    }

    fn read(&self, place: &Place) -> Result<restore::Restored, KafkaLedgerError> {
        restore::read(&self.reader(place), place)
    }
}

/// The stored states of a [`KafkaLedger`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct States {
    /// The checkpoints of the sources.
    pub checkpoints: HashMap<SourceName, Checkpoint>,
    /// The states of the [`Mark`]s, by name.
    pub marks: HashMap<String, Json>,
    /// The sources whose states cannot be read, and why.
    pub damaged: HashMap<SourceName, String>,
}

impl std::fmt::Debug for Cluster {
    /// Prints no fields, because the configuration contains secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").finish_non_exhaustive()
    }
}

/// Additions to a [commit](KafkaLedger::commit_with).
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra<'a> {
    /// Output of sources whose stored state remains where it is. The next owner of such a source makes this output again,
    /// and has to recognise it.
    pub ahead: &'a [Message],
    /// Sources whose states are removed.
    pub removed: &'a [SourceName],
}

/// A ledger whose engine is a Kafka cluster.
///
/// Sent messages cannot be retracted: after [`forget`](Ledger::forget) the outputs of the source remain.
pub struct KafkaLedger {
    producer: BaseProducer,
    place: Place,
    sources: HashMap<SourceName, Stored>,
    marks: HashMap<String, Json>,
    /// Sources whose states cannot be read. They can neither be loaded nor committed, and do not affect others.
    damaged: HashMap<SourceName, String>,
    has_failed: bool,
}

impl std::fmt::Debug for KafkaLedger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KafkaLedger")
            .field("place", &self.place)
            .field("sources", &self.sources.len())
            .finish_non_exhaustive()
    }
}

impl KafkaLedger {
    /// Opens the ledger whose states are at `place`. Any other ledger with this `transactional_id` is fenced: each
    /// place needs a separate id.
    ///
    /// # Errors
    /// The cluster cannot be reached.
    pub fn open(
        cluster: &Cluster,
        place: Place,
        transactional_id: &str,
    ) -> Result<Self, KafkaLedgerError> {
        let mut config = cluster.client.clone();
        config
            .set("transactional.id", transactional_id)
            .set("enable.idempotence", "true")
            .set("acks", "all")
            .set("compression.type", "zstd")
            .set("linger.ms", "5");
        let fail = KafkaLedgerError::of("create a producer");
        let producer: BaseProducer = config.create().map_err(fail)?;
        let fail = KafkaLedgerError::of("take over from the previous owner");
        patiently(|| producer.init_transactions(ATTEMPT)).map_err(fail)?;
        let restore::Restored { sources, marks, damaged } = cluster.read(&place)?;
        Ok(Self { producer, place, sources, marks, damaged, has_failed: false })
    }

    /// The names of the sources whose states have missing parts.
    pub fn damaged(&self) -> impl Iterator<Item = &SourceName> {
        self.damaged.keys()
    }

    /// The names of the known sources.
    pub fn sources(&self) -> impl ExactSizeIterator<Item = &SourceName> {
        self.sources.keys()
    }

    /// Whether there is a stored state of a source.
    pub fn has(&self, source: &SourceName) -> bool {
        self.sources.contains_key(source)
    }

    /// The position of the stored state of a source; `None` if there is none, or if only the state itself says it.
    pub fn position(&self, source: &SourceName) -> Option<Position> {
        self.sources.get(source)?.position
    }

    /// The complete sources whose states were stored before a time, with the time when they were stored, in
    /// milliseconds since 1970; at most this many.
    pub fn complete_before(&self, time: i64, most: usize) -> Vec<(SourceName, i64)> {
        let is_old = |stored: &Stored| stored.is_complete && stored.at < time;
        let old = self.sources.iter().filter(|(_, stored)| is_old(stored));
        old.map(|(source, stored)| (source.clone(), stored.at)).take(most).collect()
    }

    fn ensure_readable(&self, source: &SourceName) -> Result<(), KafkaLedgerError> {
        match self.damaged.get(source) {
            None => Ok(()),
            Some(reason) => {
                let (name, reason) = (source.to_string(), reason.clone());
                Err(KafkaLedgerError::Damaged { name, reason })
            }
        }
    }

    /// Commits like a [`Ledger`], together with messages and removals that do not belong to a segment.
    ///
    /// # Errors
    /// As for [`Ledger::commit`].
    pub fn commit_with(
        &mut self,
        commits: &[Commit<Vec<Message>>],
        Extra { ahead, removed }: Extra<'_>,
        beside: &[Mark],
    ) -> Result<(), CommitError<KafkaLedgerError>> {
        self.compare(commits)?;
        let mut latest = HashMap::new();
        for Commit { source, checkpoint, .. } in commits {
            latest.insert(source, checkpoint);
        }
        let mut states = Vec::new();
        for (source, checkpoint) in latest {
            states.push((source, Stored::of(source, checkpoint)?));
        }
        self.transact(|ledger| {
            let outputs = commits.iter().flat_map(|commit| &commit.output);
            outputs.chain(ahead).try_for_each(|message| ledger.send(message))?;
            states.iter().try_for_each(|(source, state)| ledger.send_state(source, state))?;
            removed.iter().try_for_each(|source| ledger.send_removal(source))?;
            beside.iter().try_for_each(|mark| ledger.send_mark(mark))
        })?;
        self.sources.extend(states.into_iter().map(|(source, state)| (source.clone(), state)));
        removed.iter().for_each(|it| drop((self.sources.remove(it), self.damaged.remove(it))));
        self.marks.extend(beside.iter().map(|mark| (mark.name.clone(), mark.state.clone())));
        Ok(())
    }

    /// Checks that every commit begins at the stored position of its source.
    fn compare(
        &self,
        commits: &[Commit<Vec<Message>>],
    ) -> Result<(), CommitError<KafkaLedgerError>> {
        let mut standing = HashMap::<&SourceName, Option<Position>>::new();
        for Commit { source, expected, checkpoint, .. } in commits {
            self.ensure_readable(source)?;
            let stored = match standing.get(source) {
                Some(position) => *position,
                None => match self.sources.get(source) {
                    Some(known) => Some(known.position(source)?),
                    None => None,
                },
            };
            if stored != *expected {
                let (source_name, expected) = (source.clone(), *expected);
                return Err(CommitError::Moved { source_name, expected, stored });
            }
            standing.insert(source, Some(checkpoint.position));
        }
        Ok(())
    }

    /// Runs a transaction that consists of the messages that `send` sends.
    fn transact(
        &mut self,
        send: impl FnOnce(&Self) -> Result<(), KafkaError>,
    ) -> Result<(), KafkaLedgerError> {
        if self.has_failed {
            return Err(KafkaLedgerError::Failed);
        }
        // Until the transaction has completed, its outcome is unknown: only reopening the ledger reveals it.
        self.has_failed = true;
        let fail = KafkaLedgerError::of;
        self.producer.begin_transaction().map_err(fail("begin a transaction"))?;
        let ended = self.send_and_commit(send);
        if ended.is_err() {
            // A fenced ledger has nothing to abort, and the next owner aborts any remaining transaction.
            let _ = self.producer.abort_transaction(ATTEMPT);
        }
        ended?;
        self.has_failed = false;
        Ok(())
    }

    fn send_and_commit(
        &self,
        send: impl FnOnce(&Self) -> Result<(), KafkaError>,
    ) -> Result<(), KafkaLedgerError> {
        let fail = KafkaLedgerError::of;
        send(self).map_err(fail("send messages"))?;
        self.flush().map_err(fail("send messages"))?;
        patiently(|| self.producer.commit_transaction(ATTEMPT)).map_err(fail("commit"))
    }

    /// Waits until the brokers have received everything. The client's own flush polls only ten times a second.
    fn flush(&self) -> Result<(), KafkaError> {
        let begun = Instant::now();
        while self.producer.in_flight_count() > 0 && begun.elapsed() < PATIENCE {
            self.producer.poll(Duration::from_millis(1));
        }
        self.producer.flush(Duration::ZERO)
    }

    fn send(&self, message: &Message) -> Result<(), KafkaError> {
        let Message { topic, partition, key, value, .. } = message;
        let mut record = BaseRecord::to(topic).key(key).headers(message.headers());
        (record.partition, record.payload) = (*partition, value.as_ref());
        self.enqueue(record)
    }

    /// Enqueues a record, once there is room for it.
    fn enqueue(&self, mut record: BaseRecord<'_, Vec<u8>, Vec<u8>>) -> Result<(), KafkaError> {
        loop {
            record = match self.producer.send(record) {
                Ok(()) => return Ok(()),
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), record)) => record,
                Err((error, _)) => return Err(error),
            };
            self.producer.poll(Duration::from_millis(10));
        }
    }

    /// Sends the state of a source, in parts if it is long; surplus parts of an earlier, longer state are removed.
    fn send_state(&self, source: &SourceName, state: &Stored) -> Result<(), KafkaError> {
        let before = self.sources.get(source).map_or(0, |stored| stored.parts);
        let position = state.position.unwrap_or_default();
        let position = format!("{}:{}", position.line, position.offset);
        let (count, topic) = (state.parts.to_string(), &self.place.topic);
        for (index, part) in state.checkpoint.chunks(PART).enumerate() {
            let header = |key, value| Header { key, value: Some(value) };
            let mut headers = OwnedHeaders::new().insert(header(restore::PARTS, &count));
            headers = headers.insert(header(restore::POSITION, &position));
            if state.is_complete {
                headers = headers.insert(Header { key: restore::COMPLETE, value: Some("1") });
            }
            let (key, part) = (restore::key_of_part(source, index), part.to_vec());
            let record = BaseRecord::to(topic)
                .partition(self.place.partition)
                .key(&key)
                .payload(&part)
                .headers(headers);
            self.enqueue(record)?;
        }
        (state.parts..before)
            .try_for_each(|index| self.remove(&restore::key_of_part(source, index)))
    }

    /// Removes the state of a source.
    fn send_removal(&self, source: &SourceName) -> Result<(), KafkaError> {
        let parts = self.sources.get(source).map_or(1, |stored| stored.parts);
        (0..parts).try_for_each(|index| self.remove(&restore::key_of_part(source, index)))
    }

    fn send_mark(&self, Mark { name, state }: &Mark) -> Result<(), KafkaError> {
        let (key, value) = (restore::key_of_mark(name), state.get().as_bytes().to_vec());
        let record = BaseRecord::to(&self.place.topic)
            .partition(self.place.partition)
            .key(&key)
            .payload(&value);
        self.enqueue(record)
    }

    /// Sends a tombstone.
    fn remove(&self, key: &Vec<u8>) -> Result<(), KafkaError> {
        self.enqueue(BaseRecord::to(&self.place.topic).partition(self.place.partition).key(key))
    }
}

/// Retries retriable errors for a while.
fn patiently(mut attempt: impl FnMut() -> Result<(), KafkaError>) -> Result<(), KafkaError> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Err(KafkaError::Transaction(error))
                if error.is_retriable() && begun.elapsed() < PATIENCE => {}
            ended => return ended,
        }
    }
}

impl Ledger for KafkaLedger {
    type Output = Vec<Message>;
    type Receipt = ();
    type Error = KafkaLedgerError;

    fn load(&mut self, source: &SourceName) -> Result<Option<Checkpoint>, KafkaLedgerError> {
        self.ensure_readable(source)?;
        self.sources.get(source).map(|stored| stored.read(source)).transpose()
    }

    /// Messages are sent in the order of the commits. After any error except [`CommitError::Moved`] the ledger must
    /// be [reopened](KafkaLedger::open).
    fn commit(
        &mut self,
        commits: &[Commit<Vec<Message>>],
        beside: &[Mark],
    ) -> Result<(), CommitError<KafkaLedgerError>> {
        self.commit_with(commits, Extra::default(), beside)
    }

    fn mark(&mut self, name: &str) -> Result<Option<Json>, KafkaLedgerError> {
        Ok(self.marks.get(name).cloned())
    }

    fn forget(&mut self, source: &SourceName) -> Result<bool, KafkaLedgerError> {
        if !self.sources.contains_key(source) {
            return Ok(false);
        }
        self.transact(|ledger| ledger.send_removal(source))?;
        self.sources.remove(source);
        Ok(true)
    }
}
