//! [`Place`]: the location of states; [`Stored`]: a stored state; [`Message`]: an output.

use std::{
    io::{self, Read, Write},
    sync::Arc,
    time::SystemTime,
};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use foldline::ledger::{Checkpoint, SourceName};
use foldline_domain::Position;
use rdkafka::message::{Header, OwnedHeaders};

use super::error::KafkaLedgerError;

/// Bytes of a state per message: brokers accept a mebibyte by default.
pub(super) const PART: usize = 900 << 10;

/// The length below which a state is not compressed, in bytes.
const SHORT: usize = 512;

/// The first byte of compressed data (RFC 1950). JSON does not begin with it.
const ZLIB: u8 = 0x78;

/// The partition where a ledger keeps its states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The topic, which must be compacted.
    pub topic: String,
    /// The partition.
    pub partition: i32,
}

/// The stored checkpoint of a source.
pub(super) struct Stored {
    /// Its position, if the message states it.
    pub(super) position: Option<Position>,
    /// The source is complete.
    pub(super) is_complete: bool,
    /// When it was stored, in milliseconds since 1970.
    pub(super) at: i64,
    /// A [`Checkpoint`] as JSON, compressed if it is long: of many sources, only a few are parsed.
    pub(super) checkpoint: Box<[u8]>,
    /// The number of messages of this state.
    pub(super) parts: usize,
}

impl Stored {
    /// The state that is stored now.
    pub(super) fn of(
        source: &SourceName,
        checkpoint: &Checkpoint,
    ) -> Result<Self, KafkaLedgerError> {
        let damaged =
            |reason: String| KafkaLedgerError::Damaged { name: source.to_string(), reason };
        let json = serde_json::to_vec(checkpoint).map_err(|error| damaged(error.to_string()))?;
        let bytes = match json.len() {
            ..SHORT => json,
            _ => compressed(&json).map_err(|error| damaged(error.to_string()))?,
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(Self {
            position: Some(checkpoint.position),
            is_complete: checkpoint.complete,
            at: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
            parts: bytes.len().div_ceil(PART),
            checkpoint: bytes.into_boxed_slice(),
        })
    }

    pub(super) fn read(&self, source: &SourceName) -> Result<Checkpoint, KafkaLedgerError> {
        let damaged =
            |reason: String| KafkaLedgerError::Damaged { name: source.to_string(), reason };
        let mut json = Vec::new();
        if self.checkpoint.first() == Some(&ZLIB) {
            let mut decoder = ZlibDecoder::new(&*self.checkpoint);
            decoder.read_to_end(&mut json).map_err(|error| damaged(error.to_string()))?;
        } else {
            json.extend_from_slice(&self.checkpoint);
        }
        serde_json::from_slice(&json).map_err(|error| damaged(error.to_string()))
    }

    /// Its position.
    pub(super) fn position(&self, source: &SourceName) -> Result<Position, KafkaLedgerError> {
        match self.position {
            Some(position) => Ok(position),
            None => Ok(self.read(source)?.position),
        }
    }
}

fn compressed(json: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(json)?;
    encoder.finish()
}

/// A message that is sent when its segment is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The topic.
    pub topic: Arc<str>,
    /// The partition; `None` leaves the choice to the key.
    pub partition: Option<i32>,
    /// The key.
    pub key: Vec<u8>,
    /// The value; `None` removes the key from a compacted topic.
    pub value: Option<Vec<u8>>,
    /// Names and values of the headers.
    pub headers: Vec<(&'static str, Arc<str>)>,
}

impl Message {
    pub(super) fn headers(&self) -> OwnedHeaders {
        self.headers
            .iter()
            .fold(OwnedHeaders::new_with_capacity(self.headers.len()), |headers, (key, value)| {
                headers.insert(Header { key, value: Some(&**value) })
            })
    }
}
