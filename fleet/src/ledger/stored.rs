//! [`Place`]: the location of states; [`Stored`]: a stored state.

use std::time::SystemTime;

use foldline::{
    conversation::Position,
    ledger::{Checkpoint, SourceName},
};

use super::error::KafkaLedgerError;

/// Bytes of a state per message: brokers accept a mebibyte by default.
pub(super) const PART: usize = 900 << 10;

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
    /// A [`Checkpoint`] as JSON: of many sources, only a few are parsed.
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
        let json = serde_json::to_vec(checkpoint).map_err(|error| {
            let (name, reason) = (source.to_string(), error.to_string());
            KafkaLedgerError::Damaged { name, reason }
        })?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(Self {
            position: Some(checkpoint.position),
            is_complete: checkpoint.complete,
            at: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
            parts: json.len().div_ceil(PART),
            checkpoint: json.into_boxed_slice(),
        })
    }

    pub(super) fn read(&self, source: &SourceName) -> Result<Checkpoint, KafkaLedgerError> {
        serde_json::from_slice(&self.checkpoint).map_err(|error| {
            let (name, reason) = (source.to_string(), error.to_string());
            KafkaLedgerError::Damaged { name, reason }
        })
    }

    /// Its position.
    pub(super) fn position(&self, source: &SourceName) -> Result<Position, KafkaLedgerError> {
        match self.position {
            Some(position) => Ok(position),
            None => Ok(self.read(source)?.position),
        }
    }
}
