//! Reads the states of a ledger from their topic.
//!
//! The key of a state is the name of its source; of each further part, `NAME\0INDEX`; of a mark, `\0NAME`.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use foldline::ledger::SourceName;
use foldline_domain::{Json, Position};
use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer},
    error::{KafkaError, RDKafkaErrorCode},
    message::{BorrowedMessage, Headers},
};

use super::{
    error::KafkaLedgerError,
    stored::{Place, Stored},
};

/// How long the cluster may take to answer before the read fails.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// The header with the number of parts of a state.
pub(super) const PARTS: &str = "parts";

/// The header with the position of a state, as `LINE:OFFSET`.
pub(super) const POSITION: &str = "position";

/// The header of the state of a complete source.
pub(super) const COMPLETE: &str = "complete";

/// Precedes the name in the key of a mark, and the number in the key of a part.
const SEPARATOR: char = '\0';

pub(super) fn key_of_mark(name: &str) -> Vec<u8> {
    format!("{SEPARATOR}{name}").into_bytes()
}

pub(super) fn key_of_part(source: &SourceName, index: usize) -> Vec<u8> {
    match index {
        0 => source.as_str().as_bytes().to_vec(),
        index => format!("{source}{SEPARATOR}{index}").into_bytes(),
    }
}

/// Whether this is the key of a further part.
fn is_of_part(key: &[u8]) -> bool {
    key.iter().skip(1).any(|byte| *byte == SEPARATOR as u8)
}

/// The content of a partition of states.
#[derive(Default)]
pub(super) struct Restored {
    pub(super) sources: HashMap<SourceName, Stored>,
    pub(super) marks: HashMap<String, Json>,
    /// States that cannot be read, and why.
    pub(super) damaged: HashMap<SourceName, String>,
}

/// The latest message of a key.
#[derive(Default)]
struct Latest {
    value: Vec<u8>,
    parts: usize,
    position: Option<Position>,
    is_complete: bool,
    at: i64,
}

impl Latest {
    fn of(message: &BorrowedMessage<'_>, value: &[u8]) -> Self {
        let at = message.timestamp().to_millis().unwrap_or_default();
        let mut latest = Self { value: value.to_owned(), parts: 1, at, ..Self::default() };
        for header in message.headers().into_iter().flat_map(Headers::iter) {
            let text = header.value.and_then(|value| std::str::from_utf8(value).ok());
            match (header.key, text) {
                (PARTS, Some(text)) => latest.parts = text.parse().unwrap_or(1),
                (POSITION, Some(text)) => latest.position = position(text),
                (COMPLETE, _) => latest.is_complete = true,
                _ => {}
            }
        }
        latest
    }
}

fn position(text: &str) -> Option<Position> {
    let (line, offset) = text.split_once(':')?;
    Some(Position { line: line.parse().ok()?, offset: offset.parse().ok()? })
}

/// A consumer that reads states.
pub(super) fn reader(client: &ClientConfig) -> Result<BaseConsumer, KafkaLedgerError> {
    let mut config = client.clone();
    config
        // A client without a group cannot choose its partitions; this client never joins the group.
        .set("group.id", "foldline-states")
        .set("enable.auto.commit", "false")
        .set("isolation.level", "read_committed")
        .set("enable.partition.eof", "true")
        .set("auto.offset.reset", "earliest")
        // At the end of the partition, the broker should report the end instead of waiting for more.
        .set("fetch.wait.max.ms", "10");
    config.create().map_err(KafkaLedgerError::of("create a consumer"))
}

/// Reads all states at a place. Open transactions of another owner must have been aborted before.
pub(super) fn read(reader: &BaseConsumer, place: &Place) -> Result<Restored, KafkaLedgerError> {
    let mut latest = HashMap::<Vec<u8>, Latest>::new();
    each(reader, place, |key, value, message| match value {
        None => drop(latest.remove(key)),
        Some(value) => drop(latest.insert(key.to_owned(), Latest::of(message, value))),
    })?;
    Ok(restored(latest))
}

