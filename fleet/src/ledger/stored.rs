//! [`Place`]: the location of states; [`Stored`]: a stored state.

use foldline::{
    conversation::Position,
    ledger::{Checkpoint, SourceName},
};

use super::error::KafkaLedgerError;

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
    pub(super) position: Position,
    /// A [`Checkpoint`] as JSON: of many sources, only a few are parsed.
    pub(super) checkpoint: Box<str>,
    /// The number of messages of this state.
    pub(super) parts: usize,
}

impl Stored {
    pub(super) fn read(&self, source: &SourceName) -> Result<Checkpoint, KafkaLedgerError> {
        serde_json::from_str(&self.checkpoint).map_err(|error| {
            let (name, reason) = (source.to_string(), error.to_string());
            KafkaLedgerError::Damaged { name, reason }
        })
    }
}