/// Passes the key and the value of each message at a place to `each`.
pub(super) fn each(
    reader: &BaseConsumer,
    place: &Place,
    each: impl FnMut(&[u8], Option<&[u8]>, &BorrowedMessage<'_>),
) -> Result<(), KafkaLedgerError> {
    let fail = |error| KafkaLedgerError::of("read the stored states")(error);
    let mut from = TopicPartitionList::new();
    from.add_partition_offset(&place.topic, place.partition, Offset::Beginning).map_err(fail)?;
    reader.assign(&from).map_err(fail)?;
    let ended = read_to_end(reader, each);
    reader.unassign().map_err(fail)?;
    ended.map_err(fail)
}

/// Passes the key and the value of each message to `each`.
fn read_to_end(
    reader: &BaseConsumer,
    mut each: impl FnMut(&[u8], Option<&[u8]>, &BorrowedMessage<'_>),
) -> Result<(), KafkaError> {
    let mut heard = Instant::now();
    loop {
        let message = match reader.poll(Duration::from_secs(1)) {
            // A partition without a leader returns nothing.
            None if heard.elapsed() > PATIENCE => {
                return Err(KafkaError::MessageConsumption(RDKafkaErrorCode::OperationTimedOut));
            }
            None => continue,
            Some(Err(KafkaError::PartitionEOF(_))) => return Ok(()),
            // This client never joins its group, and does not need the right to do so.
            Some(Err(KafkaError::MessageConsumption(
                RDKafkaErrorCode::GroupAuthorizationFailed,
            ))) => continue,
            // The client reconnects by itself. It keeps such reports since the last read, also those of an outage that
            // has ended.
            Some(Err(KafkaError::MessageConsumption(code)))
                if is_of_connection(code) && heard.elapsed() <= PATIENCE =>
            {
                continue;
            }
            Some(message) => message?,
        };
        heard = Instant::now();
        if let Some(key) = message.key() {
            each(key, message.payload(), &message);
        }
    }
}

/// Whether an error reports a lost connection.
fn is_of_connection(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as Code;
    matches!(
        code,
        Code::AllBrokersDown
            | Code::BrokerTransportFailure
            | Code::NetworkException
            | Code::OperationTimedOut
            | Code::RequestTimedOut
            | Code::Resolve
    )
}

/// A state that cannot be read concerns its source only.
fn restored(mut latest: HashMap<Vec<u8>, Latest>) -> Restored {
    let mut restored = Restored::default();
    let mut keys: Vec<_> = latest.keys().filter(|key| !is_of_part(key)).cloned().collect();
    while let Some(key) = keys.pop() {
        let Some(first) = latest.remove(&key) else { continue };
        let name = String::from_utf8_lossy(&key).into_owned();
        if let Some(mark) = name.strip_prefix(SEPARATOR) {
            match serde_json::from_slice(&first.value) {
                Ok(state) => drop(restored.marks.insert(mark.to_owned(), state)),
                Err(error) => tracing::warn!(mark, %error, "a mark is damaged"),
            }
        } else {
            let source = SourceName::from(name);
            match checkpoint(&source, first, &mut latest) {
                Ok(stored) => drop(restored.sources.insert(source, stored)),
                Err(reason) => drop(restored.damaged.insert(source, reason)),
            }
        }
    }
    restored
}

/// The checkpoint of a source, from its first message and those of its further parts.
fn checkpoint(
    source: &SourceName,
    first: Latest,
    latest: &mut HashMap<Vec<u8>, Latest>,
) -> Result<Stored, String> {
    let Latest { value: mut whole, parts, position, is_complete, at } = first;
    for index in 1..parts {
        let part = latest.remove(&key_of_part(source, index));
        let part = part.ok_or_else(|| format!("its part {index} of {parts} is missing"))?;
        whole.extend_from_slice(&part.value);
    }
    Ok(Stored { position, is_complete, at, checkpoint: whole.into_boxed_slice(), parts })
}
